"""What is physically wrong with parts: figures of one that contradict each other, names that nobody has."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from wirelab.errors import Problem, unknown
from wirelab.model.bus import LANES, Bus, bus_of
from wirelab.model.ethernet import frame_bytes
from wirelab.model.parts import STANDARD_MTU_BYTES, Nic, PartsFile, PhyLatency, Switch, Transceiver
from wirelab.model.setting_table import settings_of
from wirelab.model.types import Model, figure_value
from wirelab.model.yamlfile import Document, Loc
from wirelab.units import SIZE, show

_OWNERS: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(("nics", "drivers", "hosts", "systems"), ("host",)),
    "firewalls": ("firewall",),
    "switches": ("switch",),
    "modules": ("module",),
    "lines": ("switch", "cable"),
}
"""Whose settings may stand in the place of the figures of a section."""
_SETTINGS: Final[Mapping[str, str]] = {
    "host_autoneg_time": "autoneg_time",
    "rtt": "delay",
    "overhead": "shape.overhead",
    **dict.fromkeys(("down", "up"), "shape.rate"),
    **dict.fromkeys(("down_queue", "up_queue"), "queue_limit"),
}
"""The settings of figures that are called otherwise."""


def part_problems(parts: PartsFile, document: Document) -> Iterator[Problem]:
    """What is physically impossible in a file of parts."""
    for section in ("nics", "switches", "modules"):
        for name, part in getattr(parts, section).items():
            for figure, message in figure_problems(part):
                yield document.problem((section, name, figure), message)
    for section, owners in _OWNERS.items():
        for name, part in getattr(parts, section).items():
            for loc, message in _limit_problems(part, owners):
                yield document.problem((section, name, *loc), message)
    for name, bus in parts.buses.items():
        if not bus.coding.value:
            yield document.problem(("buses", name, "coding", "value"), "must be above 0: no data would pass")
        if (lanes := bus.lanes.value) not in LANES:
            known = ", ".join(map(str, LANES))
            yield document.problem(
                ("buses", name, "lanes", "value"), f"no bus has {lanes}; there are {known}"
            )


def _limit_problems(part: Model, owners: tuple[str, ...]) -> Iterator[tuple[Loc, str]]:
    """The figures beyond what a setting in their place can be: where in the part they stand, and why."""
    limits = {name: kind for owner in owners for name, kind in settings_of(owner).items()}
    for loc, value in _figures(part):
        figure = str(loc[0])
        kind = limits.get(_SETTINGS.get(figure, figure))
        if isinstance(value, int) and kind and (problem := kind.problem(value, kind.quantity or SIZE)):
            yield loc, problem


def _figures(part: Model) -> Iterator[tuple[Loc, object]]:
    """All figures of a part with their places, those of its PHY one by one."""
    for figure, stated in vars(part).items():
        if isinstance(stated, tuple):
            for index, item in enumerate(stated):
                if isinstance(item, PhyLatency):
                    yield (figure, index, "latency"), item.latency
        else:
            yield (figure, "value"), figure_value(part, figure)


def card_problems(
    parts: PartsFile, nics: Iterable[str], buses: Mapping[str, Bus], document: Document
) -> Iterator[Problem]:
    """Who has a card that is none of ``nics``, and the cards whose bus is none of ``buses``."""
    known = set(nics)
    for section in ("hosts", "firewalls", "drivers"):
        for name, part in getattr(parts, section).items():
            if part.nic not in known:
                yield document.problem((section, name, "nic"), unknown("nic", part.nic, sorted(known)))
    for name, nic in parts.nics.items():
        try:
            if nic.bus is not None:
                bus_of(nic.bus.value, buses)
        except ValueError as error:
            yield document.problem(("nics", name, "bus", "value"), str(error))


def figure_problems(part: Nic | Switch | Transceiver) -> Iterator[tuple[str, str]]:
    """The figures of a part that contradict each other, as (figure, message)."""
    if isinstance(part, Nic) and part.rx_usecs is None and part.rx_adaptive is None:
        yield "rx_usecs", "is missing: a card has it, or `rx_adaptive`, which chooses it by the load"
    if isinstance(part, Transceiver):
        room = part.fifo.value
        if room < frame_bytes(STANDARD_MTU_BYTES):
            yield "fifo", fifo_message(room, STANDARD_MTU_BYTES)
        if part.host_pause.value or part.line_pause.value:
            for figure in ("xoff", "xon"):
                if getattr(part, figure) is None:
                    yield figure, "is missing: a module that speaks PAUSE has thresholds"
    else:
        room = part.buffer.value
    if part.xoff is None or part.xon is None:
        return
    yield from threshold_problems(xoff=part.xoff.value, xon=part.xon.value, room=room)
    if isinstance(part, Switch) and part.xoff.value + part.headroom.value > room:
        yield "headroom", f"XOFF + headroom is more than the buffer, {show(room, SIZE)}"


def threshold_problems(*, xoff: int, xon: int, room: int) -> Iterator[tuple[str, str]]:
    """What is wrong with PAUSE thresholds in a buffer of ``room`` bytes, as (figure, message)."""
    if xon >= xoff:
        yield "xon", f"XON {show(xon, SIZE)} must be below XOFF {show(xoff, SIZE)}"
    if xoff > room:
        yield "xoff", f"XOFF {show(xoff, SIZE)} is more than the buffer holds, {show(room, SIZE)}"


def fifo_message(fifo_bytes: int, mtu_bytes: int) -> str:
    """The message for a FIFO into which no full frame fits."""
    frame = show(frame_bytes(mtu_bytes), SIZE)
    return f"a FIFO of {show(fifo_bytes, SIZE)} does not hold one frame, {frame} at MTU {mtu_bytes}"
