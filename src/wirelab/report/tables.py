"""What was measured in one variant, as tables of text: each metric with a column of its own has one here."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from wirelab.model.metric import METRICS, PAUSED_PRIORITY, Metric
from wirelab.results.flow import FlowResult, flow_figure
from wirelab.results.ping import PingResult, ping_figure
from wirelab.results.port import TIMES_NS, PortResult, port_figure
from wirelab.runner.run_result import Evidence, VariantResult
from wirelab.units import COUNT, MICROSECONDS, NS_PER_S, RATE, RATIO, TIME, rounded, show
from wirelab.verdict.checks import Check
from wirelab.verdict.verdict import worst

NOTHING: Final = "-"
BRIEF: Final = ("goodput", "retransmits")
"""The metrics of a flow that a narrow table has."""
BRIEF_PING: Final = ("lost", "rtt")
"""Those of a ping."""

_PERCENTILES: Final = ("rtt_p50", "rtt_p90", "rtt_p99")
"""What the chart of a flow's RTT shows better."""
_FLOW: Final = [
    metric
    for metric in METRICS.values()
    if metric.title and {"flow", "UDP flow"} & set(metric.subjects) and metric.name not in _PERCENTILES
]
_RTT: Final = [METRICS[name] for name in ("rtt", *_PERCENTILES)]
_PORT: Final = [metric for metric in METRICS.values() if metric.title and "port" in metric.subjects]
_FEW_SILENT: Final = 8
"""So many ports without a frame are told one by one; of more there is their number."""
_ALWAYS: Final = ("port", "link", "sent", "received", "dropped", "queue high water", "buffer high water")


@dataclass(frozen=True, slots=True)
class Table:
    """Cells as text below their titles; the columns in ``numbers`` are aligned as numbers.

    The rows in ``odd``, counted from 0, are not as they should be. ``note`` says what is not in it.
    """

    titles: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: frozenset[str] = frozenset()
    odd: frozenset[int] = frozenset()
    note: str = ""


def flow_table(variants: Sequence[VariantResult], *, brief: bool = False) -> Table:
    """A row for each flow of each variant, without the columns that would say nothing.

    ``brief``: goodput and retransmits, and what was expected of them, whatever they say.
    """
    rows = []
    for variant in variants:
        for flow in variant.flows:
            # A control is judged by what it breaks alone.
            judged = variant.checks if variant.breaks is None else ()
            checks = [check for check in judged if check.subject == flow.name]
            told = [check for check in checks if check.of_all_time and (not brief or check.metric in BRIEF)]
            rows.append(
                {
                    "variant": variant.name if len(variants) > 1 else NOTHING,
                    "flow": flow.name,
                    "direction": f"{flow.sender} {'->' if brief else '→'} {flow.receiver}",
                    **_flow_figures(flow, brief=brief),
                    "expected": ", ".join(map(_expected, told)) or NOTHING,
                    "verdict": str(worst(check.verdict for check in checks)) if checks else NOTHING,
                }
            )
    always = ("retransmits", "expected", "verdict") if brief else ()
    texts = ("variant", "flow", "direction", "expected", "verdict")
    return _table(rows, texts=texts, silent=NOTHING, always=always)


def ping_table(pings: Sequence[PingResult], *, arrow: str = "→") -> Table:
    """A row for each ping."""
    lost = METRICS["lost"]
    rows = [
        {
            "ping": ping.name,
            "direction": f"{ping.sender} {arrow} {ping.receiver}",
            "sent": rounded(ping.sent, COUNT),
            lost.title: lost.shown(ping.lost_ppm),
            "least": rounded(ping.rtt.min_us, MICROSECONDS) if ping.rtt else NOTHING,
            **{metric.title: shown(metric, ping_figure(metric.name, ping)) for metric in _RTT},
            "most": rounded(ping.rtt.max_us, MICROSECONDS) if ping.rtt else NOTHING,
        }
        for ping in pings
    ]
    return _table(rows, texts=("ping", "direction"))


