"""PFC and what a port trusts as iproute2's ``dcb`` is told: by the lab, and shown by ``wirelab plan``."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wirelab.plan.types import Port


def pfc(port: Port) -> str:
    """Which priorities are not to be lost, without the word ``dcb``."""
    return " ".join(
        ["pfc set dev", port.name, "prio-pfc all:off", *(f"{priority}:on" for priority in port.pfc)]
    )


def trust(port: Port) -> str:
    """What tells a frame's priority."""
    return f"apptrust set dev {port.name} order {port.trust}"
