"""What of a run is recorded, as one says it: ``12.9s..13.1s``, ``first module.line.drops +-2ms``, ``all``."""

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from wirelab.errors import InputError, unknown
from wirelab.plan.types import Plan, Port
from wirelab.results.result import Result
from wirelab.units import TIME, UnitError, parse, show

ALL: Final = "all"
_BETWEEN: Final = re.compile(r"(?P<from>.+?)\s*\.\.\s*(?P<until>.+)")
_FIRST_DROP: Final = re.compile(r"first\s+(?P<port>\S+)\.drops\s*(?:\+-|±)\s*(?P<around>.+)")


@dataclass(frozen=True, slots=True)
class Between:
    """From one instant of the traffic's time to another."""

    text: str
    from_ns: int
    until_ns: int

    def within(self, known: Result) -> tuple[int, int]:
        """The same, where the run reaches so far. Raises InputError where it does not."""
        if self.from_ns >= known.elapsed_ns:
            whole = show(known.elapsed_ns, TIME)
            raise InputError(f"`{self.text}` is outside the run, which lasts {whole}")
        return self.from_ns, self.until_ns


@dataclass(frozen=True, slots=True)
class Whole:
    """All that the ports have counted: a little of it is earlier than the traffic."""

    def within(self, known: Result) -> tuple[int, int]:
        """From the first snapshot to the last one."""
        return known.status.counted_from_ns - known.status.ready_ns, known.elapsed_ns


@dataclass(frozen=True, slots=True)
class AroundFirstDrop:
    """Before and after the first frame that a port drops."""

    port: Port
    around_ns: int

    def sampled(self, known: Result) -> tuple[int, int]:
        """The instants of two samples between which it drops. Raises InputError where it drops nothing."""
        # What it had dropped before the first of them was dropped while the network was set up.
        for before, after in pairwise(known.samples):
            if after.ports[self.port.name].dropped_frames > before.ports[self.port.name].dropped_frames:
                return before.at_ns, after.at_ns
        raise InputError(f"{self.port.label} drops nothing in this run")

    def at(self, at_ns: int) -> tuple[int, int]:
        """Around an instant."""
        return max(0, at_ns - self.around_ns), at_ns + self.around_ns


Window = Between | Whole | AroundFirstDrop


def parse_window(text: str, plan: Plan) -> Window:
    """What a user has written. Raises InputError for what is no window, or names a port that is not there."""
    asked = text.strip()
    if asked == ALL:
        return Whole()
    if first := _FIRST_DROP.fullmatch(asked):
        around_ns = _time_ns(first["around"], text)
        return AroundFirstDrop(port_called(plan, first["port"]), around_ns)
    if (between := _BETWEEN.fullmatch(asked)) is None:
        raise InputError(f"`{text}` is no window: 12.9s..13.1s, `first module.line.drops +-2ms` or all")
    from_ns, until_ns = (_time_ns(between[end], text) for end in ("from", "until"))
    if until_ns <= from_ns:
        raise InputError(f"`{text}` is no window: it ends before it begins")
    return Between(text, from_ns, until_ns)


def port_called(plan: Plan, label: str) -> Port:
    """The port of that label. Raises InputError with the nearest right word."""
    for port in plan.ports:
        if port.label == label:
            return port
    raise InputError(unknown("port", label, (port.label for port in plan.ports)))


def _time_ns(text: str, window: str) -> int:
    try:
        return parse(text.strip(), TIME)
    except UnitError as error:
        raise InputError(f"`{window}` is no window: {error}") from error
