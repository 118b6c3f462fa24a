"""Which kernel and which tools a lab has, as its own files tell: nothing is booted for it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from wirelab.lab import kernel as lab_kernel

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wirelab.lab.select import Lab

TOOLS: Final = ("iperf3", "openvswitch-switch", "mininet", "iproute2", "ethtool")
"""The packages whose versions decide what a run measures."""

_DPKG_STATUS: Final = Path("var/lib/dpkg/status")


@dataclass(frozen=True, slots=True)
class Versions:
    """The kernel's title, and the version of each package of TOOLS that the root image has."""

    kernel: str
    tools: Mapping[str, str]


def versions(lab: Lab) -> Versions:
    """The versions of a lab. A kernel that was named and not built is told by its path."""
    built = (str(entry.facts["title"]) for entry in lab.entries if entry.kind == lab_kernel.KIND)
    return Versions(next(built, str(lab.kernel)), _tools(lab.root))


def _tools(root: Path) -> dict[str, str]:
    try:
        database = (root / _DPKG_STATUS).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return {}
    installed: dict[str, str] = {}
    for paragraph in database.split("\n\n"):
        fields = dict(re.findall(r"^(Package|Version): (\S+)$", paragraph, re.MULTILINE))
        if fields.get("Package") in TOOLS and "Version" in fields:
            installed[fields["Package"]] = fields["Version"]
    return {name: installed[name] for name in TOOLS if name in installed}
