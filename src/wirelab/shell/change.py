"""A setting that changes while the network is up, as an event of its Plan."""

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from typing import Final

from wirelab.errors import InputError
from wirelab.plan.event import after
from wirelab.plan.types import Event, Plan, Port

# What there is at a port from the beginning or never: tc makes it, or the driver.
_MADE: Final = ("netem", "shape", "cpu", "capture", "pool", "bus")
_MADE_SO: Final = ("gso_max_segs", "gro_max_bytes", "pfc", "mtu_bytes", "role", "access_vlan", "trunk_vlans")


def by_now(plan: Plan, happened: Sequence[int]) -> Plan:
    """The network of a Plan, some of whose events have happened: their numbers, in their order."""
    return reduce(lambda so_far, number: after(so_far, plan.events[number]), happened, plan)


def change(was: Plan, set_so: Plan, what: str, happened: Sequence[int] = ()) -> Event:
    """What makes the one network of the other, of whose events some have ``happened``.

    Raises InputError where nothing does, or nothing has to.
    """
    before, becomes = by_now(was, happened), by_now(set_so, happened)
    ports = tuple(port for old, port in zip(before.ports, becomes.ports, strict=True) if old != port)
    cables = tuple(cable for old, cable in zip(before.cables, becomes.cables, strict=True) if old != cable)
    rest = replace(
        becomes,
        ports=before.ports,
        cables=before.cables,
        bonds=before.bonds,
        events=before.events,
        variant=before.variant,
    )
    if rest != before:
        raise from_the_start(what, "it is read when the network is made")
    for port in ports:
        if made := _made(before.port(port.name), port):
            raise from_the_start(what, f"{port.label} has {made} from the beginning, or never")
    if not ports and not cables:
        if (was.ports, was.cables) != (set_so.ports, set_so.cables):
            message = f"{what} changes nothing now: an event has set that, and its value holds"
            raise InputError(message, hint=f"again {what}")
        raise InputError(f"{what}: it is so already")
    return Event(0, what, ports, cables)


def _made(was: Port, port: Port) -> str:
    for name in _MADE:
        if (getattr(was, name) is None) != (getattr(port, name) is None):
            return name
    if (was.queue and was.queue.kind) != (port.queue and port.queue.kind):
        return "this queue"
    return next((name for name in _MADE_SO if getattr(was, name) != getattr(port, name)), "")


def from_the_start(what: str, why: str) -> InputError:
    """What cannot change while the network is up, and how it can all the same."""
    return InputError(f"{what} cannot change while the network is up: {why}", hint=f"again {what}")
