"""A lab that another machine has built: the same figures, without anything that a build needs."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import wirelab
from tests.apart import apart
from tests.lab.elsewhere import become_another, other_folder
from tests.lab.rig import GBPS, Rig, flow, host_port, plan
from wirelab.lab import export
from wirelab.lab.cache import Cache
from wirelab.lab.recipe import BuildContext, Recipe
from wirelab.lab.reporter import Reporter
from wirelab.lab.select import Lab, built_kernel, built_root, select
from wirelab.plan.types import Cable
from wirelab.results.result import read_result

if TYPE_CHECKING:
    from wirelab.plan.types import Plan

PLAN = plan(
    [host_port("a", 1, GBPS), host_port("b", 2, GBPS)],
    [Cable("a-eth0", "b-eth0", 1000)],
    [flow("a-b", "a", "b", 1, 1)],
)


def test_an_exported_lab_measures_the_same(rig: Rig) -> None:
    """Imported into an empty cache by another user, and run there: the same lab, the same digest."""
    lab = select()
    with other_folder() as folder:
        with export.written(folder / "lab.tar") as out:
            export.pack(BuildContext.of(os.environ), out)
        (folder / "lab.tar").chmod(0o644)
        for name in ("kernel", "rootfs"):
            shutil.copytree(Recipe.find().home / name, folder / "recipe" / name, symlinks=True)
        shutil.copytree(Path(wirelab.__file__).parent, folder / "wirelab")
        (folder / "home").mkdir()
        measured = apart(_import_and_run, PLAN, folder, rig.cpu)
    here = Rig(lab, rig.folder, cpu=rig.cpu)
    assert measured == (lab.kernel_id, lab.root_id, read_result(PLAN, here.run(PLAN)).digest)


def _import_and_run(what: Plan, folder: Path, cpu: int) -> tuple[str, str, str]:
    home = folder / "home"
    become_another(home)
    # No program at all: no compiler and no mmdebstrap, and no tar either.
    os.environ["PATH"] = str(home)
    context = BuildContext(Recipe(folder / "recipe"), Cache(home / "cache"), {}, Reporter())
    with export.opened(folder / "lab.tar", context) as file:
        assert export.unpack(context, file)
    kernel_entry, root_entry = built_kernel(context), built_root(context)
    lab = Lab(kernel_entry.product, root_entry.product, kernel_entry.id, root_entry.id)
    wirelab.__file__ = str(folder / "wirelab" / "__init__.py")
    return lab.kernel_id, lab.root_id, read_result(what, Rig(lab, home, cpu=cpu).run(what)).digest
