"""A setting that changes while the network is up, as an event of its Plan."""

from dataclasses import replace
from typing import Final

from wirelab.errors import InputError
from wirelab.plan.types import Event, Plan, Port

# What there is at a port from the beginning or never: tc makes it, or the driver.
_MADE: Final = ("netem", "shape", "cpu", "capture", "pool", "bus")
_MADE_SO: Final = ("gso_max_segs", "gro_max_bytes", "pfc", "mtu_bytes", "role", "access_vlan", "trunk_vlans")


def change(before: Plan, after: Plan, what: str) -> Event:
    """What makes the one network of the other. Raises InputError where nothing does, or nothing has to."""
    ports = tuple(port for was, port in zip(before.ports, after.ports, strict=True) if was != port)
    cables = tuple(cable for was, cable in zip(before.cables, after.cables, strict=True) if was != cable)
    rest = replace(
        after,
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
