"""What a setting is: whose it may be, what it is measured in, from where to where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from wirelab.units import UnitError, parse, show

if TYPE_CHECKING:
    from wirelab.units import Quantity

Owner = Literal[
    "host",
    "firewall",
    "firewall port",
    "switch",
    "switch port",
    "module",
    "module port",
    "hub",
    "cable",
    "network",
]
Word = Literal[
    "on_off",
    "nic",
    "storage",
    "congestion",
    "queue",
    "queue_limit",
    "speed",
    "duplex",
    "modes",
    "bus",
    "priorities",
    "trust",
    "packets",
]


@dataclass(frozen=True, slots=True)
class Limits:
    """The least and the most that a setting can be, in its base unit, and what sets the limit."""

    least: int = 0
    most: int | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class SettingKind:
    """One setting.

    ``kind`` is the quantity it is measured in, or the word for how it is written. ``default`` is what
    holds where nobody says anything.
    """

    name: str
    kind: Quantity | Word
    owners: tuple[Owner, ...]
    text: str
    example: str
    default: str = "the part's"
    limits: Limits = Limits()
    since: str = "0.1.0"

    def parse(self, text: str) -> int:
        """A value of this quantity in its base unit. Raises UnitError, for one out of its limits, too."""
        assert not isinstance(self.kind, str)  # noqa: S101 - for those that are measured
        value = parse(text, self.kind)
        least, most = self.limits.least, self.limits.most
        if value < least:
            raise UnitError(f"`{text.strip()}` is less than `{self.name}` can be, {show(least, self.kind)}")
        if most is not None and value > most:
            bound = f"`{text.strip()}` is more than `{self.name}` can be, {show(most, self.kind)}"
            raise UnitError(f"{bound}: {self.limits.reason}")
        return value
