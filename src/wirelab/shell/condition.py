"""What a run goes on until: ``module.line drops``, ``switch.p2.queue > 10 KiB``, ``download.cwnd < 10``."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from wirelab.errors import InputError, unknown
from wirelab.plan.traffic import Flow
from wirelab.plan.types import Plan, Port
from wirelab.results.record import Kind
from wirelab.units import COUNT, SIZE, TIME, Quantity, UnitError, parse

HAPPENS: Final = {
    "drops": Kind.DROPPED,
    "pauses": Kind.PAUSED,
    "sends": Kind.SENT,
    "receives": Kind.ARRIVED,
}
"""What a port may do, and how that is recorded."""

_COMPARISON: Final = re.compile(r"(?P<what>[^<>=]+?)\s*(?P<op><=|>=|<|>)\s*(?P<than>[^<>=]+)")
_EIGHTHS: Final = 8
_NS_PER_US: Final = 1000
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
FIGURES: Final = ("cwnd", "ssthresh", "in_flight", "lost", "retransmits", "srtt", "rto")
"""Of a flow of TCP, at its sender: in segments, ``srtt`` and ``rto`` in time."""


@dataclass(frozen=True, slots=True)
class Condition:
    """As kernel/driver/condition.c words it, and what is recorded when it comes true: at which port."""

    words: str
    kind: Kind | None = None
    port: str = ""


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
        bound = _bound(op, _number(than, fill.quantity))
        return Condition(f"fill {kind:d} {port.name} {fill.unit} {bound}", kind, port.name)
    if figure in FIGURES:
        flow = _flow(plan, of)
        ends = f"{flow.client_port} {flow.port}"
        value, name = _number(than, COUNT if figure not in {"srtt", "rto"} else TIME), figure
        if figure == "srtt":
            # As the kernel has it: in eighths of a microsecond.
            value, name = value * _EIGHTHS // _NS_PER_US, "srtt_8us"
        elif figure == "rto":
            value, name = value // _NS_PER_US, "rto_us"
        return Condition(f"tcp {ends} {name} {_bound(op, value)}", Kind.TCP)
    known = [*FILLS, *FIGURES]
    raise InputError(unknown("figure", figure, known))


def _number(text: str, quantity: Quantity) -> int:
    try:
        return parse(text, quantity)
    except UnitError as error:
        raise InputError(str(error)) from error


def _bound(op: str, value: int) -> str:
    """``< n`` or ``> n`` of whole numbers. Raises InputError for what no number can meet."""
    match op:
        case "<=":
            value += 1
        case ">=":
            value -= 1
    if value < 0 or (op.startswith("<") and value == 0) or value > _MOST:
        raise InputError("that never comes true")
    return f"{op[0]} {value}"


def port_called(plan: Plan, label: str) -> Port:
    """The port of that label. Raises InputError with the nearest right word."""
    for port in plan.ports:
        if port.label == label:
            return port
    raise InputError(unknown("port", label, (port.label for port in plan.ports)))


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
