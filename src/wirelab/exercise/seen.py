"""What a student sees of a run: all that was measured, or what a technician would."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from wirelab.model.assignment import Assignment
from wirelab.model.metric import METRICS, Choice, SubjectKind, metrics_of
from wirelab.plan.types import Plan
from wirelab.runner.run_result import VariantResult

_ALWAYS: Final = ("goodput", "retransmits", "drops", "lost")
_COUNTED: Final = (
    *("tx_frames", "rx_frames", "tx_bytes", "rx_bytes", "tx_pause_frames", "rx_pause_frames"),
    *("tx_pfc_frames", "rx_pfc_frames", "tx_collisions", "tx_late_collisions"),
    *("rx_dropped_fcs", "rx_dropped_buffer", "rx_dropped_collision"),
)
"""What cards and switches that can be managed count, by the names that the lab's have."""


@dataclass(frozen=True, slots=True)
class Line:
    """One subject and its metrics, by their names, as a person reads them."""

    subject: str
    figures: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Seen:
    """Tables: of flows (iperf3), pings, ports, and of counters (``ethtool -S``). A table may be empty."""

    flows: tuple[Line, ...]
    pings: tuple[Line, ...]
    ports: tuple[Line, ...] = ()
    counters: tuple[Line, ...] = ()


def seen(exercise: Assignment, variant: VariantResult) -> Seen:
    """What the student sees of a network that was run; nothing where its lab broke."""
    flows = tuple(_lines(variant, {flow.name: "flow" for flow in variant.flows}))
    pings = tuple(_lines(variant, {ping.name: "ping" for ping in variant.pings}))
    if exercise.said.sees == "technician":
        plan = variant.evidence.plan if variant.evidence else None
        return Seen(flows, pings, counters=tuple(_counters(variant, plan)) if plan else ())
    return Seen(flows, pings, tuple(_lines(variant, dict.fromkeys(variant.ports, "port"))))


def _lines(variant: VariantResult, subjects: Mapping[str, SubjectKind]) -> Iterator[Line]:
    udp = {flow.name for flow in variant.flows if flow.protocol == "udp"}
    for subject, kind in subjects.items():
        metrics = metrics_of("UDP flow" if subject in udp else kind)
        told = {metric.name: variant.figure(subject, metric.name) for metric in metrics if metric.title}
        shown = {
            name: METRICS[name].shown(value)
            for name, value in told.items()
            if value is not None and _tells(name, value)
        }
        yield Line(subject, shown)


def _tells(name: str, value: float) -> bool:
    """Whether it is worth a cell: zeros of what is counted are not, of rates they are."""
    if isinstance(METRICS[name].quantity, Choice):
        return False
    return bool(value) or name in _ALWAYS


def _counters(variant: VariantResult, plan: Plan) -> Iterator[Line]:
    managed = {node.name for node in (*plan.hosts, *plan.switches, *plan.firewalls)}
    result = variant.evidence.result if variant.evidence else None
    for port in plan.ports if result else ():
        if port.node in managed and result is not None:
            change = result.change(port.name)
            values = {name: change.get(name) for name in _COUNTED}
            yield Line(port.label, {name: str(value) for name, value in values.items() if value})
