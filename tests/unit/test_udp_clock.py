"""A flow over UDP is judged by its own time, whatever its receiver's clock has of the way there and back."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from recorded import G, iperf3, plan, recording, with_ports

from wirelab.plan.types import Netem
from wirelab.results.result import read_result
from wirelab.verdict.bottleneck import bottlenecks
from wirelab.verdict.explanation import Bottleneck, Mechanism

if TYPE_CHECKING:
    from pathlib import Path

RATE_BPS = 100_000_000
SENT_BYTES = RATE_BPS // 8 * 2


def _found(folder: Path, *, delay_ns: int, clock_s: float) -> Bottleneck:
    """Of a flow at a bitrate for 2 s, all of which came, by a clock that ran for so long."""
    far = with_ports(plan(), "module-line", "module-host", netem=Netem(delay_ns=delay_ns))
    upload, download = far.flows
    upload = replace(upload, protocol="udp", congestion=None, bitrate_bps=RATE_BPS)  # type: ignore[call-arg]
    far = replace(far, traffic=(upload, download))
    recorded = recording(far, dropped=0)
    client, server = iperf3("udp.client"), iperf3("udp.server")
    server["end"]["sum_received"] |= {
        "bytes": SENT_BYTES,
        "seconds": clock_s,
        "bits_per_second": SENT_BYTES * 8 / clock_s,
    }
    server["intervals"][0]["sum"]["bytes"] = SENT_BYTES
    for interval in server["intervals"][1:]:
        interval["sum"]["bytes"] = 0
    recorded.flows |= {"upload.client": client, "upload.server": server}
    result = read_result(far, recorded.write(folder))
    return next(one for one in bottlenecks(far, result) if one.flow == "upload")


def test_what_came_at_the_bitrate_is_bound_by_it_however_far_it_is(tmp_path: Path) -> None:
    """The receiver hears a round trip later than it began that it is over, and the explanation says so."""
    found = _found(tmp_path, delay_ns=G // 4, clock_s=2.5)
    assert (found.mechanism, found.where) == (Mechanism.APPLICATION, "the bitrate of client")
    assert found.evidence[0] == "the bitrate of client was busy 100 % of the time"
    clock = (
        "goodput is by the clock of server, which ran for 2.50 s: 500 ms of that is the way there and back"
    )
    assert clock in found.evidence


@pytest.mark.parametrize("delay_ns", [0, G // 100])
def test_what_came_late_for_another_reason_is_not(tmp_path: Path, delay_ns: int) -> None:
    """A clock that runs on because datagrams wait is what the network makes of it."""
    found = _found(tmp_path, delay_ns=delay_ns, clock_s=2.5)
    assert found.mechanism is not Mechanism.APPLICATION
