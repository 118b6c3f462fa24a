"""iperf3's two JSON files of a flow -> what the flow achieved."""

from __future__ import annotations

from itertools import dropwhile
from typing import TYPE_CHECKING, Final

from wirelab.plan.traffic.iperf3 import INTERRUPTED, NO_CONNECTION
from wirelab.results.flow import FlowResult, duration_s
from wirelab.results.rawjson import parse_json, read_text
from wirelab.results.rtt import Rtt
from wirelab.units import BITS_PER_BYTE

if TYPE_CHECKING:
    from pathlib import Path

    from wirelab.plan.traffic import Flow
    from wirelab.results.rawjson import Field


_MOST_SENT: Final = 1.25


def read_report(raw: Path, name: str) -> Field:
    """iperf3's JSON in the file ``name`` of a raw folder, without the warnings it puts in front of it.

    It warns, for one, of UDP datagrams that are longer than the TCP MSS. Raises LabError as read_json does.
    """
    lines = read_text(raw, name).splitlines(keepends=True)
    return parse_json(name, "".join(dropwhile(lambda line: line.startswith("warning: "), lines)))


def connected(client: Field) -> bool:
    """Whether the client has reached its server: if not, that is no error of the lab.

    It says so itself, or was still trying when its time was over.
    """
    error = client.get("error")
    if error is None or not error.text().startswith((NO_CONNECTION, INTERRUPTED)):
        return True
    return error.text().startswith(INTERRUPTED) and any(client["start"]["connected"].elements())


def parse_flow(flow: Flow, client: Field, server: Field) -> FlowResult:
    """The figures of ``flow`` from the sender's (client) and the receiver's (server) file.

    Goodput comes from the server's own file, bytes and seconds of one clock at one place; its bytes
    are what was delivered, so that nothing has to be taken off for UDP loss. The client's file
    repeats them rounded, and in older versions with its own bytes for UDP.

    Raises LabError when a file is incomplete, holds an error of iperf3 (but that it was interrupted, as a
    transfer is whose time is over), or the two are not of the same run.
    """
    finished = True
    for side in (client, server):
        error = side.get("error")
        if error is not None and not error.text().startswith(INTERRUPTED):
            raise side.broken(f"iperf3 stopped: {error.text()}")
        finished &= error is None
    cookie = server["start"]["cookie"]
    if client["start"]["cookie"].text() != cookie.text():
        raise cookie.broken(f"belongs to another run than {client.file}")

    sent = client["end"]["sum_sent"]["bytes"]
    if flow.size_bytes is not None and sent.integer() > flow.size_bytes * _MOST_SENT:
        msg = (
            f"{sent.integer()} bytes were sent, {flow.size_bytes} were asked for: iperf3 looks only ten "
            "times a second whether it is done; for so short a transfer write `copy`"
        )
        raise sent.broken(msg)
    received = server["end"]["sum_received"]
    seconds = received["seconds"]
    if seconds.number() <= 0:
        raise seconds.broken("expected a time above 0")
    udp = flow.protocol == "udp"
    goodput_bps = received["bytes"].integer() * BITS_PER_BYTE / seconds.number()
    return FlowResult(
        name=flow.name,
        sender=flow.sender,
        receiver=flow.receiver,
        protocol=flow.protocol,
        goodput_bps=goodput_bps,
        retransmits=None if udp else client["end"]["sum_sent"]["retransmits"].integer(),
        lost_datagrams=received["lost_packets"].integer() if udp else None,
        rtt=None if udp else _rtt(client),
        intervals_bps=_intervals(server),
        sent_datagrams=received["packets"].integer() if udp else None,
        duration_s=duration_s(flow, goodput_bps) if finished else None,
        reached_bytes=None if finished else received["bytes"].integer(),
    )


def _rtt(client: Field) -> Rtt:
    streams = [stream["sender"] for stream in client["end"]["streams"].elements()]
    if not streams:
        msg = "expected at least one stream"
        raise client["end"]["streams"].broken(msg)
    means = [stream["mean_rtt"].number() for stream in streams]
    return Rtt(
        min_us=min(stream["min_rtt"].number() for stream in streams),
        mean_us=sum(means) / len(means),
        max_us=max(stream["max_rtt"].number() for stream in streams),
    )


def _intervals(server: Field) -> tuple[float, ...]:
    """The receiver's figures, without the stub of an interval that the end of a test leaves.

    The server reports once more when the client is done, for whatever part of a second has passed.
    """
    sums = [interval["sum"] for interval in server["intervals"].elements()]
    longest_s = max((total["seconds"].number() for total in sums), default=0.0)
    return tuple(
        total["bits_per_second"].number() for total in sums if total["seconds"].number() * 2 > longest_s
    )
