"""A scale: the values that a setting or a student's figure may have."""

import itertools
import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Self

from wirelab.errors import unknown
from wirelab.model.exercise import Range
from wirelab.units import Quantity, parse, parse_range, show, show_range

MOST_VALUES: Final = 10_000
_MOST_TOGETHER: Final = 1_000
_MOST_ENDS: Final = 8


@dataclass(frozen=True, slots=True)
class Scale:
    """A list of values, or a range of a quantity, in base units; a range without a ``step`` is continuous."""

    listed: tuple[str, ...] = ()
    quantity: Quantity | None = None
    low: int = 0
    high: int = 0
    step: int = 0

    @classmethod
    def read(cls, said: Range, quantity: Quantity | None) -> Self:
        """What a file says. Raises ValueError for what is no scale of ``quantity``, None for words."""
        if said.values:
            if quantity is not None:
                for text in said.values:
                    parse(text, quantity)
            if len(set(said.values)) < len(said.values):
                raise ValueError("has a value twice")
            return cls(said.values, quantity)
        if quantity is None:
            raise ValueError("is no quantity, so it has no `range`: list its `values`")
        low, high = parse_range(said.range or "", quantity)
        if low is None or high is None:
            raise ValueError(f"`{said.range}` has an open end: give the least and the most")
        step = parse(said.step, quantity) if said.step else 0
        if said.step and (step <= 0 or (high - low) // step >= MOST_VALUES):
            raise ValueError(f"steps of `{said.step}` give more than {MOST_VALUES} values")
        return cls((), quantity, low, high, step)

    @property
    def count(self) -> int:
        """How many values it has; 0 for a continuous one."""
        if self.listed:
            return len(self.listed)
        return (self.high - self.low) // self.step + 1 if self.step else 0

    def value(self, index: int) -> str:
        """One of its values, from the least on, as a scenario would write it."""
        if self.listed:
            return self.listed[index]
        return self._shown(self.low + index * self.step)

    @property
    def ends(self) -> tuple[str, str]:
        """The first and the last of its values."""
        if self.count:
            return self.value(0), self.value(self.count - 1)
        return self._shown(self.low), self._shown(self.high)

    def spread(self, count: int) -> tuple[str, ...]:
        """So many of its values, or as many as there are, from the first to the last; at least 2."""
        last = self.count - 1 if self.count else self.high - self.low
        indices = dict.fromkeys(last * part // (count - 1) for part in range(count))
        return tuple(self.value(index) if self.count else self._shown(self.low + index) for index in indices)

    @property
    def words(self) -> str:
        """What it admits, for a person: ``on, off`` or ``4..64 KiB in steps of 4 KiB``."""
        if self.listed or self.quantity is None:
            return ", ".join(self.listed)
        between = show_range(self.low, self.high, self.quantity)
        return f"{between} in steps of {self._shown(self.step)}" if self.step else between

    def admitted(self, text: str) -> str:
        """``text`` as the scale writes it. Raises ValueError for what is not on it."""
        if self.quantity is None:
            if text.strip() not in self.listed:
                raise ValueError(unknown("value", text.strip(), self.listed))
            return text.strip()
        value = parse(text, self.quantity)
        if self.listed:
            for own in self.listed:
                if parse(own, self.quantity) == value:
                    return own
            raise ValueError(f"`{text.strip()}` is none of {self.words}")
        if not self.low <= value <= self.high or (self.step and (value - self.low) % self.step):
            raise ValueError(f"`{text.strip()}` is not in {self.words}")
        return self._shown(value)

    def _shown(self, value: int) -> str:
        return str(value) if self.quantity is None else show(value, self.quantity)


def combined(scales: Mapping[str, Scale], names: Collection[str]) -> Iterator[dict[str, str]]:
    """What students may draw of the scales with these names, the first values first.

    Every value of each with every one of the others; if those are too many, the first and the last ones.
    """
    chosen = {name: scale for name, scale in scales.items() if name in names and scale.count}
    together = math.prod(scale.count for scale in chosen.values())
    values = {
        name: tuple(map(scale.value, range(scale.count))) if together <= _MOST_TOGETHER else scale.ends
        for name, scale in tuple(chosen.items())[: None if together <= _MOST_TOGETHER else _MOST_ENDS]
    }
    for picked in itertools.product(*values.values()):
        yield dict(zip(values, picked, strict=True))
