"""What a run on this machine is made of: two machines that say the same give the same digests."""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

import wirelab
from wirelab import __version__
from wirelab.errors import LabError
from wirelab.lab.select import select
from wirelab.model.catalogue import INDEPENDENT, MEASUREMENTS, shipped_root

_CATALOGUE: Final = ("exercises", "scenarios", "topologies", "parts", MEASUREMENTS, INDEPENDENT)
_ELSEWHERE: Final = {"catalogue", "recipe"}
_COMPILED: Final = "__pycache__"
_DIGITS: Final = 16


@dataclass(frozen=True, slots=True)
class Identity:
    """A wirelab with its catalogue, and its lab; ``lab`` is empty where none is built."""

    version: str
    code: str
    lab: str

    @classmethod
    def here(cls, environ: Mapping[str, str] = os.environ) -> Self:
        """That of this machine."""
        try:
            lab = select(environ=environ)
        except LabError:
            built = ""
        else:
            built = f"{lab.kernel_id} {lab.root_id}"
        return cls(__version__, code_id(), built)


def code_id() -> str:
    """A hash of all of wirelab that was installed: its modules, its templates and its catalogue."""
    package = Path(wirelab.__file__).parent
    catalogue = shipped_root()
    modules = [path for path in package.rglob("*") if not _ELSEWHERE & {*path.relative_to(package).parts}]
    shipped = [path for name in _CATALOGUE for path in (catalogue / name, *(catalogue / name).rglob("*"))]
    digest = hashlib.sha256()
    for base, paths in ((package, modules), (catalogue, shipped)):
        for path in sorted(filter(Path.is_file, paths)):
            # Installed, a recipe among the scenarios is compiled, too.
            if _COMPILED in path.parts:
                continue
            content = hashlib.sha256(path.read_bytes()).hexdigest()
            digest.update(f"{path.relative_to(base).as_posix()}\0{content}\n".encode())
    return digest.hexdigest()[:_DIGITS]
