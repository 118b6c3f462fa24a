"""What is set at the prompt of ``wirelab shell`` stays so, and what is kept of frames has its limit."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from tests.lab.sessions import switched_on, told
from wirelab.errors import InputError
from wirelab.shell.around import Around

if TYPE_CHECKING:
    from pathlib import Path

    from wirelab.lab.select import Lab

REORDERED = "client.delay: 10 ms, client.reorder: 10 %"


def written(folder: Path, settings: str, *events: str) -> Path:
    """A scenario in which a client downloads for 2 s by a path with settings of its own."""
    file = folder / "set.yaml"
    file.write_text(
        f"name: set\nsource: {{title: a test}}\ntopology: one-switch\nwith: {{{settings}}}\n"
        "traffic:\n  - iperf3: {name: download, from: server, to: client, time: 2 s}\n"
        f"events: [{', '.join(events)}]\nexpect:\n  download: {{goodput: ..1 Gbit/s}}\n"
    )
    return file


def test_an_event_leaves_what_was_set_before_the_traffic(lab: Lab, tmp_path: Path) -> None:
    """It is about one setting of a port; the others are as they were set by then, and not as at the start."""
    pulled = "{at: 500 ms, for: 100 ms, with: {client.link: down}}"
    over = "{at: 800 ms, with: {client.reorder: 0 %}}"
    file = written(tmp_path, REORDERED, pulled, over)
    with switched_on(lab, file=file) as one:
        told(one, "set client.delay 50 ms", "start", "run 1 s")
        assert "delay 50ms" in told(one, "client tc qdisc show dev client-eth0")
        # The link is negotiated anew, and how often Linux before 6.5 knocks meanwhile doubles each time.
        assert "the traffic is over" in told(one, "run 20 s")


def test_what_is_kept_of_frames_has_its_limit_however_often_one_looks(lab: Lab) -> None:
    """Each time that it stands, all that has happened is in the record's file."""
    limit_bytes = 100_000
    with switched_on(lab, Around(record_bytes=limit_bytes)) as one:
        told(one, "start download", *["run 200 us"] * 20)
        record_bytes = one._up.record.stat().st_size  # noqa: SLF001 - nobody else asks
    assert limit_bytes - 400 < record_bytes <= limit_bytes


def test_what_is_set_while_traffic_runs_outlasts_its_events(lab: Lab, tmp_path: Path) -> None:
    """An event is about one setting of a port, whenever another was set; and what it made lasts for `set`."""
    file = written(
        tmp_path,
        REORDERED,
        "{at: 500 ms, with: {client.reorder: 20 %}}",
        "{at: 1 s, with: {client.delay: 30 ms}}",
        "{at: 1500 ms, with: {client.reorder: 0 %}}",
    )
    path = "client tc qdisc show dev client-eth0"
    with switched_on(lab, file=file) as one:
        assert "event: client.reorder 20 %" in told(one, "start", "run 600 ms")
        told(one, "set client.delay 50 ms")
        assert {"delay 50ms", "reorder 20%"} <= _words(told(one, path))
        with pytest.raises(InputError, match="an event has set that"):
            told(one, "set client.reorder 30 %")
        told(one, "run 600 ms")
        assert {"delay 30ms", "reorder 20%", "gap 1"} <= _words(told(one, path))
        told(one, "set client.jitter 1 ms", "back 100 us", "set client.jitter 2 ms", "run 1 s")
        said = told(one, path)
        assert "delay 30ms  2ms" in said
        # The ratio stays what it was last, but without a gap nothing is reordered (sch_netem.c).
        assert "gap" not in said


def test_what_happens_happens_once_whatever_is_started_meanwhile(lab: Lab, tmp_path: Path) -> None:
    """Each start has a time of its own, but there is one network: events go by the time of the first."""
    file = written(tmp_path, "client.delay: 10 ms", "{at: 500 ms, with: {client.delay: 30 ms}}")
    text = file.read_text(encoding="utf-8")
    ping = "  - ping: {name: ping, from: client, to: server, time: 1 s}\n"
    file.write_text(text.replace("events:", f"{ping}events:"), encoding="utf-8")
    with switched_on(lab, file=file) as one:
        said = told(one, "start download", "run 100 ms", "start ping", "run 4 s")
        assert said.count("event: client.delay 30 ms") == 1
        assert "events happen once, in the time of the traffic that runs already" in said
        assert said.count("the traffic is over") == 2


def test_a_setting_that_failed_can_be_set_again(lab: Lab, tmp_path: Path) -> None:
    """What tc refuses is not so, and tc hears what it is told next."""
    file = written(tmp_path, "client.delay: 10 ms")
    queue = "client tc qdisc {} dev client-eth0 "
    with switched_on(lab, file=file) as one:
        handle = told(one, queue.format("show")).split()[2]
        own = f"root handle {handle}"
        told(one, queue.format("del") + "root", queue.format("add") + f"{own} pfifo")
        with pytest.raises(InputError, match="Invalid qdisc name"):
            told(one, "set client.delay 50 ms")
        told(one, queue.format("del") + "root", queue.format("add") + f"{own} netem limit 1000 delay 10ms")
        told(one, queue.format("add") + f"parent {handle} fq_codel", "set client.delay 50 ms")
        assert "delay 50ms" in told(one, queue.format("show"))


def _words(said: str) -> set[str]:
    """What a queue's line says, in pairs."""
    words = said.split()
    return {f"{name} {value}" for name, value in pairwise(words)}
