"""What happens in the network, in base units: flows of payload, and pings beside them.

Standard library only, as the Plan that they are part of.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Protocol = Literal["tcp", "udp"]
Pipeline = Literal["sequential", "overlapped"]


@dataclass(frozen=True, slots=True)
class Copy:
    """A program that reads a block, processes it and sends it; its peer takes the block and writes it.

    Each stage is a serial server: ``read_ps``, ``process_ps`` and ``write_ps`` are what a byte costs it,
    0 for nothing. Before each block the two exchange ``requests`` pairs of small messages, one after the
    other. ``sequential``: a block is written before the next one is read. ``overlapped``: the stages
    work at the same time, on one block each.
    """

    block_bytes: int
    pipeline: Pipeline
    read_ps: int = 0
    process_ps: int = 0
    write_ps: int = 0
    requests: int = 0


@dataclass(frozen=True, slots=True)
class Flow:
    """One flow of payload from ``start_ns`` on: an iperf3 run, or a program that copies (``copy``).

    ``start_ns`` counts from the instant the network is ready. Flows whose times overlap run together.
    One that is ``early`` comes after a transfer that may take less than its time, and then begins as
    many whole seconds before ``start_ns`` as that leaves. A flow lasts ``duration_ns``, or until
    ``size_bytes`` are sent, and then ``duration_ns`` is the longest it may take. ``congestion`` is None
    for UDP; ``bitrate_bps`` is None for as fast as possible; ``pacing_bps`` is the rate at which the
    kernel spaces the frames of a connection (SO_MAX_PACING_RATE), ``window_bytes`` the size of both
    socket buffers, ``dscp`` what the frames of both directions carry.
    """

    name: str
    sender: str
    receiver: str
    protocol: Protocol
    start_ns: int
    duration_ns: int
    port: int
    client_port: int
    congestion: str | None = None
    bitrate_bps: int | None = None
    payload_bytes: int | None = None
    parallel: int = 1
    size_bytes: int | None = None
    dscp: int | None = None
    pacing_bps: int | None = None
    window_bytes: int | None = None
    copy: Copy | None = None
    early: bool = False


@dataclass(frozen=True, slots=True)
class Ping:
    """ICMP echo requests from ``sender``, one every ``interval_ns`` from ``start_ns`` for ``duration_ns``."""

    name: str
    sender: str
    receiver: str
    start_ns: int
    duration_ns: int
    interval_ns: int
    dscp: int | None = None
    early: bool = False

    @property
    def count(self) -> int:
        """How many requests there are."""
        return max(self.duration_ns // self.interval_ns, 1)


def read_flow(raw: dict[str, Any]) -> Flow:
    """The Flow that ``dataclasses.asdict`` made into ``raw``."""
    copy = raw.get("copy")
    return Flow(**{**raw, "copy": Copy(**copy) if copy else None})
