"""A connection that iperf3 lost: nothing is known of it but that, from the raw files to every report."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from pages import JOB, judged, page
from recorded import Recording, iperf3, plan, recording, with_ports

from wirelab.errors import LabError
from wirelab.model.expect import Expectation
from wirelab.plan.types import Cable
from wirelab.report.sweep import heat_map, sweep_csv
from wirelab.report.tables import flow_table
from wirelab.report.timeline import Timeline
from wirelab.results.flow import FlowResult
from wirelab.results.result import read_result
from wirelab.runner.run_result import parse_run
from wirelab.runner.sweep import Factor, Point, Sweep
from wirelab.verdict.bottleneck import bottlenecks
from wirelab.verdict.verdict import Verdict

if TYPE_CHECKING:
    from pathlib import Path

LOST = (
    "the connection between server and client was lost (iperf3: control socket has closed unexpectedly); "
    "159 frames were dropped at module.line (FIFO 16 KiB full)"
)


def lost(client: str = "lost.client") -> Recording:
    """A recording whose download lost its server, which was ended while it waited."""
    recorded = recording()
    recorded.flows["download.client"] = iperf3(client)
    del recorded.flows["download.server"]
    return recorded


@pytest.mark.parametrize(
    ("subject", "metric", "high"),
    [
        ("download", "retransmits", 50),
        ("download", "goodput", 1_000_000),
        ("download", "rtt", 1_000_000),
        ("network", "retransmits", 50),
        ("network", "duration", 10**10),
    ],
)
def test_no_figure_of_it_is_judged(subject: str, metric: str, high: int, tmp_path: Path) -> None:
    """It sent data, and nobody knows how much, nor how often: 0 would be a figure that nobody measured."""
    (check,) = judged(tmp_path, Expectation(subject, metric, None, high), recorded=lost()).checks
    assert (check.verdict, check.measured, check.value) == (Verdict.FAIL, "nothing", None)
    assert check.explanation is not None
    assert check.explanation.startswith(f"nothing came through that would tell {metric}; ")
    assert subject == "network" or check.explanation.endswith(LOST)


def test_that_it_was_lost_is_judged(tmp_path: Path) -> None:
    """The sender did reach its receiver; what is said is where frames went, in the tool's own words."""
    (check,) = judged(tmp_path, Expectation("download", "connects", 0, 0), recorded=lost()).checks
    assert (check.verdict, check.explanation) == (Verdict.PASS, LOST)


def test_a_first_datagram_that_was_lost_is_told(tmp_path: Path) -> None:
    """In words that say what to do: iperf3's own are those of a broken file."""
    recorded = lost()
    words = "unable to read from stream socket: Resource temporarily unavailable"
    recorded.flows["download.client"]["error"] = words
    (check,) = judged(tmp_path, Expectation("download", "goodput", 1, None), recorded=recorded).checks
    assert (check.verdict, check.measured) == (Verdict.FAIL, "nothing")
    assert check.explanation is not None
    assert "the datagram with which iperf3 begins, or its answer, was lost between" in check.explanation
    assert "with another seed" in check.explanation


def test_of_datagrams_as_little_is_known() -> None:
    """The connection that iperf3 loses beside them is the one that would have told."""
    udp = replace(plan().flows[0], protocol="udp", congestion=None)
    flow = FlowResult.unconnected(udp, "unable to receive results: ")
    assert (flow.goodput_bps, flow.retransmits, flow.lost_datagrams, flow.lost_ppm) == (None,) * 4
    unreached = FlowResult.unconnected(udp, "")
    assert (unreached.goodput_bps, unreached.retransmits, unreached.lost_datagrams) == (None,) * 3


@pytest.mark.parametrize("subject", ["download", "network"])
@pytest.mark.parametrize("metric", ["retransmits", "goodput"])
def test_what_was_never_connected_passes_nothing(subject: str, metric: str, tmp_path: Path) -> None:
    """That nothing was sent again, or came too fast, proves nothing where nothing was sent."""
    expectation = Expectation(subject, metric, None, 10**9)
    (check,) = judged(tmp_path, expectation, recorded=lost("refused.client")).checks
    assert (check.verdict, check.measured, check.value) == (Verdict.FAIL, "nothing", None)


@pytest.mark.parametrize(
    ("closed", "where", "at"),
    [
        (
            {"cables": (Cable("module-line", "client-eth0", 15, plugged=False),)},
            "the cable between module.line and client, which was pulled out",
            ("module.line", "client"),
        ),
        ({"up": False}, "client, which was shut", ("client",)),
        ({}, "losses between server and client", ("server", "client")),
    ],
)
def test_what_kept_its_ends_apart_is_named(
    closed: dict[str, Any], where: str, at: tuple[str, ...], tmp_path: Path
) -> None:
    """Where something was shut or pulled out nothing was lost: nothing could pass."""
    the_plan = with_ports(plan(), "client-eth0", up=closed.pop("up", True))
    cables = closed.get("cables", ())
    the_plan = replace(the_plan, cables=(*the_plan.cables[:2], *(cables or the_plan.cables[2:])))
    result = read_result(the_plan, lost("refused.client").write(tmp_path))
    found = next(one for one in bottlenecks(the_plan, result) if one.flow == "download")
    assert (found.where, found.at) == (where, at)


