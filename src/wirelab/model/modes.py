"""Link modes: a speed and a duplex, as a scenario writes them and as ethtool calls them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

from wirelab.errors import unknown
from wirelab.units import RATE, parse, parse_range, show

Duplex = Literal["full", "half"]

AUTO: Final = "auto"
"""What a speed is where the two ends of a cable agree on one."""


@dataclass(frozen=True, slots=True, order=True)
class Mode:
    """What two PHYs can agree on. It prints as a scenario writes it: ``100 Mbit/s half``, ``1 Gbit/s``."""

    speed_bps: int
    duplex: Duplex = "full"

    def __str__(self) -> str:
        """The speed, and the duplex where it is not the usual one."""
        return show(self.speed_bps, RATE) + (" half" if self.duplex == "half" else "")

    @property
    def ethtool(self) -> str:
        """The name that the kernel gives it: ``100baseT_Half``."""
        return _NAMES[self]


_NAMES: Final = {
    Mode(10_000_000, "half"): "10baseT_Half",
    Mode(10_000_000): "10baseT_Full",
    Mode(100_000_000, "half"): "100baseT_Half",
    Mode(100_000_000): "100baseT_Full",
    Mode(1_000_000_000): "1000baseT_Full",
    Mode(2_500_000_000): "2500baseT_Full",
    Mode(5_000_000_000): "5000baseT_Full",
    Mode(10_000_000_000): "10000baseT_Full",
    Mode(25_000_000_000): "25000baseCR_Full",
}

MODES: Final = tuple(_NAMES)
"""Every mode that a port of the lab can have, the slowest first."""

MODE_OF: Final = {name: mode for mode, name in _NAMES.items()}
"""The mode that the kernel gives a name."""

HALF_DUPLEX_ENDS: Final = "half duplex is for 10 and 100 Mbit/s only"


def parse_mode(text: str) -> Mode:
    """``100 Mbit/s half``, or ``2.5 Gbit/s`` for full duplex. Raises ValueError for what no port has."""
    words = text.strip()
    duplex: Duplex = "full"
    for word in ("full", "half"):
        if words.endswith(f" {word}"):
            duplex, words = word, words.removesuffix(word)
    mode = Mode(parse(words, RATE), duplex)
    if mode not in MODES:
        if mode.duplex == "half" and Mode(mode.speed_bps) in MODES:
            raise ValueError(f"`{text}`: {HALF_DUPLEX_ENDS}")
        speeds = (show(known.speed_bps, RATE) for known in MODES if known.duplex == "full")
        raise ValueError(unknown("speed", show(mode.speed_bps, RATE), speeds))
    return mode


def parse_modes(text: str) -> tuple[Mode, ...]:
    """Modes separated by commas, or all in a range of speeds: ``10..2500 Mbit/s``, in both duplexes.

    Raises ValueError for what is neither, or a range that has no mode in it.
    """
    if ".." not in text:
        return tuple(dict.fromkeys(parse_mode(word) for word in text.split(",")))
    low, high = parse_range(text, RATE)
    modes = tuple(
        mode for mode in MODES if (low or 0) <= mode.speed_bps and (high is None or mode.speed_bps <= high)
    )
    if not modes:
        raise ValueError(f"there is no speed in `{text}`")
    return modes


def listed(modes: Iterable[Mode]) -> str:
    """Modes as a message lists them."""
    return ", ".join(map(str, modes))
