"""Buses, and how a card names its own: ``pcie-3 x1`` is a part of the catalogue and a number of lanes."""

import re
from collections.abc import Mapping
from typing import Final

from wirelab.errors import unknown
from wirelab.model.types import Figure, PositiveCount, Rate, Ratio, Size, Titled, key

LANES: Final = (1, 2, 4, 8, 16)
_WORDS: Final = re.compile(r"([a-z0-9-]+)(?:\s+x([0-9]{1,3}))?", re.ASCII)


class Bus(Titled):
    """A standard by which a card is joined to its host, and what a frame costs on it."""

    lane: Figure[Rate] = key("The rate of one lane before line coding.")
    coding: Figure[Ratio] = key("The share of that rate that is data.")
    lanes: Figure[PositiveCount] = key("How many lanes are usual, where a card does not say.")
    payload: Figure[Size] = key("The most that one transaction carries; a frame is cut into such pieces.")
    overhead: Figure[Size] = key("What surrounds each transaction.")
    frame: Figure[Size] = key("Descriptors and doorbells of each frame.")


def bus_of(text: str, buses: Mapping[str, Bus]) -> tuple[Bus, int]:
    """The bus that ``pcie-3 x1`` or ``usb-3`` names, and its lanes. Raises ValueError for another.

    Without a number of lanes it is what is usual for the bus.
    """
    match = _WORDS.fullmatch(text.strip())
    if match is None:
        raise ValueError(
            f"`{text}` is not a bus; write its name and its lanes, such as `pcie-3 x1` or `usb-3`"
        )
    name, lanes = match[1], match[2]
    if name not in buses:
        raise ValueError(unknown("bus", name, sorted(buses)))
    if lanes is None:
        return buses[name], buses[name].lanes.value
    if int(lanes) not in LANES:
        raise ValueError(f"x{lanes}: a bus has {', '.join(f'x{count}' for count in LANES)}")
    return buses[name], int(lanes)
