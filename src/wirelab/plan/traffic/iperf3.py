"""iperf3: a flow as fast as it can, or at a bitrate; every choice pinned that it or the kernel would make."""

from dataclasses import dataclass
from typing import ClassVar

from wirelab.plan.traffic.item import NO_CONNECTION, NS_PER_S, Flow

# What the client says when it was told to end.
INTERRUPTED = "interrupt - "
# What it says of UDP whose first datagram, or the answer to it, did not arrive: it sends that one once and
# waits for half a minute (iperf_udp_connect of 3.18).
NO_FIRST_DATAGRAM = "unable to read from stream socket"
# What it says when one end heard nothing of the other while it waited: ten seconds for a message, forty
# for all of them (its nread_read_timeout and grace_period). The network is too slow, or loses too much.
LOST_CONNECTION = (
    NO_FIRST_DATAGRAM,
    "control socket has closed unexpectedly",
    "unable to send control message",
    "unable to receive control message",
    "unable to read from the control socket",
    "unable to write to the control socket",
    "unable to send results",
    "unable to receive results",
    "the server has terminated",
)
# How long to knock where a firewall may have been told to answer nothing.
_CONNECT_MS = 10_000
# iperf3 spins when its bytes are sent and it has no bitrate (iperf_send_mt of 3.18), and in virtual time a
# loop that never reads the clock never ends. With a bitrate it reads the clock; this one is never reached.
_NO_BITRATE_BPS = 10**12
# What it reads and writes of a connection at once (DEFAULT_TCP_BLKSIZE).
_TCP_BLOCK_BYTES = 128 << 10
# It sees that its bytes are sent when an interval ends, and goes on sending until then; this is the shortest.
_SHORTEST_INTERVAL_S = "0.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Iperf3(Flow):
    """One run of iperf3, each of its connections, or streams of UDP, at ``bitrate_bps``.

    ``bitrate_bps`` is None for as fast as possible. ``pacing_bps`` is the rate at which the kernel spaces the
    frames of a connection (SO_MAX_PACING_RATE), ``window_bytes`` the size of both socket buffers.
    """

    tool: ClassVar[str] = "iperf3"
    findings: ClassVar[tuple[str, ...]] = (NO_CONNECTION, INTERRUPTED, *LOST_CONNECTION)

    bitrate_bps: int | None = None
    pacing_bps: int | None = None
    window_bytes: int | None = None

    @property
    def received_block_bytes(self) -> int | None:
        """A block of TCP is only counted; a datagram carries when it was sent."""
        return None if self.protocol == "udp" else self.payload_bytes or _TCP_BLOCK_BYTES

    def receiver_argv(self) -> list[str]:
        """The server, for one test."""
        return ["iperf3", "-s", "-1", "-J", "-i", "1", "-p", str(self.port)]

    def sender_argv(self, address: str, *, filtered: bool = False) -> list[str]:
        """The client; where a firewall may answer nothing it gives up after some seconds."""
        timed, udp = self.size_bytes is None, self.protocol == "udp"
        bitrate_bps = self.bitrate_bps
        if udp or not timed:
            bitrate_bps = bitrate_bps or (0 if timed else _NO_BITRATE_BPS)
        options = {
            "-i": "1" if timed else _SHORTEST_INTERVAL_S,
            "-c": address,
            "-p": self.port,
            "--cport": self.client_port,
            "--connect-timeout": _CONNECT_MS if filtered else None,
            "-t": f"{self.duration_ns / NS_PER_S:g}" if timed else None,
            "-n": self.size_bytes,
            "-P": self.parallel,
            "-u": udp or None,
            "-b": bitrate_bps,
            "-C": self.congestion,
            "-l": self.payload_bytes,
            "-w": self.window_bytes,
            "--dscp": self.dscp,
            "--fq-rate": self.pacing_bps,
        }
        argv = ["iperf3", "-J"]
        for option, value in options.items():
            if value is not None:
                argv += [option] if value is True else [option, str(value)]
        return argv
