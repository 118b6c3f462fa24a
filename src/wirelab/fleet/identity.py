"""What a run on this machine is made of: two machines that say the same give the same digests."""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Self

from wirelab import __version__
from wirelab.errors import LabError
from wirelab.lab.select import select
from wirelab.model.catalogue import INDEPENDENT, MEASUREMENTS, shipped_root
from wirelab.runner.code import files_id, package_id

_CATALOGUE: Final = ("exercises", "scenarios", "topologies", "parts", MEASUREMENTS, INDEPENDENT)
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
    catalogue = shipped_root()
    shipped = (path for name in _CATALOGUE for path in (catalogue / name, *(catalogue / name).rglob("*")))
    both = f"{package_id()} {files_id(catalogue, shipped)}"
    return hashlib.sha256(both.encode()).hexdigest()[:_DIGITS]
