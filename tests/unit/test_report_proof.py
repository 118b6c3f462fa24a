"""The proof on the page of a run: charts over virtual time, and tables."""

from __future__ import annotations

import itertools
import random
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from pages import GOODPUT, LOSSY, Page, judged, outcome, page
from recorded import G, Recording, plan, recording, with_ports

from wirelab.model.expect import Expectation
from wirelab.plan.flows import phase_ns
from wirelab.plan.traffic import Ping
from wirelab.report.html import html_report
from wirelab.report.timeline import PORTS_SHOWN, Timeline
from wirelab.results.ping import Echoes
from wirelab.runner.run_result import Evidence

if TYPE_CHECKING:
    from pathlib import Path

    from wirelab.report.chart import Chart
    from wirelab.runner.run_result import VariantResult


def test_charts_share_their_time(tmp_path: Path) -> None:
    """Every chart goes from the first to the last snapshot, and has axes with units, a legend and a title."""
    report = page(judged(tmp_path, GOODPUT))
    assert [f"{chart['title']}: {chart['y']['label']}" for chart in report.charts] == [
        "Goodput: goodput (Mbit/s)",
        "Congestion window: cwnd (segments)",
        "Round-trip time: RTT (us)",
        "Held at module.line: held (kB)",
        "Held at server: held (kB)",
        "Held at switch.p1: held (kB)",
        "Held at switch.p2: held (kB)",
        "Held at module.host: held (kB)",
        "Drops: dropped frames",
    ]
    assert [chart["title"] for chart in report.charts] == report.texts("b")
    for chart in report.charts:
        assert (chart["x"]["label"], chart["x"]["high"], chart["x"]["perUnit"]) == (
            "virtual time (s)",
            7.2 * G,
            G,
        )
        assert chart["lines"]
    assert report.text.count("upload 1.16 Gbit/s in all") == 1


def test_what_was_expected_stands_in_the_charts(tmp_path: Path) -> None:
    """As long as a flow sends, or over all of the time; what has no chart has none."""
    expectations = (
        GOODPUT,
        Expectation("download", "retransmits", 100, 200),
        Expectation("download", "rtt", None, 300),
        Expectation("module.line", "drops", 1, None),
        Expectation("module.line", "drops", 1, None, window=(4 * G, 5 * G)),
        Expectation("module.line", "queue_high_water", None, 20_000),
        Expectation("upload", "goodput", 1, 2, window=(G, 2 * G)),
    )
    variant = judged(tmp_path, *expectations)
    shift = phase_ns(1)
    found = {
        chart.title: [(one.low, one.high, one.begins, one.ends, one.colour) for one in chart.ranges]
        for chart in charts(variant).values()
        if chart.ranges
    }
    assert found == {
        "Goodput": [
            (1_000_000_000, 1_300_000_000, 4 * G, 6 * G, 1),
            (1, 2, G + shift, 2 * G + shift, 0),
        ],
        "Round-trip time": [(None, 300, 4 * G, 6 * G, 1)],
        "Held at module.line": [(None, 20_000, 0, 7.2 * G, 4)],
        "Drops": [(1, None, 0, 7.2 * G, 0)],
    }
    assert "expected of download.goodput: 1..1.3 Gbit/s" in page(variant).text


def charts(variant: VariantResult) -> dict[str, Chart]:
    """The charts of a variant by their titles."""
    assert variant.evidence is not None
    return {chart.title: chart for chart in Timeline(variant.evidence, variant.checks).charts()}


def points(chart: Chart) -> dict[str, list[tuple[float, float]]]:
    """Where the lines of a chart go, by their names, in s and base units."""
    return {line.name: [(x / G, y) for x, y in line.points] for line in chart.lines}


def test_the_area_below_goodput_is_what_was_acknowledged(tmp_path: Path) -> None:
    """From the start of a flow to its last sample, whatever lies between two samples."""
    recorded = recording()
    acked = [0, 0, 5_000_000, 5_000_000, 70_000_000, *range(80_000_000, 155_000_000, 5_000_000)]
    rest = iter(acked)
    for sample in recorded.samples:
        for name in sample["flows"]:
            sample["flows"][name]["bytes_acked"] = next(rest, acked[-1]) if name == "upload" else 0
    lines = points(charts(judged(tmp_path, recorded=recorded))["Goodput"])
    line = lines["upload"]
    area_bits = sum((after[0] - before[0]) * before[1] for before, after in itertools.pairwise(line))
    assert area_bits == pytest.approx(acked[-1] * 8)
    assert (line[0][0], line[-1][0]) == (1.0, 2.9)
    assert {y for _, y in lines["download"]} == {0}


def test_parallel_connections_show_what_the_receiver_got(tmp_path: Path) -> None:
    """Samples see the first connection only: then each second has the receiver's own figure."""
    flows = tuple(replace(flow, parallel=4) for flow in plan().flows)
    variant = judged(tmp_path, of=replace(plan(), traffic=flows))
    first, second = variant.flows[1].intervals_bps
    assert points(charts(variant)["Goodput"])["download"] == [(4.0, first), (5.0, second), (6.0, second)]


