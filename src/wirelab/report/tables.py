"""What was measured in one variant, as tables of text."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from wirelab.plan.ceiling import ceiling
from wirelab.results.ping import percentile
from wirelab.units import COUNT, MICROSECONDS, NS_PER_S, PPM, RATE, RATIO, SIZE, TIME, rounded, show
from wirelab.verdict.verdict import worst

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wirelab.plan.types import Plan
    from wirelab.results.flow import FlowResult
    from wirelab.results.result import PortResult, Result
    from wirelab.runner.record import VariantRecord
    from wirelab.verdict.checks import Check

NOTHING: Final = "-"

_PERCENTS: Final = (50, 90, 99)
_ALWAYS: Final = ("port", "link", "sent", "received", "dropped", "queue high water", "buffer high water")


@dataclass(frozen=True, slots=True)
class Table:
    """Cells as text below their titles; the columns in ``numbers`` are aligned as numbers.

    The rows in ``odd``, counted from 0, are not as they should be.
    """

    titles: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: frozenset[str] = frozenset()
    odd: frozenset[int] = frozenset()


def flow_table(variants: Sequence[VariantRecord]) -> Table:
    """A row for each flow of each variant, without the columns that would say nothing."""
    rows = [
        {
            "variant": variant.name if len(variants) > 1 else NOTHING,
            **_flow_row(variant, variant.result, flow),
        }
        for variant in variants
        if variant.result is not None
        for flow in variant.result.flows.values()
    ]
    texts = ("variant", "flow", "direction", "expected", "verdict")
    return _table(rows, texts=texts, silent=NOTHING)


def ping_table(result: Result) -> Table:
    """A row for each ping."""
    rows = []
    for ping in result.pings.values():
        figures = {
            "least": min(ping.rtts_us, default=None),
            **{f"p{percent}": percentile(ping.rtts_us, percent) for percent in _PERCENTS},
            "most": max(ping.rtts_us, default=None),
        }
        rows.append(
            {
                "ping": ping.name,
                "direction": f"{ping.sender} → {ping.receiver}",
                "sent": rounded(ping.sent, COUNT),
                "lost": rounded(ping.lost_ppm, RATIO),
                **{
                    name: NOTHING if us is None else rounded(us, MICROSECONDS) for name, us in figures.items()
                },
            }
        )
    return _table(rows, texts=("ping", "direction"))


def port_table(plan: Plan, result: Result) -> Table:
    """A row for each port, in the order of the Plan, without the columns of what happened at none."""
    rows = [_port_row(result.ports[port.label], result) for port in plan.ports]
    return _table(rows, texts=("port", "link"), silent="0", always=_ALWAYS)


def setting_table(plan: Plan, result: Result) -> Table:
    """A row for each setting as it was asked for and as it was read back; odd where these differ."""
    labels = {port.name: port.label for port in plan.ports}
    rows = [
        (labels.get(each.port, each.port), each.name, _value(each.asked), _value(each.actual))
        for each in result.settings
    ]
    odd = frozenset(at for at, each in enumerate(result.settings) if each.asked != each.actual)
    return Table(("port", "setting", "asked", "read back"), tuple(rows), odd=odd)


def _table(
    rows: Sequence[dict[str, str]], *, texts: Sequence[str], silent: str = "", always: Sequence[str] = ()
) -> Table:
    """Rows as a table, without the columns, but those in ``always``, in which every cell is ``silent``."""
    titles = tuple(
        title
        for title in (rows[0] if rows else ())
        if title in always or any(row[title] != silent for row in rows)
    )
    cells = tuple(tuple(row[title] for title in titles) for row in rows)
    return Table(titles, cells, frozenset(titles) - frozenset(texts))


def _flow_row(variant: VariantRecord, result: Result, flow: FlowResult) -> dict[str, str]:
    checks = [check for check in variant.checks if check.name.rpartition(".")[0] == flow.name]
    linked = result.linked(variant.plan)
    most = ceiling(linked, next(each for each in linked.flows if each.name == flow.name))
    lost, duration_s = flow.lost_datagrams, flow.duration_s
    return {
        "flow": flow.name,
        "direction": f"{flow.sender} → {flow.receiver}",
        "goodput": rounded(flow.goodput_bps, RATE) if flow.connected else "no connection",
        "path carries": rounded(most.bps, RATE) if most else NOTHING,
        "duration": NOTHING if duration_s is None else rounded(duration_s * NS_PER_S, TIME),
        "retransmits": NOTHING if flow.retransmits is None else rounded(flow.retransmits, COUNT),
        "lost datagrams": NOTHING if lost is None else rounded(lost, COUNT),
        "mean RTT": NOTHING if flow.rtt is None else rounded(flow.rtt.mean_us, MICROSECONDS),
        "expected": ", ".join(map(_expected, checks)) or NOTHING,
        "verdict": str(worst(check.verdict for check in checks)) if checks else NOTHING,
    }


def _expected(check: Check) -> str:
    """A range with the metric's name where the range alone does not show it."""
    metric = check.name.rpartition(".")[2]
    return check.expected if metric == "goodput" else f"{check.expected} {metric.replace('_', ' ')}"


def _port_row(port: PortResult, result: Result) -> dict[str, str]:
    causes = ", ".join(f"{rounded(n, COUNT)} {cause}" for cause, n in port.drops.items() if n)
    priorities = ", ".join(
        f"{number}: {_share(paused_ns, result)}"
        for number, paused_ns in enumerate(port.priority_paused_ns)
        if paused_ns
    )
    return {
        "port": port.label,
        "link": f"{show(port.speed_bps or 0, RATE)} {port.duplex}" if port.link else "down",
        "sent": rounded(port.tx_frames, COUNT),
        "received": rounded(port.rx_frames, COUNT),
        "dropped": causes or "0",
        "PAUSE sent": rounded(port.tx_pause_frames, COUNT),
        "PAUSE received": rounded(port.rx_pause_frames, COUNT),
        "paused": _share(port.paused_ns, result),
        "PFC sent": rounded(port.tx_pfc_frames, COUNT),
        "PFC received": rounded(port.rx_pfc_frames, COUNT),
        "paused by priority": priorities if port.rx_pfc_frames else "0",
        "collisions": rounded(port.collisions, COUNT),
        "late collisions": rounded(port.late_collisions, COUNT),
        "CPU busy": _share(port.cpu_busy_ns, result),
        "queue high water": rounded(port.queue_high_water_bytes, SIZE),
        "buffer high water": rounded(port.buffer_high_water_bytes, SIZE),
    }


def _share(spent_ns: int, result: Result) -> str:
    """A time, and what share of the run it is; 0 for none."""
    if not spent_ns:
        return "0"
    share = rounded(spent_ns * PPM / max(result.elapsed_ns, 1), RATIO, 2)
    return f"{rounded(spent_ns, TIME)} ({share})"


def _value(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)
