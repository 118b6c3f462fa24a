"""One table of metrics: what it says holds wherever a metric is read, told or shown."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pages import judged, page
from recorded import recording

from wirelab.model.expect import Expectation
from wirelab.model.metric import METRICS, Choice, SubjectKind, metrics_of
from wirelab.report.tables import flow_table, ping_table, port_table
from wirelab.results import flow, ping, port, rtt
from wirelab.results.ping import PingResult
from wirelab.results.result import NETWORK_FIGURES
from wirelab.results.rtt import Rtt
from wirelab.verdict.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Collection

SOURCE = Path(__file__).resolve().parents[2] / "src" / "wirelab"


@pytest.mark.parametrize(
    ("kinds", "readers"),
    [
        (("flow", "UDP flow", "copy"), {*flow.FIGURES, *rtt.FIGURES}),
        (("ping",), {"lost", *rtt.FIGURES}),
        (("port",), {*port.FIGURES, *port.TIMES_NS}),
        (("network",), NETWORK_FIGURES),
    ],
    ids=["flow", "ping", "port", "network"],
)
def test_each_metric_of_a_subject_has_a_reader(
    kinds: tuple[SubjectKind, ...], readers: Collection[str]
) -> None:
    """And no reader is without a metric."""
    assert {metric.name for kind in kinds for metric in metrics_of(kind)} == set(readers)


def test_each_metric_has_its_words() -> None:
    """A number has a noun for sentences, every metric a meaning for the reference."""
    assert all(metric.noun or isinstance(metric.quantity, Choice) for metric in METRICS.values())
    assert all(metric.meaning for metric in METRICS.values())


@pytest.mark.parametrize(
    ("letters", "files"),
    [
        ("connects", {"model/metric.py", "results/flow.py"}),
        ("late_collisions", {"model/metric.py", "results/port.py", "guest/counters.py"}),
        ("tx_late_collisions", {"results/port.py", "guest/counters.py"}),
    ],
)
def test_a_metric_costs_two_files(letters: str, files: set[str]) -> None:
    """The table and the reader; a standard statistic that nothing has read before has its name in the guest.

    Names are looked for as parts of others, too: a counter is called much like its metric. Which counters a
    technician sees is a choice of exercises, and a metric needs to be none of them.
    """
    texts = {path: path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py")}
    named = {path.relative_to(SOURCE).as_posix() for path, text in texts.items() if letters in text}
    assert named - {"exercise/seen.py"} == files


def test_it_follows_through_all_of_them(tmp_path: Path) -> None:
    """What the driver counted is judged, told in a sentence and shown in the table of ports."""
    recorded = recording()
    for name in ("start", "end"):
        recorded.stats(name, "client-eth0")["tx_late_collisions"] = 3 if name == "end" else 0
    variant = judged(tmp_path, Expectation("client", "late_collisions", None, 2), recorded=recorded)
    (check,) = variant.checks
    assert (check.verdict, check.value, check.subject) == (Verdict.FAIL, 3, "client")
    assert check.explanation == "expected at most 2 late collisions, measured 3; nothing was dropped there"
    table = port_table(variant)
    row = dict(zip(table.titles, table.rows[-1], strict=True))
    assert (row["port"], row["late collisions"]) == ("client", "3")
    assert "late collisions" in page(variant).text


def test_each_column_of_a_port_is_shown(tmp_path: Path) -> None:
    """ECN marks too, which one table had and another had not; what happened at no port has no column."""
    recorded = recording()
    assert "ECN marks" not in port_table(judged(tmp_path / "none", recorded=recorded)).titles
    recorded.stats("end", "switch-p2").update(
        {"tx_pause_frames": 1, "rx_pause_frames": 1, "tx_paused_ns": 1, "cpu_busy_ns": 1}
        | {"tx_collisions": 1, "tx_late_collisions": 1, "tx_pfc_frames": 1, "rx_pfc_frames": 1}
        | {f"tx_paused_ns_prio{priority}": 1 for priority in range(8)}
    )
    recorded.qdisc("end", "switch-p2")["marked"] = 5
    table = port_table(judged(tmp_path / "all", recorded=recorded))
    shares = {"paused", "CPU busy", *(f"priority {priority} paused" for priority in range(8))}
    named = [metric.title for metric in metrics_of("port") if metric.title]
    columns = [f"{title} (of the whole run)" if title in shares else title for title in named]
    assert table.titles == ("port", "link", "sent", "received", *columns)
    row = dict(zip(table.titles, table.rows[2], strict=True))
    assert (row["ECN marks"], row["priority 3 paused (of the whole run)"]) == ("5", "1.00 ns (0.0 %)")


def test_many_ports_without_a_frame_are_a_number(tmp_path: Path) -> None:
    """A row of zeros for each would hide the others; a port that is down is told, and so are a few."""
    variant = judged(tmp_path)
    client = replace(variant.ports["client"], queue_high_water_bytes=0, buffer_high_water_bytes=0)
    silent = replace(client, rx_frames=0, tx_frames=0)
    idle = {f"switch.p{number}": silent for number in range(11, 20)}
    wide = replace(variant, ports={**variant.ports, **idle, "switch.p20": replace(silent, link=False)})
    table = port_table(wide)
    assert [row[0] for row in table.rows] == [*variant.ports, "switch.p20"]
    assert table.note == "9 more ports sent and received nothing"
    assert table.note in page(wide).text
    assert port_table(replace(wide, ports={"switch.p1": silent})).note == ""


def test_text_has_the_columns_of_the_page(tmp_path: Path) -> None:
    """A narrow table of flows is a part of the wide one, and its cells are the same."""
    variant = judged(tmp_path)
    wide, brief = flow_table([variant]), flow_table([variant], brief=True)
    assert brief.titles == ("flow", "direction", "goodput", "retransmits", "expected", "verdict")
    assert "path carries" in wide.titles
    for column in ("flow", "goodput", "retransmits"):
        wide_cells, cells = (
            [row[table.titles.index(column)] for row in table.rows] for table in (wide, brief)
        )
        assert wide_cells == cells
    echo = PingResult("echo", "client", "server", 4, 3, Rtt.of((900.0, 1000.0, 2000.0)))
    table = ping_table([echo])
    titles = ("ping", "direction", "sent", "lost", "least", "mean RTT", "p50", "p90", "p99", "most")
    assert table.titles == titles
    assert table.rows[0][2:5] == ("4", "25.0 %", "900 us")
    assert ping.ping_figure("rtt", echo) == 1300
