"""What was measured, as a formula of an exercise asks for it, and how near an answer is to it."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from wirelab.exercise.draw import Figures
from wirelab.model.assignment import Assignment, quantity_asked
from wirelab.model.fill import figure_number, rounded_in
from wirelab.model.formula import Reference, amount_of, read_formula, references
from wirelab.model.metric import METRICS, Choice
from wirelab.runner.run_result import VariantResult
from wirelab.units import COUNT, coherent, from_coherent, parse

SHARES: Final = (1.0, 2 / 3, 1 / 3)
WITHIN: Final = (0.10, 0.25, 0.50)
"""How far off a quantity may be for each share of the points."""
FACTORS: Final = (1.3, 2.0, 4.0)
"""The same for a count: within such a factor."""

_ROUNDING: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Figure:
    """A measured figure in bits, seconds and metres, None where nothing tells it, and its unit.

    One that refers to no run ``is_computed``: nobody measured it.
    """

    amount: float | None
    unit: str | None
    is_computed: bool = False

    @property
    def shown(self) -> str:
        """For a person: ``1.10 Gbit/s``."""
        if self.amount is None:
            return "nothing"
        quantity = quantity_asked(self.unit)
        return rounded_in(from_coherent(self.amount, quantity), quantity, self.unit or "")


@dataclass(frozen=True, slots=True)
class Nearness:
    """How near an answer is: the share of the points that it has, and the words for it."""

    share: float
    words: str


@dataclass(frozen=True, slots=True)
class Measurements:
    """What a student's runs measured: ``runs`` are the exercise's, by their names."""

    exercise: Assignment
    figures: Figures
    runs: Mapping[str, VariantResult]

    def figure(self, of: str, run: str | None, unit: str | None) -> Figure:
        """A metric or a formula of a run, the first where none is named."""
        first = self.exercise.run(run).name

        def value(reference: Reference) -> float:
            if reference.path in self.figures.values:
                return figure_number(reference, self.figures.values).amount
            subject, _, metric = reference.path.rpartition(".")
            variant = self.runs[reference.run or first]
            number = variant.figure(subject, metric) if variant.digest else None
            quantity = METRICS[metric].quantity
            if number is None or isinstance(quantity, Choice):
                raise ValueError(f"nothing tells {reference}")
            return coherent(number, quantity)

        return Figure(amount_of(read_formula(of), value), unit, is_computed(of, self.figures.values))


def is_computed(of: str, figures: Collection[str]) -> bool:
    """Whether a formula is of the student's ``figures`` and of numbers alone, so that no run is asked."""
    return all(one.path in figures for one in references(read_formula(of)))


def nearness(text: str, figure: Figure) -> Nearness:
    """How near an answer is to a figure. Raises UnitError for one that is no such quantity."""
    quantity = quantity_asked(figure.unit)
    said = coherent(parse(text, quantity), quantity)
    measured = figure.amount
    if measured is None:
        return Nearness(0.0, "nothing was measured that it could be compared with")
    if quantity is COUNT:
        factor = max(said, 1.0, _ROUNDING) / max(measured, 1.0)
        factor = max(factor, 1 / factor)
        share = share_of(factor, FACTORS)
        return Nearness(
            share, f"{_by(factor)}, {_within(share, [f'a factor of {most:g}' for most in FACTORS])}"
        )
    if not measured:
        return Nearness(float(not said), "right" if not said else "it is nothing at all")
    off = abs(said - measured) / abs(measured)
    share = share_of(off, WITHIN)
    return Nearness(
        share, f"{100 * off:.0f} % off, {_within(share, [f'{100 * most:.0f} %' for most in WITHIN])}"
    )


def share_of(off: float, limits: tuple[float, ...] = WITHIN) -> float:
    """What of the points an answer is worth that is so far off, at most one of ``limits``."""
    return next((share for share, most in zip(SHARES, limits, strict=True) if off <= most + _ROUNDING), 0.0)


def _within(share: float, limits: list[str]) -> str:
    return f"within {limits[SHARES.index(share)]}" if share else f"not within {limits[-1]}"


def _by(factor: float) -> str:
    return f"off by a factor of {factor:.2f}" if factor < 100 else "off by a factor above 100"  # noqa: PLR2004 - no more digits
