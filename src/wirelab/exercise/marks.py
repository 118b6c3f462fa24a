"""Marks: points with a reason each, a pure function of an exercise, a work and what its networks measure.

Nothing that a work says of what was measured counts: the networks are those of the student's name.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Self

from wirelab.errors import InputError
from wirelab.exercise.draw import Figures, drawn
from wirelab.exercise.figures import Measurements, nearness
from wirelab.exercise.judging import Judged, judged, why_unmarked
from wirelab.exercise.measure import Results
from wirelab.exercise.network import Networks
from wirelab.exercise.work import Ran, Work
from wirelab.model.assignment import Assignment
from wirelab.model.exercise import Prediction, TextQuestion
from wirelab.model.formula import read_formula, references
from wirelab.runner.run_result import VariantResult
from wirelab.units import UnitError
from wirelab.verdict.checks import Check
from wirelab.verdict.verdict import Verdict

Part = Literal["prediction", "question", "repair"]


@dataclass(frozen=True, slots=True)
class Mark:
    """The points of one part and why; None where the teacher gives them, or where the lab broke.

    ``said`` is the student's answer, ``measured`` what the run shows. Both may be empty, and the first is a
    student's text. What ``is_computed`` comes of the student's figures alone, and no run shows it.
    """

    part: Part
    name: str
    most: int
    points: float | None
    reason: str
    said: str = ""
    measured: str = ""
    why: str = ""
    broken: bool = False
    is_computed: bool = False

    @property
    def shown(self) -> str:
        """What the run shows, for a column that says so: ``computed 36.4 kB`` where none does."""
        return f"computed {self.measured}" if self.is_computed and self.measured else self.measured


@dataclass(frozen=True, slots=True)
class Marks:
    """All marks of a work.

    ``notes`` are for the teacher: what is odd about the work. So are ``figures`` of a hidden fault.
    """

    student: str
    course: str
    exercise: str
    figures: Mapping[str, str]
    marks: tuple[Mark, ...]
    notes: tuple[str, ...] = ()

    @property
    def points(self) -> float:
        """The sum of the points that are given."""
        return round(sum(mark.points or 0.0 for mark in self.marks), 1)

    @property
    def most(self) -> int:
        """All that could be had."""
        return sum(mark.most for mark in self.marks)

    @property
    def open(self) -> int:
        """What the teacher may still give."""
        return sum(mark.most for mark in self.marks if mark.points is None and not mark.broken)

    @property
    def broken(self) -> bool:
        """Whether the lab broke, so that something could not be marked."""
        return any(mark.broken for mark in self.marks)


def marked(
    exercise: Assignment, work: Work, results: Results, seals: Mapping[str, str] | None = None
) -> Marks:
    """The marks of a work by the ``results`` of all that `Networks.needed` names.

    ``seals`` are those that students gave to the teacher before they ran anything, or the first digits of
    them, by their names: with them other predictions than these do not count.
    """
    work = _as_sealed(work, seals)
    figures = drawn(exercise, work.course, work.student)
    marker = _Marker.of(exercise, work, figures, results)
    return Marks(
        student=work.student,
        course=work.course,
        exercise=exercise.name,
        figures={**figures.values, **({"fault": figures.fault.name} if figures.fault else {})},
        marks=tuple(marker.marks()),
        notes=tuple(marker.notes()),
    )


def _as_sealed(work: Work, seals: Mapping[str, str] | None) -> Work:
    """The work, its seal damaged if it is not the one that was given before."""
    if seals is None or work.seal is None:
        return work
    known = seals.get(work.student, "")
    if known and work.seal.sha256.startswith(known):
        return work
    return replace(work, seal=replace(work.seal, sha256="0" * len(work.seal.sha256)))


def compared(
    exercise: Assignment, work: Work, figures: Figures, runs: Mapping[str, VariantResult]
) -> Iterator[Mark]:
    """The marks of the predictions whose runs are among ``runs``: each beside what was measured."""
    for prediction in exercise.said.predictions:
        if set(_runs_of(exercise, prediction)) <= runs.keys():
            yield _prediction(exercise, work, figures, runs, prediction)


@dataclass(frozen=True, slots=True)
class _Marker:
    exercise: Assignment
    work: Work
    figures: Figures
    networks: Networks
    results: Results
    runs: Mapping[str, VariantResult]

    @classmethod
    def of(cls, exercise: Assignment, work: Work, figures: Figures, results: Results) -> Self:
        networks = Networks(exercise, figures)
        runs = {run.name: results[networks.run(run.name)] for run in exercise.said.networks}
        return cls(exercise, work, figures, networks, results, runs)

    def marks(self) -> Iterator[Mark]:
        """One for each part, in the order of the exercise."""
        for prediction in self.exercise.said.predictions:
            yield _prediction(self.exercise, self.work, self.figures, self.runs, prediction)
        for question in self.exercise.said.questions:
            asked = question.asked
            answer = self.work.answers.get(asked.name)
            if answer is None:
                yield Mark("question", asked.name, asked.points, 0.0, "not answered")
            elif isinstance(asked, TextQuestion):
                yield Mark(
                    "question", asked.name, asked.points, None, "left to the teacher", said=answer.value
                )
            else:
                found = judged(self.exercise, self.networks, self.results, asked, answer.value)
                yield _mark(asked.name, asked.points, answer.value, found)
        if self.exercise.said.repair is not None:
            yield self._repair(self.exercise.said.repair.points)

    def _repair(self, most: int) -> Mark:
        if self.work.repair is None:
            return Mark("repair", "repair", most, 0.0, "nothing was repaired")
        settings = self.work.repair.settings
        said = ", ".join(f"{key} {value}" for key, value in settings.items())
        try:
            repaired = self.results[self.networks.repair(settings)]
            control = self.results[self.networks.control(settings)]
        except InputError as error:
            return Mark("repair", "repair", most, 0.0, f"no repair: {error.message}", said=said)
        if broken := next((one for one in (repaired, control) if one.digest is None), None):
            return Mark("repair", "repair", most, None, why_unmarked(broken), said=said, broken=True)
        failed = _failed(repaired)
        measured = "; ".join(f"{check.name} {check.measured}" for check in _expected(repaired))
        if failed:
            first = failed[0]
            reason = f"{first.name} does not hold: expected {first.expected}, measured {first.measured}"
            return Mark("repair", "repair", most, 0.0, reason, said=said, measured=measured)
        if not _failed(control):
            reason = "it holds, but in its control it holds too: that is not what the repair did"
            return Mark("repair", "repair", most, 0.0, reason, said=said, measured=measured)
        reason = "it holds, and in its control it fails as it must"
        return Mark("repair", "repair", most, float(most), reason, said=said, measured=measured)

    def notes(self) -> Iterator[str]:
        """What is odd about the work."""
        work, said = self.work, self.exercise.said
        if work.digest != self.exercise.digest:
            yield "it was made of another version of this exercise"
        if work.seal is not None and not work.is_sealed:
            yield "the predictions are not the ones that were sealed: they count as not made"
        known = {one.name for one in said.predictions}
        if unknown := sorted({*work.predictions} - known):
            yield f"it predicts what nobody asked: {', '.join(unknown)}"
        if unknown := sorted({*work.answers} - {asked.name for asked in said.asked}):
            yield f"it answers what nobody asked: {', '.join(unknown)}"
        most = said.experiments.most if said.experiments else 0
        if work.count("experiment") > most:
            yield f"it has {work.count('experiment')} experiments; {most} were allowed"
        if work.seal is not None and any(ran.at < work.seal.at for ran in work.runs):
            yield "it has runs from before its predictions were sealed"
        if work.runs and said.predictions and work.seal is None:
            yield "it has runs, and no sealed predictions"
        if others := [ran.name for ran in work.runs if self._differs(ran)]:
            names = ", ".join(dict.fromkeys(others))
            yield f"what it says was measured is not what this lab measures: {names}"

    def _differs(self, ran: Ran) -> bool:
        known = self.runs.get(ran.name) if ran.kind == "run" else None
        return known is not None and known.digest is not None and known.digest != ran.digest


def _prediction(
    exercise: Assignment,
    work: Work,
    figures: Figures,
    runs: Mapping[str, VariantResult],
    prediction: Prediction,
) -> Mark:
    name, most = prediction.name, prediction.points
    predicted = work.predictions.get(name)
    measured = Measurements(exercise, figures, runs)
    figure = measured.figure(prediction.of, prediction.run, prediction.unit)
    mark = Mark(
        "prediction", name, most, 0.0, "not predicted", "", figure.shown, is_computed=figure.is_computed
    )
    if predicted is None:
        return mark
    said, why = predicted.value, predicted.why
    if broken := next((runs[one] for one in _runs_of(exercise, prediction) if not runs[one].digest), None):
        return Mark("prediction", name, most, None, why_unmarked(broken), said, why=why, broken=True)
    mark = replace(mark, said=said, why=why)
    if not work.is_sealed:
        reason = "not what was sealed" if work.seal else "not sealed before the run"
        return replace(mark, reason=reason)
    try:
        near = nearness(said, figure)
    except UnitError as error:
        return replace(mark, reason=str(error))
    return replace(mark, points=round(most * near.share, 1), reason=near.words)


def _runs_of(exercise: Assignment, prediction: Prediction) -> Sequence[str]:
    others = (reference.run for reference in references(read_formula(prediction.of)))
    return (exercise.run(prediction.run).name, *filter(None, others))


def _mark(name: str, most: int, said: str, found: Judged) -> Mark:
    points = None if found.share is None else round(most * found.share, 1)
    return Mark(
        "question",
        name,
        most,
        points,
        found.words,
        said,
        found.measured,
        broken=found.share is None,
        is_computed=found.is_computed,
    )


def _expected(variant: VariantResult) -> list[Check]:
    return [check for check in variant.checks if check.subject is not None]


def _failed(variant: VariantResult) -> list[Check]:
    return [check for check in _expected(variant) if check.verdict is Verdict.FAIL]
