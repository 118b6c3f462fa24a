"""Why two ports have a link, or have none: what each end of the cable was set to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wirelab.model.modes import Mode, listed, mode_of
from wirelab.plan.path import hops

if TYPE_CHECKING:
    from wirelab.plan.types import Plan, Port


def negotiation(port_name: str, plan: Plan) -> str:
    """What both ends of a port's cable brought along.

    ``client offers 1 Gbit/s, 2.5 Gbit/s; switch.p2 is forced to 10 Gbit/s``.
    """
    hop = next(hop for hop in hops(plan) if hop.out.name == port_name)
    return f"{_end(hop.out, plan)}; {_end(hop.into, plan)}"


def _end(port: Port, plan: Plan) -> str:
    said = (
        f"{port.label} offers {listed(map(mode_of, port.advertise))}"
        if port.autoneg
        else f"{port.label} is forced to {Mode(port.speed_bps, port.duplex)}"
    )
    if port.follow is None:
        return said
    leader = plan.port(port.follow).label
    return f"{said}, as far as {leader} has it" if port.autoneg else f"{said} while {leader} has a link"