def test_what_is_held_or_lost_does_not_grow_before_it_does(tmp_path: Path) -> None:
    """No slope joins two samples, between which a flow may begin: a figure holds until the next one."""
    found = charts(judged(tmp_path, LOSSY))
    assert all(line.step for title in ("Held at module.line", "Drops") for line in found[title].lines)


def test_drops_are_counted_from_the_start(tmp_path: Path) -> None:
    """What a port dropped before is not of this run; the legend has the causes."""
    recorded = recording()
    for number, sample in enumerate(recorded.samples):
        sample["ports"]["module-line"]["dropped_frames"] = 1000 + number
    chart = charts(judged(tmp_path, recorded=recorded))["Drops"]
    line = points(chart)["module.line"]
    assert (line[0], line[-1]) == ((0.0, 0), (6.4, 64))
    assert chart.lines[0].note == "159 queue"


def test_what_a_port_held_is_beside_what_it_has_room_for(tmp_path: Path) -> None:
    """Limits that were nearly reached are in the chart, those far above it in the note alone."""
    drawn = charts(judged(tmp_path))
    chart = drawn["Held at module.line"]
    assert points(chart)["egress queue"][40:62] == [*((t / 10, 15_140) for t in range(40, 61)), (6.1, 0)]
    assert [level.name for level in chart.levels] == ["high water 15.1 kB", "bfifo limit 16 KiB"]
    assert chart.note == "bfifo of 16 KiB; packet buffer of 1533 KiB"
    assert [level.name for level in drawn["Held at switch.p1"].levels] == ["high water 15.1 kB"]
    lossless = with_ports(plan(), pause_tx=True, xoff_bytes=15_000, xon_bytes=12_000, buffer_bytes=20_000)
    chart = charts(judged(tmp_path / "b", of=lossless))["Held at module.line"]
    assert [level.name for level in chart.levels[2:]] == ["XOFF 15 kB", "packet buffer 20 kB"]
    assert chart.note == "bfifo of 16 KiB; packet buffer of 20 kB; XOFF at 15 kB, XON at 12 kB"


def test_what_did_not_happen_has_no_chart(tmp_path: Path) -> None:
    """An empty chart would prove nothing: a sentence says that nothing was dropped and nobody paused."""
    report = page(judged(tmp_path, GOODPUT, recorded=recording(dropped=0)))
    assert "Not drawn: no frame was dropped; no port was paused." in report.text
    assert "Drops" not in report.texts("b")


def test_a_flow_that_was_over_between_two_samples_is_named(tmp_path: Path) -> None:
    """It has no line, so a sentence says why, though it was seen as it began; one with figures has a line."""
    recorded = recording()
    for sample in recorded.samples:
        if sample["at_ns"] != plan().flows[0].start_ns:
            sample["flows"] = {}
    variant = judged(tmp_path, recorded=recorded)
    assert "two samples" not in page(variant).text.partition("Not drawn")[2]
    assert variant.evidence is not None
    flows = variant.evidence.result.flows
    brief = {**flows, "upload": replace(flows["upload"], intervals_bps=())}
    known = replace(
        variant, evidence=replace(variant.evidence, result=replace(variant.evidence.result, flows=brief))
    )
    assert "Not drawn: goodput of upload: over between two samples; no port was paused." in page(known).text


def paused(port: str) -> Recording:
    """A recording in which a port was silent for half of the download."""
    recorded = recording()
    for snapshot in ("download:end", "end"):
        recorded.stats(snapshot, port)["tx_paused_ns"] = 1_050_000_000
        recorded.stats(snapshot, port)["rx_pause_frames"] = 12
    return recorded


def test_the_time_paused_is_that_of_the_counters(tmp_path: Path) -> None:
    """Half of the download, nothing before: the line is at 50 % from its start to its end."""
    report = page(judged(tmp_path, recorded=paused("switch-p2")))
    (chart,) = (chart for chart in report.charts if chart["title"] == "Paused by the peer")
    (line,) = chart["lines"]
    assert set(line["y"]) == {0, 500_000}
    assert line["drawn"] == "step"
    assert (chart["y"]["high"], chart["y"]["perUnit"]) == (1_000_000, 10_000)
    assert "switch.p2 1.05 s in all" in report.text
    assert "1.05 s (15 %)" in report.text


