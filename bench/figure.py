"""One measured figure, and the collection of them."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Figure:
    """One measured figure: every run's value, and the most it is meant to be."""

    name: str
    unit: str
    runs: tuple[float, ...]
    at_most: float | None

    @property
    def median(self) -> float:
        """The value to quote."""
        return statistics.median(self.runs)

    def line(self) -> str:
        """As it is printed."""
        goal = "" if self.at_most is None else f"   at most {self.at_most:g}"
        spread = f"{min(self.runs):.2f}..{max(self.runs):.2f}"
        return f"{self.name:<56} {self.median:>8.2f} {self.unit:<8} ({spread}){goal}"


class Figures:
    """Measures what is asked for, prints it and keeps it in ``taken``."""

    def __init__(self, runs: int, only: str = "") -> None:
        """Each is measured ``runs`` times; ``only`` is what the names of those hold that are measured."""
        self._runs = runs
        self._only = only
        self.taken: list[Figure] = []

    def wants(self, name: str) -> bool:
        """Whether a figure is asked for."""
        return self._only in name

    def take(self, name: str, unit: str, measure: Callable[[], float], at_most: float | None = None) -> None:
        """Measure a figure, if it is asked for."""
        if not self.wants(name):
            return
        figure = Figure(name, unit, tuple(measure() for _ in range(self._runs)), at_most)
        print(figure.line(), flush=True)
        self.taken.append(figure)
