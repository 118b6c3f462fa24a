"""What ``ping`` printed -> how long each echo took, and how many never came."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from wirelab.errors import LabError
from wirelab.results.rawjson import read_text
from wirelab.units import PPM, US_PER_MS

if TYPE_CHECKING:
    from pathlib import Path

    from wirelab.plan.traffic import Ping

_REPLY: Final = re.compile(r"icmp_seq=(\d+) ttl=\d+ time=([0-9.]+) ms( \(DUP!\))?$", re.MULTILINE)
_SUMMARY: Final = re.compile(r"^(\d+) packets transmitted, (\d+) received", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class PingResult:
    """What became of the echo requests of one ping.

    ``rtts_us`` are the round-trip times in the order of the requests, of those that were answered;
    ping prints three significant digits.
    """

    name: str
    sender: str
    receiver: str
    sent: int
    rtts_us: tuple[float, ...]

    @property
    def lost_ppm(self) -> float:
        """The share of the requests that were not answered, in parts per million."""
        return (self.sent - len(self.rtts_us)) * PPM / self.sent


def file_of(name: str) -> str:
    """Where in the raw folder the words of a ping are."""
    return f"flows/{name}.ping.txt"


def read_ping(ping: Ping, raw: Path) -> PingResult:
    """What ``ping`` left in the raw folder. Raises LabError when it does not end with ping's summary."""
    text = read_text(raw, file_of(ping.name))
    summary = _SUMMARY.search(text)
    if summary is None or not int(summary[1]):
        msg = f"{file_of(ping.name)}: ping did not come to its end"
        raise LabError(msg)
    replies = {int(number): float(ms) * US_PER_MS for number, ms, again in _REPLY.findall(text) if not again}
    rtts_us = tuple(replies[number] for number in sorted(replies))
    return PingResult(ping.name, ping.sender, ping.receiver, int(summary[1]), rtts_us)


def mean(values: tuple[float, ...]) -> float | None:
    """Their mean, None if there are none."""
    return sum(values) / len(values) if values else None


def percentile(values: tuple[float, ...], percent: int) -> float | None:
    """The smallest value that ``percent`` (1..100) of all values do not exceed; None if there are none.

    The nearest-rank definition (NIST/SEMATECH e-Handbook 7.2.6.2): always a value that was measured.
    """
    if not values:
        return None
    rank = -(-percent * len(values) // 100)
    return sorted(values)[max(rank, 1) - 1]
