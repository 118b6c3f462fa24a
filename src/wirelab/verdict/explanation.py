"""What an explanation is: which mechanism bounds a flow, where, and the counters that prove it."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Final

from pydantic import Field

from wirelab.model.types import Name
from wirelab.results.values import Label, Text
from wirelab.units import PPM

_MOST_SENTENCES: Final = 100
_MOST_PLACES: Final = 10

Sentences = Annotated[tuple[Text, ...], Field(max_length=_MOST_SENTENCES)]


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
    a person's name for it, such as ``the line from module.line to client``, ``at`` the labels of the ports
    or the nodes there. ``own_ppm`` is the flow's own part of what was served.
    """

    mechanism: Mechanism
    where: str
    share_ppm: int
    own_ppm: int = PPM
    at: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Bottleneck:
    """What bounds a flow, and the sentences that prove it.

    ``at`` are the labels of the ports there, or the names of the nodes: of a line both ends. ``chain`` tells
    how it comes about, a cause in each sentence.
    """

    flow: Name
    mechanism: Mechanism
    where: Text
    evidence: Sentences
    at: Annotated[tuple[Label, ...], Field(max_length=_MOST_PLACES)] = ()
    chain: Sentences = ()
