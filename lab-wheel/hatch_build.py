"""Say for which machines the wheel is, and refuse to build one without a lab."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# The kernel in it is one static program: it needs a processor and a Linux, and no library. Of the tags that
# an index takes, these ask for least: glibc 2.17 of 2012, or musl 1.1 of 2011 (PEP 600, PEP 656).
TAG: Final = "py3-none-manylinux_2_17_x86_64.musllinux_1_1_x86_64"
LIMIT_BYTES: Final = 100 * 10**6
"""What an index takes of one file."""


class LabHook(BuildHookInterface[Any]):
    """Of the build of the wheel."""

    def initialize(self, _version: str, build_data: dict[str, Any]) -> None:
        """Look at what goes in, before anything is written."""
        package = Path(self.root, "wirelab_lab")
        for name in ("lab.tar", "SOURCES"):
            if not (package / name).is_file():
                msg = f"{package / name} is not there: `make wheels` makes it"
                raise FileNotFoundError(msg)
        if (size_bytes := (package / "lab.tar").stat().st_size) > LIMIT_BYTES:
            msg = (
                f"the lab has {size_bytes / 1e6:.0f} MB, more than the {LIMIT_BYTES / 1e6:.0f} MB of a wheel"
            )
            raise ValueError(msg)
        build_data["pure_python"] = False
        build_data["tag"] = TAG
