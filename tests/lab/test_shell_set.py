"""What is set at the prompt of ``wirelab shell`` stays so, and what is kept of frames has its limit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.lab.sessions import switched_on, told
from wirelab.shell.around import Around

if TYPE_CHECKING:
    from pathlib import Path

    from wirelab.lab.select import Lab


def test_an_event_leaves_what_was_set_before_the_traffic(lab: Lab, tmp_path: Path) -> None:
    """It is about one setting of a port; the others are as they were set by then, and not as at the start."""
    file = tmp_path / "pulled.yaml"
    file.write_text(
        "name: pulled\nsource: {title: a test}\ntopology: one-switch\n"
        "with: {client.delay: 10 ms, client.reorder: 10 %}\n"
        "traffic:\n  - iperf3: {name: download, from: server, to: client, time: 2 s}\n"
        "events:\n  - {at: 500 ms, for: 100 ms, with: {client.link: down}}\n"
        "  - {at: 800 ms, with: {client.reorder: 0 %}}\n"
        "expect:\n  download: {goodput: ..1 Gbit/s}\n"
    )
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
