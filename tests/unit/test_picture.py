"""The burst picture: what of a record it has, which windows are recorded for it, and how it is kept."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

import pytest
from bursts import AT_NS, FRAMES, LENGTH_BYTES, SLOW_NS, WAY, WIRE_NS, burst, picture, record
from recorded import G, plan, recording

from wirelab.report.closer import windows_ns
from wirelab.report.picture import AROUND_NS, followed, parse_picture
from wirelab.results.record import Dropped
from wirelab.results.result import read_result
from wirelab.runner.entries import Entries
from wirelab.runner.measurement_cache import MeasurementCache
from wirelab.runner.run_result import Evidence

if TYPE_CHECKING:
    from pathlib import Path

    from wirelab.report.picture import Lane


def lane(label: str) -> Lane:
    """Of the moment of the first drop."""
    return next(one for one in burst().lanes if one.label == label)


def test_the_lanes_are_the_ports_of_the_way() -> None:
    """In the order in which the flow passes them."""
    labels = ["server", "switch.p1", "switch.p2", "module.host", "module.line", "client"]
    assert [one.label for one in burst().lanes] == labels


def test_a_frame_is_as_long_as_it_is_on_the_wire() -> None:
    """At both ends of a cable, and longer on the slower one."""
    sent, received = lane("switch.p2").sent, lane("module.host").received
    assert sent.length_ns == received.length_ns == (WIRE_NS,) * FRAMES
    starts = list(accumulate(sent.start_ns))
    assert starts == [AROUND_NS + (number - 3) * WIRE_NS for number in range(FRAMES)]
    assert lane("module.line").sent.length_ns == lane("client").received.length_ns == (SLOW_NS,)


def test_drops_have_their_cause_and_pauses_their_end() -> None:
    """A PAUSE ends when it says so, or when another one with no quanta comes."""
    module = lane("module.line")
    assert module.drops.why == ("FIFO 16 KiB full, 15 140 B waiting",) * 3
    assert list(accumulate(module.drops.at_ns)) == [AROUND_NS + number * WIRE_NS for number in range(3)]
    assert (module.paused_from_ns, module.paused_ns) == ((AROUND_NS + 5000,), (2000,))


def test_the_fill_falls_when_a_frame_leaves_for_the_ring() -> None:
    """And begins with what was there."""
    module = lane("module.line")
    assert (module.holds, module.limit_bytes) == ("queue", 16 * 1024)
    assert module.fills.fill_bytes == (0, LENGTH_BYTES, 2 * LENGTH_BYTES, LENGTH_BYTES)
    assert lane("client").holds == ""


def test_frames_are_told_of_once() -> None:
    """By their numbers, with what their headers say."""
    seen = burst()
    assert seen.number == (1, 2, 3, 4, 5)
    assert seen.kind == (0,) * FRAMES
    assert seen.sequence == tuple(1448 * number for number in seen.number)
    assert seen.what[0] == "TCP 10.0.0.1 port 5201 to 10.0.0.2 port 40000"


def test_what_is_kept_is_read_back(tmp_path: Path) -> None:
    """The same picture, beside the measurement; a damaged one is told of and gone."""
    warnings: list[str] = []
    cache = MeasurementCache(Entries(tmp_path, warnings.append), "lab")
    assert cache.beside(plan(), "picture") is None
    cache.keep_beside(plan(), "picture", picture().to_json())
    kept = cache.beside(plan(), "picture")
    assert kept is not None
    assert parse_picture(kept) == picture()
    [path] = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[:-1] + b"!")
    assert cache.beside(plan(), "picture") is None
    assert "checksum" in warnings[0]
    assert not path.exists()


@pytest.mark.parametrize("content", [b"", b"[]", b'{"variant": "a"}', b"\xff"])
def test_what_is_no_picture_is_refused(content: bytes) -> None:
    """Whatever else may be there."""
    with pytest.raises(ValueError, match="no picture"):
        parse_picture(content)


def evidence(folder: Path, dropped: dict[int, int], paused: int | None = None) -> Evidence:
    """A run whose samples, by tenths of a second, count so many drops, or have a port paused."""
    files = recording()
    total = 0
    for tenth, sample in enumerate(files.samples):
        total += dropped.get(tenth, 0)
        sample["ports"]["module-line"]["dropped_frames"] = total
        sample["ports"]["switch-p2"]["paused"] = int(tenth == paused)
    return Evidence(plan(), read_result(plan(), files.write(folder / "raw")))


@pytest.mark.parametrize(
    ("dropped", "paused", "tenths"),
    [
        ({43: 5, 50: 80}, None, [(42, 43), (49, 50)]),
        ({43: 5}, None, [(42, 43)]),
        ({43: 5, 44: 9}, 20, [(42, 44)]),
        ({}, 45, [(44, 45)]),
        ({}, None, []),
    ],
)
def test_the_first_drop_and_the_most_drops_are_recorded(
    tmp_path: Path, dropped: dict[int, int], paused: int | None, tenths: list[tuple[int, int]]
) -> None:
    """One window where they are side by side; a pause where nothing was dropped; else none."""
    windows = [(a * G // 10 - AROUND_NS, b * G // 10 + AROUND_NS) for a, b in tenths]
    assert windows_ns(evidence(tmp_path, dropped, paused)) == tuple(windows)


def test_the_first_pause_is_looked_for_from_where_none_was_counted(tmp_path: Path) -> None:
    """From a reading of the counters to the first sample with a pause; then where most ports are paused."""
    files = recording()
    for snapshot in ("download:end", "end"):
        files.stats(snapshot, "switch-p2")["tx_paused_ns"] = 1_000
    for sample in files.samples:
        sample["ports"]["module-line"]["dropped_frames"] = 0
    files.samples[41]["ports"]["switch-p2"]["paused"] = 1
    for port in ("switch-p2", "server-eth0"):
        files.samples[55]["ports"][port]["paused"] = 1
    seen = Evidence(plan(), read_result(plan(), files.write(tmp_path / "raw")))
    start_ns = seen.result.snapshots["download:start"].at_ns
    assert windows_ns(seen) == (
        (start_ns - AROUND_NS, 41 * G // 10 + AROUND_NS),
        (54 * G // 10 - AROUND_NS, 55 * G // 10 + AROUND_NS),
    )


def test_the_flow_that_sends_at_the_port_is_followed() -> None:
    """Of two that pass by it."""
    assert followed(plan(), "module-line", AT_NS) == ("download: server to client", WAY)
    assert followed(plan(), "module-host", 2 * G)[0] == "upload: client to server"


def test_every_drop_of_the_record_is_in_the_picture() -> None:
    """None more, none fewer."""
    drops = [event for event in record() if isinstance(event, Dropped)]
    assert sum(len(one.drops.frame) for one in burst().lanes) == len(drops)
