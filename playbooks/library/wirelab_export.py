#!/usr/bin/python
"""Makes, on the controller, what a worker is given: wheels for its Python, and the lab in one file."""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import os
import shutil
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ansible.module_utils.basic import AnsibleModule

if TYPE_CHECKING:
    from collections.abc import Sequence

DOCUMENTATION = """
---
module: wirelab_export
short_description: Make what a wirelab worker is given
description:
  - Builds a wheel of a checkout, gets the wheels it depends on for the worker's Python, and exports the lab.
  - What was made before is kept, and made again only if the checkout or the lab is another.
options:
  checkout: {description: The checkout of wirelab., type: path, required: true}
  dest: {description: The folder for what is made., type: path, required: true}
  python: {description: "The worker's version of Python, such as 3.12.", type: str, required: true}
  code: {description: The id of the checkout's code., type: str, required: true}
  lab: {description: The id of the controller's lab., type: str, required: true}
author: wirelab
"""

# glibc of Debian 12 and later, and whatever older one a wheel may be content with.
PLATFORMS = (
    "manylinux_2_34_x86_64",
    "manylinux_2_28_x86_64",
    "manylinux_2_17_x86_64",
    "manylinux2014_x86_64",
)


class Export:
    """What a worker is given, in a folder of the controller."""

    def __init__(self, module: AnsibleModule) -> None:
        self._module = module
        self._given: dict[str, Any] = module.params
        dest = Path(self._given["dest"])
        self.wheels = dest / f"wheels-{self._given['code']}-python{self._given['python']}.tar"
        self.lab = dest / f"lab-{hashlib.sha256(self._given['lab'].encode()).hexdigest()[:16]}.wirelab"

    def missing(self) -> list[Path]:
        """What is still to be made."""
        return [path for path in (self.wheels, self.lab) if not path.exists()]

    def make(self, path: Path) -> None:
        """Make one of the files; it has its name when it is whole. Older ones of its kind are removed."""
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=".making-") as made:
            fresh = Path(made, path.name)
            if path == self.lab:
                self._run(["-m", "wirelab", "lab", "export", str(fresh)])
            else:
                self._pack_wheels(fresh, Path(made, "wheels"))
            fresh.chmod(0o644)
            fresh.rename(path)
        kept = path.name if path == self.lab else f"wheels-{self._given['code']}-*"
        for old in path.parent.glob(path.name.partition("-")[0] + "-*"):
            if not old.match(kept):
                old.unlink()

    def _pack_wheels(self, tar: Path, folder: Path) -> None:
        isolation = ["--no-build-isolation"] if importlib.util.find_spec("hatchling") else []
        pip = ["-m", "pip", "--quiet", "--disable-pip-version-check"]
        checkout = self._given["checkout"]
        self._run([*pip, "wheel", "--no-deps", *isolation, "--wheel-dir", str(folder), checkout])
        (wheel,) = folder.glob("wirelab-*.whl")
        target = [
            "--only-binary",
            ":all:",
            "--implementation",
            "cp",
            "--python-version",
            self._given["python"],
        ]
        for platform in PLATFORMS:
            target += ["--platform", platform]
        # With what `wirelab serve` needs: a worker that is none leaves it where it is.
        self._run([*pip, "download", *target, "--dest", str(folder), f"{wheel}[serve]"])
        with tarfile.open(tar, "w") as packed:
            for path in sorted(folder.iterdir()):
                packed.add(path, arcname=path.name)

    def _run(self, argv: Sequence[str]) -> None:
        code, out, err = self._module.run_command([sys.executable, *argv])
        if code != 0:
            last = (err or out).strip().splitlines()[-6:]
            failure = f"on the controller `python {' '.join(argv[:3])}` ended with exit code {code}"
            self._module.fail_json(msg="\n".join([failure, *last]))


def main() -> None:
    """Make what is missing."""
    texts = ("python", "code", "lab")
    spec: dict[str, dict[str, Any]] = {name: {"type": "str", "required": True} for name in texts}
    spec |= {name: {"type": "path", "required": True} for name in ("checkout", "dest")}
    module = AnsibleModule(argument_spec=spec, supports_check_mode=True)
    export = Export(module)
    changed = bool(export.missing())
    if changed and not module.check_mode:
        folder = Path(module.params["dest"])
        try:
            folder.mkdir(parents=True, exist_ok=True)
            # Several workers may ask for the same at once.
            with (folder / ".lock").open("w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                # What is left is of runs that were killed: we hold the lock.
                for left in folder.glob(".making-*"):
                    shutil.rmtree(left, ignore_errors=True)
                changed = bool(export.missing())
                for path in export.missing():
                    export.make(path)
        except OSError as error:
            where = error.filename or folder
            module.fail_json(
                msg=f"on the controller {where}: {os.strerror(error.errno or 0)}: make room there"
            )
    module.exit_json(changed=changed, wheels=str(export.wheels), lab=str(export.lab))


if __name__ == "__main__":
    main()
