"""What a run on this machine is made of: two machines that say the same give the same digests."""

from __future__ import annotations

import hashlib
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

import wirelab
from wirelab import __version__
from wirelab.errors import LabError
from wirelab.lab.select import select
from wirelab.model.catalogue import MEASUREMENTS, shipped_root

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_CATALOGUE: Final = ("scenarios", "topologies", "parts")
_ELSEWHERE: Final = {"catalogue", "recipe", "__pycache__"}
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

    def facts(self) -> dict[str, str]:
        """For JSON."""
        return asdict(self)


def code_id() -> str:
    """A hash of all of wirelab that was installed: its modules, its templates and its catalogue."""
    package = Path(wirelab.__file__).parent
    catalogue = shipped_root()
    digest = hashlib.sha256()
    modules = (path for path in package.rglob("*") if not _ELSEWHERE & {*path.relative_to(package).parts})
    _feed(digest, "wirelab", package, modules)
    for section in _CATALOGUE:
        _feed(digest, section, catalogue / section, (catalogue / section).rglob("*"))
    _feed(digest, "", catalogue, [catalogue / MEASUREMENTS])
    return digest.hexdigest()[:_DIGITS]


def _feed(digest: hashlib._Hash, name: str, base: Path, paths: Iterable[Path]) -> None:
    for path in sorted(path for path in paths if path.is_file()):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        digest.update(f"{name}/{path.relative_to(base).as_posix()}\0{content}\n".encode())