@pytest.mark.parametrize(
    "words",
    [
        "error - idle timeout for receiving data",
        "error - unable to receive cookie at server: Resource temporarily unavailable",
        "error - unable to send control message - port may not be available, the other side may have stopped",
        "the client has unexpectedly closed the connection",
        "interrupt - the server has terminated",
        None,
    ],
)
def test_a_server_that_heard_nothing_of_its_client_is_none_that_failed(
    words: str | None, tmp_path: Path
) -> None:
    """Both ends lose a connection, each with its own words; most servers are ended before they have any."""
    recorded = lost()
    recorded.flows["download.server"] = iperf3("nothing-came.server")
    recorded.flows["download.server"]["error"] = words or ""
    raw = recorded.write(tmp_path)
    if words is None:
        (raw / "flows" / "download.server.json").write_text("", encoding="utf-8")
    flow = read_result(plan(), raw).flows["download"]
    assert (flow.connected, flow.goodput_bps, flow.retransmits) == (False, None, None)


@pytest.mark.parametrize("client", ["lost.client", "refused.client"])
@pytest.mark.parametrize(
    "words",
    [
        "error - unable to create thread: Cannot allocate memory",
        "error - unable to start listener for connections: Address already in use",
    ],
)
def test_a_server_that_failed_by_itself_is_a_broken_lab(client: str, words: str, tmp_path: Path) -> None:
    """Whatever its client makes of that: it says nothing about the network."""
    recorded = lost(client)
    recorded.flows["download.server"] = iperf3("nothing-came.server") | {"error": words}
    raw = recorded.write(tmp_path)
    with pytest.raises(LabError, match=rf"download\.server\.json: iperf3 stopped: {words}"):
        read_result(plan(), raw)
    (raw / "flows" / "download.server.json").write_text("iperf3: no such thing", encoding="utf-8")
    with pytest.raises(LabError, match=r"download\.server\.json: does not parse"):
        read_result(plan(), raw)


def test_result_json_has_null_for_what_nobody_knows(tmp_path: Path) -> None:
    """And reads it again."""
    run = JOB.result([judged(tmp_path, recorded=lost())], 1.0)
    assert run.to_json().count('"goodput_bps": null') == 1
    _, flow = parse_run(run.to_json().encode()).variants[0].flows
    assert (flow.goodput_bps, flow.retransmits, flow.lost_connection) == (
        None,
        None,
        "control socket has closed unexpectedly",
    )


@pytest.mark.parametrize(
    ("client", "cells"),
    [("lost.client", ("connection lost", "-")), ("refused.client", ("no connection", "-"))],
)
def test_tables_say_which_it_was(client: str, cells: tuple[str, str], tmp_path: Path) -> None:
    """No connection, or one that was lost: then a dash stands for what nobody knows."""
    variant = judged(tmp_path, recorded=lost(client))
    for brief in (True, False):
        table = flow_table([variant], brief=brief)
        row = dict(zip(table.titles, table.rows[1], strict=True))
        assert (row["goodput"], row["retransmits"]) == cells
    assert cells[0] in page(variant).text


@pytest.mark.parametrize(
    ("client", "words"), [("lost.client", "connection lost"), ("refused.client", "no connection")]
)
def test_the_chart_says_so_too(client: str, words: str, tmp_path: Path) -> None:
    """Where its samples are drawn the legend has no `0 bit/s in all`."""
    variant = judged(tmp_path, recorded=lost(client))
    assert variant.evidence is not None
    (goodput, *_) = Timeline(variant.evidence).charts()
    assert [line.note for line in goodput.lines] == ["1.16 Gbit/s in all", words]


def test_a_sweep_shows_it_where_it_was(tmp_path: Path) -> None:
    """The cells of the CSV are empty, that of the map says why."""
    points = (
        Point.of(("8 KiB",), judged(tmp_path / "8", recorded=lost())),
        Point.of(("16 KiB",), judged(tmp_path / "16")),
    )
    sweep = Sweep("lossy", "main", 1, (), (Factor("module.fifo", ("8 KiB", "16 KiB")),), points)
    rows = list(csv.DictReader(io.StringIO(sweep_csv(sweep))))
    assert [(row["goodput_bps"], row["retransmits"], row["connects"]) for row in rows[1::2]] == [
        ("", "", "no"),
        (str(round((200_000 - 159) * 1448 * 8 / 2.002481)), "161", "yes"),
    ]
    assert heat_map(sweep).count("<td>connection lost<br>") == 1
    nothing_else = replace(sweep, points=points[:1], factors=(Factor("module.fifo", ("8 KiB",)),))
    assert "<td>connection lost<br>" in heat_map(nothing_else)
