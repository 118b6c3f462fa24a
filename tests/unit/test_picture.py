"""The burst picture: what of a record it has, which moments it is of, and how it is kept."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate
from typing import TYPE_CHECKING

import pytest
from bursts import (
    AT_NS,
    FRAMES,
    LENGTH_BYTES,
    SLOW_NS,
    WAY,
    WIRE_NS,
    at_ps,
    burst,
    headers,
    in_moments,
    picture,
    record,
    written,
)
from recorded import G, plan, recording

from wirelab.report.closer import CloserLook, worth_a_look
from wirelab.report.picture import AROUND_NS, followed, parse_picture
from wirelab.results.record import MAGIC, Dropped, Event, Frame, Kind, Paused
from wirelab.results.result import read_result
from wirelab.runner.entries import Entries
from wirelab.runner.measurement_cache import MeasurementCache
from wirelab.runner.run_result import Evidence, RunResult, VariantResult

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


def looked_at(evidence: Evidence) -> bool:
    """Whether a run of this variant alone is worth a look."""
    variant = VariantResult.of(evidence.plan, None, (), evidence.result)
    run = replace(RunResult.missing("lossy", 1), variants=(variant,))
    return [one.plan.variant for one in worth_a_look(run)] == [evidence.plan.variant]


@pytest.mark.parametrize(
    ("dropped", "paused", "worth"),
    [({43: 5, 50: 80}, None, True), ({0: 5}, None, False), ({}, 45, True), ({}, None, False)],
)
def test_a_run_that_drops_or_pauses_is_worth_a_look(
    tmp_path: Path, dropped: dict[int, int], paused: int | None, *, worth: bool
) -> None:
    """What was dropped before the first sample is none of its traffic's."""
    assert looked_at(evidence(tmp_path, dropped, paused)) is worth


def test_a_pause_between_two_samples_is_worth_a_look(tmp_path: Path) -> None:
    """The counters tell of it."""
    files = recording()
    files.stats("end", "switch-p2")["tx_paused_ns"] = 1_000
    assert looked_at(Evidence(plan(), read_result(plan(), files.write(tmp_path / "raw"))))


def drop(ns: int) -> list[Frame | Event]:
    """A frame that is dropped so long after the first one of the record, with a number of its own."""
    number = 1 + abs(ns)
    return [
        Frame(at_ps(ns), number, LENGTH_BYTES, headers(number)),
        Dropped(at_ps(ns), Kind.DROPPED, "module-line", number, None, 15_140, 16_384),
    ]


def pause(ns: int, quanta: int = 100) -> list[Frame | Event]:
    """A pause of 1 us, or its end."""
    return [Paused(at_ps(ns), Kind.PAUSED, "switch-p2", 0, at_ps(ns + 1000), 0, quanta)]


MS = 1_000_000
BEFORE = -AT_NS - 1


@pytest.mark.parametrize(
    ("told", "moments"),
    [
        ([], []),
        (drop(0), [("first drop", 0)]),
        ([*drop(0), *drop(9 * MS), *drop(11 * MS)], [("first drop", 0), ("most drops", 10 * MS)]),
        # Of two times with as many the first counts, and so does one moment where they are the same.
        ([*drop(0), *drop(9 * MS)], [("first drop", 0), ("most drops", 0)]),
        # What was dropped while the network was set up hides which drop of the traffic is the first.
        ([*drop(BEFORE), *drop(0), *drop(2 * MS)], [("most drops", MS)]),
        ([*pause(0), *drop(5 * MS)], [("first drop", 5 * MS)]),
        ([*pause(0), *pause(1, quanta=0)], [("first pause", 0)]),
        (
            [*pause(0), *pause(20 * MS), *pause(22 * MS), *pause(23 * MS, quanta=0)],
            [("first pause", 0), ("most pauses", 21 * MS)],
        ),
    ],
)
def test_the_moments_are_the_first_and_that_with_the_most(
    tmp_path: Path, told: list[Frame | Event], moments: list[tuple[str, int]]
) -> None:
    """Of drops, where there are any; else of pauses, of which an end is none."""
    path = tmp_path / "moments.bin"
    path.write_bytes(in_moments((1, 1, written(told)[len(MAGIC) :])))
    picture = CloserLook(None).seen(evidence(tmp_path, {43: 5}), path)
    assert [(one.title, one.at_ns - AT_NS) for one in picture.moments] == moments
    assert [one.name for one in tmp_path.glob("*.bin")] == ["moments.bin"]


def test_the_flow_that_sends_at_the_port_is_followed() -> None:
    """Of two that pass by it."""
    assert followed(plan(), "module-line", AT_NS) == ("download: server to client", WAY)
    assert followed(plan(), "module-host", 2 * G)[0] == "upload: client to server"


def test_every_drop_of_the_record_is_in_the_picture() -> None:
    """None more, none fewer."""
    drops = [event for event in record() if isinstance(event, Dropped)]
    assert sum(len(one.drops.frame) for one in burst().lanes) == len(drops)
