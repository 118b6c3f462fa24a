"""iperf3's two JSON files of a flow -> what the flow achieved."""

import math
from itertools import dropwhile
from pathlib import Path
from typing import Final

from wirelab.plan.traffic import Flow
from wirelab.plan.traffic.iperf3 import INTERRUPTED, LOST_CONNECTION, Iperf3
from wirelab.results.datagrams import sent_and_lost
from wirelab.results.flow import FlowResult, goodput_bps
from wirelab.results.rawjson import Field, parse_json, read_text
from wirelab.results.rtt import Rtt
from wirelab.units import BITS_PER_BYTE, NS_PER_S

_MOST_SENT: Final = 1.25
_NOTHING_CAME: Final = "error - idle timeout for receiving data"
"""The server's word for a connection on which nothing arrived while it looked: its figures are whole."""
_CLIENT_GONE: Final = (
    *(INTERRUPTED, *LOST_CONNECTION, "idle timeout", "the client has", "stream socket has closed"),
    *("unable to receive", "unable to read", "unable to write"),
)
"""What a server says that heard nothing of its client for too long, or was ended meanwhile."""


def read_report(raw: Path, name: str) -> Field:
    """iperf3's JSON in the file ``name`` of a raw folder, without the warnings it puts in front of it.

    It warns, for one, of UDP datagrams that are longer than the TCP MSS. Raises LabError as read_json does.
    """
    lines = read_text(raw, name).splitlines(keepends=True)
    return parse_json(name, "".join(dropwhile(lambda line: line.startswith("warning: "), lines)))


def connected(client: Field) -> bool:
    """Whether the client has reached its server and kept it: if not, that is no error of the lab.

    It says so itself, or was still trying when its time was over.
    """
    words = _error(client)
    if words.startswith(INTERRUPTED):
        return any(client["start"]["connected"].elements())
    return not words.startswith(Iperf3.findings)


def lost_connection(client: Field) -> str:
    """What the client says of the connection it lost, empty if it lost none."""
    words = _error(client)
    return words if words.startswith(LOST_CONNECTION) else ""


def require_server(raw: Path, name: str) -> None:
    """Raise LabError where the server of a client that did not reach it, or lost it, had failed by itself."""
    # One that was ended while it waited has written nothing.
    if (raw / name).exists() and read_text(raw, name).strip():
        server = read_report(raw, name)
        words = _error(server)
        if words and not words.removeprefix("error - ").startswith(_CLIENT_GONE):
            raise server.broken(f"iperf3 stopped: {words}")


def _error(side: Field) -> str:
    error = side.get("error")
    return "" if error is None else error.text()


def parse_flow(flow: Flow, client: Field, server: Field) -> FlowResult:
    """The figures of ``flow`` from the sender's (client) and the receiver's (server) file.

    Goodput comes from the server's own file, bytes and seconds of one clock at one place; its bytes
    are what was delivered, so that nothing has to be taken off for UDP loss. The client's file
    repeats them rounded, and in older versions with its own bytes for UDP.

    Raises LabError when a file is incomplete, holds an error of iperf3 (but that it was interrupted, as a
    transfer is whose time is over, or that nothing came), or the two are not of the same run.
    """
    finished = True
    for side in (client, server):
        words = _error(side)
        if words.startswith(INTERRUPTED):
            finished = False
        elif words not in ("", _NOTHING_CAME):
            raise side.broken(f"iperf3 stopped: {words}")
    cookie = server["start"]["cookie"]
    if client["start"]["cookie"].text() != cookie.text():
        raise cookie.broken(f"belongs to another run than {client.file}")

    sent = client["end"]["sum_sent"]["bytes"]
    if flow.size_bytes is not None and sent.integer() > flow.size_bytes * _MOST_SENT:
        raise sent.broken(
            f"{sent.integer()} bytes were sent, {flow.size_bytes} were asked for: iperf3 looks only ten "
            "times a second whether it is done; for so short a transfer write `copy`"
        )
    received = server["end"]["sum_received"]
    udp, achieved_bps = flow.protocol == "udp", goodput_bps(received)
    datagrams, lost = sent_and_lost(client, server) if udp else (None, None)
    duration_s = None
    if finished and flow.size_bytes is not None and achieved_bps:
        # iperf3 stops its clocks when the last byte is with the sender's socket, not with the receiver.
        duration_s = flow.size_bytes * BITS_PER_BYTE / achieved_bps
    return FlowResult(
        name=flow.name,
        sender=flow.sender,
        receiver=flow.receiver,
        protocol=flow.protocol,
        goodput_bps=achieved_bps,
        retransmits=None if udp else client["end"]["sum_sent"]["retransmits"].integer(),
        lost_datagrams=lost,
        rtt=None if udp else _rtt(client),
        intervals_bps=_intervals(server, None if flow.size_bytes is not None else flow.duration_ns),
        sent_datagrams=datagrams,
        duration_s=duration_s,
        reached_bytes=None if finished else received["bytes"].integer(),
    )


def _rtt(client: Field) -> Rtt:
    streams = [stream["sender"] for stream in client["end"]["streams"].elements()]
    if not streams:
        raise client["end"]["streams"].broken("expected at least one stream")
    means = [stream["mean_rtt"].number() for stream in streams]
    return Rtt(
        min_us=min(stream["min_rtt"].number() for stream in streams),
        mean_us=sum(means) / len(means),
        max_us=max(stream["max_rtt"].number() for stream in streams),
    )


def _intervals(server: Field, duration_ns: int | None) -> tuple[float, ...]:
    """The receiver's figures, without the stub of an interval that the end of a test leaves.

    The server reports once more when the client is done, for whatever part of a second has passed; where the
    client's last word is late, because of losses, for seconds that are no more of ``duration_ns``.
    """
    sums = [interval["sum"] for interval in server["intervals"].elements()]
    longest_s = max((total["seconds"].number() for total in sums), default=0.0)
    over_s = math.inf if duration_ns is None else duration_ns / NS_PER_S
    whole = (
        total
        for total in sums
        if total["seconds"].number() * 2 > longest_s and total["start"].number() + longest_s / 2 < over_s
    )
    return tuple(total["bits_per_second"].number() for total in whole)
