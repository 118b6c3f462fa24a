"""What a run goes on until: ``module.line drops``, ``switch.p2.queue > 10 KiB``, ``download.cwnd < 10``."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from wirelab.errors import InputError, unknown
from wirelab.plan.traffic import Flow
from wirelab.plan.types import Plan
from wirelab.results.record import Connection, Event, Kind
from wirelab.runner.window import port_called
from wirelab.units import COUNT, NS_PER_US, SIZE, TIME, Quantity, UnitError, parse

HAPPENS: Final = {
    "drops": Kind.DROPPED,
    "pauses": Kind.PAUSED,
    "sends": Kind.SENT,
    "receives": Kind.ARRIVED,
}
"""What a port may do, and how that is recorded."""

_COMPARISON: Final = re.compile(r"(?P<what>[^<>=]+?)\s*(?P<op><=|>=|<|>)\s*(?P<than>[^<>=]+)")
_MOST: Final = (1 << 32) - 1


@dataclass(frozen=True, slots=True)
class _Fill:
    """A place of a port where frames wait: which record tells that it grows, and which that it shrinks."""

    grows: Kind
    shrinks: Kind
    unit: str
    quantity: Quantity


FILLS: Final = {
    "queue": _Fill(Kind.QUEUED, Kind.TX_RING, "bytes", SIZE),
    "buffer": _Fill(Kind.STORED, Kind.GIVEN, "bytes", SIZE),
    "rx_ring": _Fill(Kind.RX_RING, Kind.RX_RING, "frames", COUNT),
}


@dataclass(frozen=True, slots=True)
class _Figure:
    """A figure of TCP: the kernel's word, where a record has it, and what makes it of the quantity."""

    word: str
    recorded: str
    quantity: Quantity = COUNT
    times: int = 1
    parts: int = 1


FIGURES: Final = {
    "cwnd": _Figure("cwnd", "cwnd_frames"),
    "ssthresh": _Figure("ssthresh", "ssthresh_frames"),
    "in_flight": _Figure("in_flight", "in_flight_frames"),
    "lost": _Figure("lost", "lost_frames"),
    "retransmits": _Figure("retransmits", "retransmissions"),
    "srtt": _Figure("srtt_8us", "srtt_8us", TIME, 8, NS_PER_US),
    "rto": _Figure("rto_us", "rto_us", TIME, 1, NS_PER_US),
}
"""Of a flow of TCP, at its sender: in segments; ``srtt`` and ``rto`` in time."""


@dataclass(frozen=True, slots=True)
class Condition:
    """As kernel/driver/condition.c words it, and what is recorded when it comes true.

    That is of a ``kind`` at a ``port``, or of a connection from one TCP port to another, its ``ends``; and
    its ``figure`` is less or more ``than`` so many.
    """

    words: str
    kind: Kind | None = None
    port: str = ""
    ends: tuple[int, int] | None = None
    figure: str = ""
    op: str = ""
    than: int = 0

    def holds(self, event: Event) -> bool:
        """Whether this is what has come true."""
        if self.kind not in {None, event.kind} or self.port not in {"", event.port}:
            return False
        if isinstance(event, Connection) and self.ends != (event.local_port, event.remote_port):
            return False
        if not self.figure:
            return True
        figure: int = getattr(event, self.figure)
        return figure < self.than if self.op == "<" else figure > self.than


ANYTHING: Final = Condition("at 0 *")
NEVER: Final = Condition("none")


def read_condition(text: str, plan: Plan) -> Condition:
    """The condition that ``text`` says. Raises InputError with the nearest right word."""
    if compared := _COMPARISON.fullmatch(text.strip()):
        return _comparison(compared["what"].strip(), compared["op"], compared["than"].strip(), plan)
    label, _, verb = text.strip().rpartition(" ")
    if not label:
        raise InputError(
            f"`{text}` is nothing to wait for: `module.line drops`, `module.line.queue > 10 KiB`,"
            " `download.cwnd < 10`"
        )
    if verb not in HAPPENS:
        raise InputError(unknown("event", verb, HAPPENS))
    port = port_called(plan, label.strip())
    return Condition(f"at {HAPPENS[verb]} {port.name}", HAPPENS[verb], port.name)


def _comparison(what: str, op: str, than: str, plan: Plan) -> Condition:
    of, _, figure = what.rpartition(".")
    if figure in FILLS:
        fill, port = FILLS[figure], port_called(plan, of)
        kind = fill.grows if op.startswith(">") else fill.shrinks
        sign, bound = _bound(op, _number(than, fill.quantity))
        words = f"fill {kind:d} {port.name} {fill.unit} {sign} {bound}"
        return Condition(words, kind, port.name, None, f"fill_{fill.unit}", sign, bound)
    if figure in FIGURES:
        flow = _flow(plan, of)
        known = FIGURES[figure]
        value = _number(than, known.quantity) * known.times // known.parts
        sign, bound = _bound(op, value)
        words = f"tcp {flow.client_port} {flow.port} {known.word} {sign} {bound}"
        return Condition(words, Kind.TCP, "", (flow.client_port, flow.port), known.recorded, sign, bound)
    raise InputError(unknown("figure", figure, [*FILLS, *FIGURES]))


def _number(text: str, quantity: Quantity) -> int:
    try:
        return parse(text, quantity)
    except UnitError as error:
        raise InputError(str(error)) from error


def _bound(op: str, value: int) -> tuple[str, int]:
    """``<`` or ``>`` and a whole number. Raises InputError for what no number can meet."""
    match op:
        case "<=":
            value += 1
        case ">=":
            value -= 1
    if value < 0 or (op.startswith("<") and value == 0) or value > _MOST:
        raise InputError("that never comes true")
    return op[0], value


def ports_named(plan: Plan, names: Collection[str]) -> set[str]:
    """The ports, by interface name, of nodes and ports; all without any. Raises InputError."""
    chosen = set() if names else {port.name for port in plan.ports}
    for name in names:
        found = {port.name for port in plan.ports if name in {port.label, port.node}}
        if not found:
            known = dict.fromkeys(each for port in plan.ports for each in (port.node, port.label))
            raise InputError(unknown("node or port", name, known))
        chosen |= found
    return chosen


def _flow(plan: Plan, name: str) -> Flow:
    flows = {flow.name: flow for flow in plan.flows if flow.protocol == "tcp"}
    if name not in flows:
        raise InputError(unknown("flow of TCP", name, flows))
    return flows[name]