def port_table(variant: VariantResult) -> Table:
    """A row for each port, in the order of the Plan, without the columns of what happened at none.

    Where many ports have nothing to tell, a note has their number.
    """
    rows = [
        {
            "port": label,
            "link": f"{show(port.speed_bps or 0, RATE)} {port.duplex}" if port.link else "down",
            "sent": rounded(port.tx_frames, COUNT),
            "received": rounded(port.rx_frames, COUNT),
            **{_port_title(metric): _port_cell(metric, port, variant.elapsed_ns) for metric in _PORT},
        }
        for label, port in variant.ports.items()
    ]
    silent = [row for row in rows if _is_silent(row)]
    if len(silent) <= _FEW_SILENT:
        return _table(rows, texts=("port", "link"), silent="0", always=_ALWAYS)
    told = _table(
        [row for row in rows if row not in silent], texts=("port", "link"), silent="0", always=_ALWAYS
    )
    return replace(told, note=f"{rounded(len(silent), COUNT)} more ports sent and received nothing")


def event_table(variant: VariantResult) -> Table:
    """A row for each thing that happened while its network ran."""
    rows = tuple((show(round(event.at_s * NS_PER_S), TIME), event.what) for event in variant.events)
    return Table(("instant", "what happened"), rows)


def setting_table(evidence: Evidence) -> Table:
    """A row for each setting as it was asked for and as it was read back; odd where these differ."""
    labels = {port.name: port.label for port in evidence.plan.ports}
    readbacks = evidence.result.readbacks
    rows = [
        (labels.get(one.port, one.port), one.setting, _value(one.asked), _value(one.actual))
        for one in readbacks
    ]
    odd = frozenset(number for number, one in enumerate(readbacks) if one.differs)
    return Table(("port", "setting", "asked", "read back"), tuple(rows), odd=odd)


def _table(
    rows: Sequence[Mapping[str, str]], *, texts: Sequence[str], silent: str = "", always: Sequence[str] = ()
) -> Table:
    """Rows as a table, without the columns, but those in ``always``, in which every cell is ``silent``."""
    titles = tuple(
        title
        for title in (rows[0] if rows else ())
        if title in always or any(row[title] != silent for row in rows)
    )
    cells = tuple(tuple(row[title] for title in titles) for row in rows)
    return Table(titles, cells, frozenset(titles) - frozenset(texts))


def _flow_figures(flow: FlowResult, *, brief: bool) -> dict[str, str]:
    cells: dict[str, str] = {}
    for metric in _FLOW:
        if brief and metric.name not in BRIEF:
            continue
        cells[metric.title] = shown(metric, flow_figure(metric.name, flow))
        if metric.name == "lost" and flow.lost_datagrams:
            cells[metric.title] = f"{rounded(flow.lost_datagrams, COUNT)} ({cells[metric.title]})"
        if metric.name == "goodput" and not flow.connected:
            cells[metric.title] = flow.untold
        if metric.name == "goodput" and not brief:
            cells["path carries"] = NOTHING if flow.path_bps is None else rounded(flow.path_bps, RATE)
    return cells


def _port_title(metric: Metric) -> str:
    """Its head: a flow's sentences have shares of the flow's time."""
    return f"{metric.title} (of the whole run)" if metric.name in TIMES_NS else metric.title


def _is_silent(row: Mapping[str, str]) -> bool:
    """Whether a port has a link, and nothing but that."""
    figures = (cell for title, cell in row.items() if title not in ("port", "link"))
    return row["link"] != "down" and all(cell.split()[0] == "0" for cell in figures)


def _port_cell(metric: Metric, port: PortResult, elapsed_ns: int) -> str:
    """A figure; of dropped frames each cause, of a share the time as well, and just 0 for none."""
    figure = port_figure(metric.name, port, elapsed_ns)
    if metric.name == "drops":
        return ", ".join(f"{rounded(n, COUNT)} {cause}" for cause, n in port.drops.items() if n) or "0"
    if metric.name.startswith(PAUSED_PRIORITY) and not port.rx_pfc_frames:
        # PAUSE stops all of them, and is told already.
        return "0"
    if metric.name in TIMES_NS:
        time = rounded(TIMES_NS[metric.name](port), TIME)
        return f"{time} ({rounded(figure, RATIO, 2)})" if figure else "0"
    return metric.shown(figure)


def shown(metric: Metric, figure: float | None) -> str:
    """A figure for the eye, NOTHING where there is none."""
    return NOTHING if figure is None else metric.shown(figure)


def _expected(check: Check) -> str:
    """A range with the metric's name where the range alone does not show it."""
    named = check.metric is None or check.metric == "goodput"
    return check.expected if named else f"{check.expected} {str(check.metric).replace('_', ' ')}"


def _value(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)