def test_few_ports_have_a_chart(tmp_path: Path) -> None:
    """Those that dropped, then those that sent PAUSE, then by high water; the table has all of them."""
    recorded = recording()
    for number, name in enumerate(recorded.snapshot("end")["ports"]):
        recorded.stats("end", name)["queue_high_water_bytes"] = 20_000 + number
    recorded.stats("end", "switch-p1")["tx_pause_frames"] = 5
    report = page(judged(tmp_path, recorded=recorded))
    shown = [title.removeprefix("Held at ") for title in report.texts("b") if title.startswith("Held")]
    assert shown == ["module.line", "switch.p1", "client", "module.host", "switch.p2"]
    assert len(shown) == PORTS_SHOWN
    assert {port.label for port in plan().ports} <= set(report.texts("td"))


def test_a_port_that_did_nothing_has_no_chart(tmp_path: Path) -> None:
    """A single frame in a queue is no event."""
    recorded = recording(dropped=0)
    for name in recorded.snapshot("end")["ports"]:
        recorded.stats("end", name).update(queue_high_water_bytes=1514, buffer_high_water_bytes=1514)
    text = page(judged(tmp_path, recorded=recorded)).text
    assert "Held at" not in text
    assert "no port held more than one frame" in text


def test_settings_that_differ_stand_out(tmp_path: Path) -> None:
    """They are counted before anybody opens the list, and marked in it."""
    recorded = recording()
    recorded.settings[2]["actual"] = 1_000_000_000
    html = html_report(outcome(judged(tmp_path, recorded=recorded)).run)
    assert "6 settings as they were asked for and as they were read back: 1 differ" in Page(html).text
    assert html.count('<tr class="odd">') == 1
    assert "switch.p2 speed_bps 10000000000 1000000000" in re.sub(r"\s*<.*?>\s*", " ", html).replace(
        "  ", " "
    )


def test_pings_have_their_percentiles(tmp_path: Path) -> None:
    """A row with what was lost and how long the others took; none that were all lost."""
    variant = judged(tmp_path)
    assert variant.evidence is not None
    ping = Ping(
        name="beside", sender="server", receiver="client", start_ns=0, duration_ns=G, interval_ns=G // 10
    )
    deaf = replace(ping, name="deaf", sender="client", receiver="server")
    answered = {number: 100.0 * number for number in (1, 2, 3, 5, 6, 7, 8, 9, 10)}
    echoes = {"beside": Echoes(10, answered), "deaf": Echoes(4, {})}
    known = replace(
        variant,
        pings=(echoes["beside"].result(ping), echoes["deaf"].result(deaf)),
        evidence=Evidence(
            replace(variant.evidence.plan, traffic=(*variant.evidence.plan.traffic, ping, deaf)),
            replace(variant.evidence.result, echoes=echoes),
        ),
    )
    report = page(known)
    assert "beside server → client 10 10.0 % 100 us 567 us 600 us 1.00 ms 1.00 ms 1.00 ms" in report.text
    assert "deaf client → server 4 100 % - - - - - -" in report.text
    assert "beside ping, 100 us to 1.00 ms" in report.text
    chart = charts(known)["Round-trip time"]
    drawn = points(chart)
    assert drawn["beside"] == [((number - 1) / 10, 100 * number) for number in answered]
    assert "deaf" not in drawn
    assert chart.note == "smoothed RTT of the sender, every 100 ms"


def test_pings_alone_have_no_smoothed_rtt(tmp_path: Path) -> None:
    """The chart says of flows what their senders know, and nothing of it where there are none."""
    variant = judged(tmp_path)
    assert variant.evidence is not None
    ping = Ping(name="alone", sender="server", receiver="client", start_ns=0, duration_ns=G, interval_ns=G)
    known = replace(
        variant,
        evidence=Evidence(
            replace(variant.evidence.plan, traffic=(ping,)),
            replace(variant.evidence.result, echoes={"alone": Echoes(1, {1: 100.0})}),
        ),
    )
    assert charts(known)["Round-trip time"].note == ""


def test_a_long_run_is_still_a_small_page(tmp_path: Path) -> None:
    """A variant and a control of 24 s in which every figure changes with every sample: below 300 kB."""
    dice = random.Random(1)  # noqa: S311 - figures, no secrets
    variants = []
    for name in ("main", "deep"):
        recorded = recording()
        for snapshot in recorded.counters["snapshots"]:
            snapshot["at_ns"] *= 4
        shape = recorded.samples[20]
        recorded.samples = [
            {
                "at_ns": tenth * 100_000_000,
                "ports": {
                    port: {
                        **idle,
                        "queue_bytes": dice.randrange(15_140),
                        "buffer_bytes": dice.randrange(15_140),
                    }
                    for port, idle in shape["ports"].items()
                },
                "flows": {
                    flow: {"cwnd_segments": dice.randrange(99), "rtt_us": dice.randrange(999)}
                    | {"bytes_acked": tenth**2 * dice.randrange(1000), "retransmits": 0}
                    for flow in ("upload", "download")
                },
            }
            for tenth in range(240)
        ]
        variants.append(judged(tmp_path / name, recorded=recorded, of=plan(name)))
    assert 50_000 < len(html_report(outcome(*variants).run).encode()) < 300_000
