"""A host that captures its own traffic, as tcpdump and dumpcap do."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Capture:
    """A copy of each frame waits in a backlog until it is written: ``bytes_per_s`` are.

    With a full backlog of ``backlog_bytes`` a frame costs the CPU ``frame_ns``, with less in proportion. What
    finds no room in it is not captured.
    """

    frame_ns: int
    backlog_bytes: int
    bytes_per_s: int
