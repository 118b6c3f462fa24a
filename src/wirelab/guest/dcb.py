"""PFC and what a port trusts, set and read back by ``dcb``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from wirelab.guest.shell import run
from wirelab.plan import dcb

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from wirelab.plan.types import Port


def configure(port: Port, folder: Path) -> None:
    """Set both where priorities are kept apart, while the port is still in the lab's own namespace."""
    if not port.pfc:
        return
    lines = f"{dcb.pfc(port)}\n"
    if _trust_file(folder).exists():
        _trust_file(folder).write_text(f"{port.trust}\n")
    else:
        lines += f"{dcb.trust(port)}\n"
    run(["dcb", "-b", "-"], text=lines)


def in_force(port: Port, folder: Path, argv: Callable[[list[str]], list[str]]) -> dict[tuple[str, str], str]:
    """Both by tool and option; nothing where priorities are not kept apart.

    ``folder`` is the port's in sysfs, ``argv`` makes a command one that runs in its node.
    """
    if not port.pfc:
        return {}
    pfc = json.loads(run(argv(["dcb", "-j", "pfc", "show", "dev", port.name])))["prio_pfc"]
    if _trust_file(folder).exists():
        trust = _trust_file(folder).read_text().strip()
    else:
        told = run(argv(["dcb", "-j", "apptrust", "show", "dev", port.name]))
        trust = " ".join(json.loads(told)["order"])
    lossless = " ".join(str(priority) for priority, on in enumerate(pfc) if on)
    return {("dcb pfc", "prio-pfc"): lossless, ("dcb apptrust", "order"): trust}


def _trust_file(folder: Path) -> Path:
    """Where a kernel before 6.2, which has no ``dcb apptrust``, is told what to trust."""
    return folder / "etherport/trust"
