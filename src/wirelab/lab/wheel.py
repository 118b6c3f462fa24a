"""The lab that the wheel `wirelab-lab` carries: found where it was installed, never imported."""

from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Final

NAME: Final = "wirelab-lab"
_FILE: Final = "wirelab_lab/lab.tar"


@dataclass(frozen=True)
class LabWheel:
    """An installed wheel: its version, and the lab archive in it."""

    version: str
    file: Path


def installed() -> LabWheel | None:
    """The wheel in the environment of this Python, None if there is none."""
    try:
        distribution = metadata.distribution(NAME)
    except metadata.PackageNotFoundError:
        return None
    return LabWheel(distribution.version, Path(str(distribution.locate_file(_FILE))))
