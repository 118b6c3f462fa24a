"""The egress queue of a port. Standard library only, for the guest."""

from dataclasses import dataclass

OWN_QUEUE = "etherfifo"
"""The queue of a port's own, see ``kernel/driver/fifo.c``."""


@dataclass(frozen=True, slots=True)
class Red:
    """Random early detection, as datasheets have it: thresholds of the queue, and what happens between them.

    Below ``min_bytes`` nothing does, from ``max_bytes`` on every frame is marked or dropped; in between a
    share that grows to ``probability_ppm``. Two that are equal are a step, which has none.
    """

    min_bytes: int
    max_bytes: int
    probability_ppm: int = 0


@dataclass(frozen=True, slots=True)
class Queue:
    """The egress queue of a port, as a tc qdisc.

    ``kind`` is the qdisc's name as tc spells it; ``etherfifo`` is the port's own, which counts as its
    packet memory does. Its limit is in bytes (``bfifo``, ``red``, ``etherfifo``, ``cake``) or in
    frames (``pfifo``, ``fq``, ``fq_codel``); both are None where the qdisc keeps its own default.
    ``ecn`` says whether it marks instead of dropping, None for the qdisc's own default.
    """

    kind: str
    limit_bytes: int | None = None
    limit_frames: int | None = None
    ecn: bool | None = None
    red: Red | None = None
