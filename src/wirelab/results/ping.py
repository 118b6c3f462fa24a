"""What ``ping`` printed -> how long each echo took, and how many never came."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

from pydantic import Field

from wirelab.errors import LabError
from wirelab.model.types import Name, NodeName
from wirelab.plan.traffic import Ping
from wirelab.plan.traffic.ping import NO_WAY
from wirelab.results import rtt
from wirelab.results.rawjson import read_text
from wirelab.results.rtt import Rtt
from wirelab.results.values import Count
from wirelab.units import NS_PER_MS, PPM, US_PER_MS

_REPLY: Final = re.compile(r"icmp_seq=(\d+) ttl=\d+ time=([0-9.]+) ms( \(DUP!\))?$", re.MULTILINE)
_ANSWER: Final = re.compile(r"(\d{1,5}) (\d{1,12}(?:\.\d{1,12})?)")
"""What may be in it: a number of 16 bits, and a time."""
_SUMMARY: Final = re.compile(
    r"^(\d{1,12}) packets transmitted, \d+ received\b(?:.*\btime (\d{1,12})ms$)?", re.MULTILINE
)
_NUMBERS: Final = 1 << 16
"""So many has ``icmp_seq`` (RFC 792): after the last one comes 0."""


@dataclass(frozen=True, slots=True)
class PingResult:
    """What became of the echo requests of one ping. ``rtt`` is None where none was answered."""

    name: Name
    sender: Annotated[NodeName, Field(alias="from")]
    receiver: Annotated[NodeName, Field(alias="to")]
    sent: Annotated[Count, Field(gt=0)]
    received: Count
    rtt: Annotated[Rtt | None, Field(alias="rtt_us")]

    @property
    def lost_ppm(self) -> float:
        """The share of the requests that were not answered, in parts per million."""
        return (self.sent - self.received) * PPM / self.sent


@dataclass(frozen=True, slots=True)
class Echoes:
    """How many requests were ``sent``, and the round-trip time of those answered, by sequence number from 1.

    ping prints three significant digits. ``span_ns`` is from the first request to the last one: ping waits in
    ticks of its kernel, so that they are farther apart than it was told. None: it tells none.
    """

    sent: int
    rtt_us: Mapping[int, float]
    span_ns: int | None = None

    def asked_ns(self, ping: Ping, number: int) -> int:
        """The instant of the Plan at which a request left."""
        if self.span_ns is None or self.sent == 1:
            return ping.start_ns + (number - 1) * ping.interval_ns
        return ping.start_ns + (number - 1) * self.span_ns // (self.sent - 1)

    @property
    def digested(self) -> dict[str, object]:
        """What a digest takes of them: which requests were answered, and when."""
        return {"sent": self.sent, "answered": list(self.rtt_us), "rtts_us": list(self.rtt_us.values())}

    def result(self, ping: Ping) -> PingResult:
        """What the ping came to."""
        rtts_us = tuple(self.rtt_us.values())
        return PingResult(ping.name, ping.sender, ping.receiver, self.sent, len(rtts_us), Rtt.of(rtts_us))


def ping_figure(metric: str, ping: PingResult) -> float | None:
    """A metric of a ping in its base unit; None where nobody answered."""
    if metric == "lost":
        return ping.lost_ppm
    return rtt.FIGURES[metric](ping.rtt) if ping.rtt else None


def read_echoes(ping: Ping, raw: Path) -> Echoes:
    """What ``ping`` left in the raw folder: where no way led out of its host, all it was to ask is lost.

    Raises LabError when it does not end with ping's summary, or has numbers that are none.
    """
    text = read_text(raw, ping.sender_file)
    if not text and read_text(raw, ping.log_file).startswith(NO_WAY):
        return Echoes(ping.count, {})
    summary = _SUMMARY.search(text)
    if summary is None or not int(summary[1]):
        raise LabError(f"{ping.sender_file}: ping did not come to its end")
    sent, last, replies = int(summary[1]), 0, {}
    for told, ms, again in _REPLY.findall(text):
        if not _ANSWER.fullmatch(f"{told} {ms}") or int(told) >= _NUMBERS:
            raise LabError(f"{ping.sender_file}: icmp_seq={told[:20]} time={ms[:20]} ms is no answer")
        if not again:
            last = _request(int(told), last, sent)
            replies[last] = float(ms) * US_PER_MS
    span_ns = int(summary[2]) * NS_PER_MS if summary[2] else None
    return Echoes(sent, dict(sorted(replies.items())), span_ns)


def _request(told: int, last: int, sent: int) -> int:
    """Which request an answer is to: of those with that ``icmp_seq`` the nearest to the ``last`` answered."""
    first = told or _NUMBERS
    turns = round((last - first) / _NUMBERS)
    return first + _NUMBERS * max(min(turns, (sent - first) // _NUMBERS), 0)
