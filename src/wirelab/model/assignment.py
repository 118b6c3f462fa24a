"""Assignment: an exercise that was read with its scenario, and the networks that its words stand for."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

from wirelab.errors import InputError, unknown
from wirelab.model.cases import Case, quantity_of, varied
from wirelab.model.exercise import Drawn, ExerciseFile, Fault, Prediction, Question, Run
from wirelab.model.expect import Expectation
from wirelab.model.experiment import Experiment
from wirelab.model.fill import filled_setting, filled_text, placeholders
from wirelab.model.formula import FormulaError, quantity_of_unit, unknown_unit
from wirelab.model.scale import Scale
from wirelab.units import COUNT, Quantity

WORD: Final = re.compile(r"[a-z0-9-]+")
"""The name of a figure within a formula."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """A sound exercise.

    ``scales`` are the values of each figure that is drawn, ``experiments`` and ``repairs`` those of the
    settings that students may change. ``digest`` is the SHA-256 of its files.
    """

    name: str
    folder: Path
    said: ExerciseFile
    experiment: Experiment
    scales: Mapping[str, Scale]
    experiments: Mapping[str, Scale]
    repairs: Mapping[str, Scale]
    expectations: tuple[Expectation, ...]
    digest: str

    @property
    def points(self) -> int:
        """All that can be had."""
        parts = (*self.said.predictions, *self.said.asked, *filter(None, [self.said.repair]))
        return sum(part.points for part in parts)

    @property
    def place(self) -> tuple[float, str]:
        """Where it stands in a list: by its lesson, then by name."""
        return self.said.lesson or math.inf, self.name

    def run(self, name: str | None) -> Run:
        """The run called ``name``, the first where none is. Raises InputError."""
        return named("run", name or self.said.networks[0].name, self.said.networks)

    def prediction(self, name: str) -> Prediction:
        """The prediction called ``name``. Raises InputError."""
        return named("prediction", name, self.said.predictions)

    def question(self, name: str) -> Question:
        """The question called ``name``. Raises InputError."""
        for question in self.said.questions:
            if question.asked.name == name:
                return question
        raise InputError(unknown("question", name, (asked.name for asked in self.said.asked)))

    def case(self, run: Run) -> Case:
        """The case of the scenario that a run is of."""
        name = run.variant or self.said.variant
        return self.experiment.cases[0] if name is None else self.experiment.case(name)

    def setup(
        self, run: Run, figures: Mapping[str, str], fault: Fault | None, on_top: Mapping[str, str]
    ) -> dict[str, str]:
        """The settings of a network: a student's figures, the fault, those of the run, and those on top.

        Raises InputError for a formula that gives nothing.
        """
        case = self.case(run)
        settings: dict[str, str] = {}
        for name, drawn in self.said.figures.items():
            settings |= dict.fromkeys(drawn.setting, figures[name])
        for written in (fault.settings if fault else {}, run.settings, on_top):
            settings |= filled(written, figures, case)
        return settings

    def fault(self, name: str) -> Fault:
        """The fault called ``name``. Raises InputError."""
        return named("fault", name, self.said.faults)

    def drawing(self, figures: Mapping[str, str]) -> str:
        """The network in one line, with a student's figures where the exercise draws its own."""
        if self.said.drawing is None:
            return self.experiment.topology.drawing.rstrip()
        return filled_text(self.said.drawing, figures)

    @property
    def hidden(self) -> frozenset[str]:
        """The figures that are of the hidden faults: no student sees them."""
        return hidden_figures(self.said)

    @property
    def causes(self) -> tuple[str, ...]:
        """The causes that students choose from, each once, in an order that tells nothing."""
        return tuple(sorted({fault.cause for fault in self.said.faults}))


def hidden_figures(said: ExerciseFile) -> frozenset[str]:
    """The figures that only the hidden faults are about: those without a setting that stand in them."""
    texts = [text for fault in said.faults for text in (*fault.settings.values(), f"{{{fault.figure}}}")]
    words = {word for text in texts for inside in placeholders(text) for word in WORD.findall(inside)}
    return frozenset(name for name, drawn in said.figures.items() if name in words and not drawn.setting)


def filled(settings: Mapping[str, str], figures: Mapping[str, str], case: Case) -> dict[str, str]:
    """Settings with a student's figures. Raises InputError for a formula that gives nothing."""
    values = {}
    for setting, text in settings.items():
        try:
            values[setting] = filled_setting(text, figures, quantity_of(case, setting))
        except FormulaError as error:
            raise InputError(f"{setting}: {error}") from None
    return values


def case_with(case: Case, settings: Mapping[str, str]) -> Case:
    """The case with settings on top. Raises InputError for what does not fit."""
    return varied(case, settings) if settings else case


def quantity_asked(unit: str | None) -> Quantity:
    """What an answer is measured in; a count where there is no unit. Raises FormulaError."""
    if unit is None:
        return COUNT
    quantity = quantity_of_unit(unit)
    if quantity is None:
        raise FormulaError(unknown_unit(unit))
    return quantity


def drawn_quantity(drawn: Drawn, case: Case) -> Quantity | None:
    """What a figure is measured in: by its setting, else its unit. Raises InputError for no setting."""
    for setting in drawn.setting:
        return quantity_of(case, setting)
    return quantity_asked(drawn.unit) if drawn.unit else None


Named = TypeVar("Named", Run, Prediction, Fault)


def named(what: str, name: str, known: tuple[Named, ...]) -> Named:
    """The one of that name. Raises InputError with the nearest right word."""
    for one in known:
        if one.name == name:
            return one
    raise InputError(unknown(what, name, (one.name for one in known)))
