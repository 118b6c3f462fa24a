"""iperf3: a flow as fast as it can, or at a bitrate; every choice pinned that it or the kernel would make."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from wirelab.plan.traffic.item import NS_PER_S, Flow

# What the client says when it never reached its server, and when it was told to end.
NO_CONNECTION = "unable to connect"
INTERRUPTED = "interrupt - "
# How long to knock where a firewall may have been told to answer nothing.
_CONNECT_MS = 10_000
# iperf3 spins when its bytes are sent and it has no bitrate (iperf_send_mt of 3.18), and in virtual time a
# loop that never reads the clock never ends. With a bitrate it reads the clock; this one is never reached.
_NO_BITRATE_BPS = 10**12
# It sees that its bytes are sent when an interval ends, and goes on sending until then; this is the shortest.
_SHORTEST_INTERVAL_S = "0.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Iperf3(Flow):
    """One run of iperf3, each of its connections, or streams of UDP, at ``bitrate_bps``.

    ``bitrate_bps`` is None for as fast as possible. ``pacing_bps`` is the rate at which the kernel spaces the
    frames of a connection (SO_MAX_PACING_RATE), ``window_bytes`` the size of both socket buffers.
    """

    tool: ClassVar[str] = "iperf3"

    bitrate_bps: int | None = None
    pacing_bps: int | None = None
    window_bytes: int | None = None

    def is_measurement(self, code: int, words: str) -> bool:  # noqa: ARG002 - its words say all
        """That it reached nobody, or was not done in its time, is what was to be found out."""
        return words.startswith((NO_CONNECTION, INTERRUPTED))

    def receiver_argv(self) -> list[str]:
        """The server, for one test."""
        return ["iperf3", "-s", "-1", "-J", "-i", "1", "-p", str(self.port)]

    def sender_argv(self, address: str, *, filtered: bool = False) -> list[str]:
        """The client; where a firewall may answer nothing it gives up after some seconds."""
        interval_s = "1" if self.size_bytes is None else _SHORTEST_INTERVAL_S
        argv = ["iperf3", "-J", "-i", interval_s, "-c", address, "-p", str(self.port)]
        argv += ["--cport", str(self.client_port)]
        if filtered:
            argv += ["--connect-timeout", str(_CONNECT_MS)]
        if self.size_bytes is None:
            argv += ["-t", f"{self.duration_ns / NS_PER_S:g}"]
        else:
            argv += ["-n", str(self.size_bytes)]
        argv += ["-P", str(self.parallel)]
        bitrate_bps = self.bitrate_bps
        if self.protocol == "udp":
            argv += ["-u"]
            bitrate_bps = bitrate_bps or 0
        if self.size_bytes is not None:
            bitrate_bps = bitrate_bps or _NO_BITRATE_BPS
        for option, value in (
            ("-b", bitrate_bps),
            ("-C", self.congestion),
            ("-l", self.payload_bytes),
            ("-w", self.window_bytes),
            ("--dscp", self.dscp),
            ("--fq-rate", self.pacing_bps),
        ):
            if value is not None:
                argv += [option, str(value)]
        return argv
