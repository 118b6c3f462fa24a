"""What an explanation is: which mechanism bounds a flow, where, and the counters that prove it."""

from dataclasses import dataclass
from enum import StrEnum

from wirelab.units import PPM


class Mechanism(StrEnum):
    """What can keep a flow from being faster."""

    LINE = "line"
    FIFO = "FIFO"
    QUEUE = "queue"
    BUS = "bus"
    CPU = "CPU"
    STORAGE = "storage"
    WINDOW = "window"
    PAUSE = "pause"
    APPLICATION = "application"
    LOSS = "loss"


@dataclass(frozen=True, slots=True)
class Busy:
    """Something on the way of a flow that serves one frame or byte after another.

    ``share_ppm`` is the part of the flow's time in which it was at work, for whichever traffic; ``where`` is
    a person's name for it, such as ``the line from module.line to client``. ``own_ppm`` is the flow's own
    part of what was served.
    """

    mechanism: Mechanism
    where: str
    share_ppm: int
    own_ppm: int = PPM


@dataclass(frozen=True, slots=True)
class Bottleneck:
    """What bounds a flow, and the sentences that prove it."""

    flow: str
    mechanism: Mechanism
    where: str
    evidence: tuple[str, ...]
