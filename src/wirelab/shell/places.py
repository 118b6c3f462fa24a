"""Where each frame is at an instant, as the driver tells it (kernel/driver/show.c)."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from wirelab.errors import LabError

PLACES: Final = {
    "queue": "egress queue",
    "tx_ring": "TX ring",
    "wire": "being sent",
    "cable": "on the cable",
    "buffer": "packet buffer",
    "rx_fifo": "in front of the RX ring",
    "rx_ring": "RX ring",
    "rx_done": "with the CPU",
    "forwarding": "being forwarded",
}
"""The places of a port, in the order in which a frame comes through, and what they are called."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A frame somewhere: its number, 0 for none yet, and how many segments it will be."""

    number: int
    length_bytes: int
    segments: int
    headers: bytes


@dataclass(slots=True)
class Place:
    """A place of a port and what is there; a ``limit`` of 0 is none, that of a ring counts frames."""

    name: str
    fill_bytes: int
    fill_frames: int
    limit: int
    frames: list[Waiting] = field(default_factory=list)


@dataclass(slots=True)
class PortPlaces:
    """A port by its interface name, whether it has a link, and until when it is to be silent."""

    name: str
    has_link: bool
    speed_mbps: int
    paused_until_ps: int
    places: list[Place] = field(default_factory=list)


def read_places(text: str) -> list[PortPlaces]:
    """What the driver tells. Raises LabError for anything else."""
    try:
        return list(_ports(text))
    except (ValueError, IndexError) as error:
        raise LabError("nobody understands what the lab shows", hint=text[:200]) from error


def _ports(text: str) -> Iterator[PortPlaces]:
    port: PortPlaces | None = None
    for line in text.splitlines():
        word, *rest = line.split()
        if word == "port":
            if port:
                yield port
            port = PortPlaces(rest[0], rest[1] == "1", int(rest[2]), int(rest[3]))
        elif port is None:
            raise ValueError(line)
        elif word == "frame":
            headers = bytes.fromhex(rest[3]) if rest[3:] else b""
            port.places[-1].frames.append(Waiting(int(rest[0]), int(rest[1]), int(rest[2]), headers))
        else:
            fill_bytes, fill_frames, limit = map(int, rest)
            port.places.append(Place(word, fill_bytes, fill_frames, limit))
    if port:
        yield port
