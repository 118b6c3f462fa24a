"""Steps: what a student does, each a pure function from a work to the next. They refuse what is not its turn.

All raise InputError in words for the student; what was done before stays as it was.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from wirelab.errors import InputError, unknown
from wirelab.exercise.answers import checked_answer, checked_prediction, checked_text
from wirelab.exercise.draw import Figures, drawn, person
from wirelab.exercise.network import Networks, Setup, admitted
from wirelab.exercise.work import (
    MOST_RUNS,
    Answered,
    Kind,
    Predicted,
    Ran,
    Repaired,
    Seal,
    Work,
    seal_of,
    utc,
)
from wirelab.model.assignment import Assignment

Doing = Literal["predict", "run", "answer", "repair", "submit", "done"]


@dataclass(frozen=True, slots=True)
class Step:
    """What comes next: ``name`` is the run's or the question's, ``words`` say it to the student."""

    doing: Doing
    words: str
    name: str | None = None


def started(exercise: Assignment, course: str, student: str, now: datetime) -> Work:
    """A work in which nothing is done yet."""
    return Work(
        exercise=exercise.name,
        digest=exercise.digest,
        course=person(course, "course"),
        student=person(student),
        started=utc(now),
    )


def sealed(exercise: Assignment, work: Work, predictions: Mapping[str, Predicted], now: datetime) -> Work:
    """The work with all predictions, sealed: they do not change any more."""
    _require_open(work)
    if work.seal is not None:
        raise InputError(f"the predictions were sealed at {work.seal.at}: they do not change any more")
    said = exercise.said.predictions
    names = [prediction.name for prediction in said]
    for name in predictions:
        if name not in names:
            raise InputError(unknown("prediction", name, names))
    checked = {}
    for prediction in said:
        if prediction.name not in predictions:
            raise InputError(f"{prediction.name}: is not predicted yet; all are sealed together")
        one = predictions[prediction.name]
        why = checked_text(one.why, f"{prediction.name}, why") if prediction.why else one.why.strip()
        checked[prediction.name] = Predicted(checked_prediction(prediction, one.value), why)
    at = utc(now)
    return replace(work, predictions=checked, seal=Seal(seal_of(work, checked, at), at))


def run_asked(exercise: Assignment, work: Work, name: str | None = None) -> tuple[str, Setup]:
    """A run of the exercise, the next one where none is named: what it is called, and the network."""
    _require_sealed(exercise, work)
    runs = [run.name for run in exercise.said.networks]
    chosen = name or next((run for run in runs if not work.has_run(run)), runs[0])
    return chosen, Networks(exercise, _figures(work, exercise)).run(chosen)


def experiment_asked(exercise: Assignment, work: Work, settings: Mapping[str, str]) -> tuple[str, Setup]:
    """An experiment, if there is one left."""
    _require_sealed(exercise, work)
    setup = Networks(exercise, _figures(work, exercise)).experiment(settings)
    said = exercise.said.experiments
    if said is not None and work.count("experiment") >= said.most:
        raise InputError(f"all {said.most} experiments are used up")
    return f"experiment-{work.count('experiment') + 1}", setup


def repair_asked(
    exercise: Assignment, work: Work, settings: Mapping[str, str]
) -> tuple[str, dict[str, Setup]]:
    """A try of a repair, with its control."""
    _require_sealed(exercise, work)
    networks = Networks(exercise, _figures(work, exercise))
    name = f"repair-{work.count('repair') + 1}"
    return name, {name: networks.repair(settings), f"{name}-control": networks.control(settings)}


def ran(  # noqa: PLR0913 - what a run is
    exercise: Assignment,
    work: Work,
    kind: Kind,
    name: str,
    digest: str,
    *,
    now: datetime,
    settings: Mapping[str, str] | None = None,
) -> Work:
    """The work with a run that was measured: ``name`` and ``settings`` as they were asked for."""
    _require_sealed(exercise, work)
    if len(work.runs) >= MOST_RUNS:
        raise InputError(f"{MOST_RUNS} runs are in this work, and no more go in")
    scales = exercise.experiments if kind == "experiment" else exercise.repairs
    values = admitted(settings or {}, scales) if kind != "run" else {}
    return replace(work, runs=(*work.runs, Ran(kind, name, utc(now), digest, values)))


def answered(exercise: Assignment, work: Work, name: str, text: str, now: datetime) -> Work:
    """The work with an answer; until it is handed in a later one takes its place."""
    _require_sealed(exercise, work)
    question = exercise.question(name)
    run = exercise.run(question.asked.run).name
    if not work.has_run(run):
        raise InputError(f"{name}: the answer is in the run `{run}`, which has not been run yet")
    value = checked_answer(exercise, question, _figures(work, exercise), text)
    return replace(work, answers={**work.answers, name: Answered(value, utc(now))})


def repaired(exercise: Assignment, work: Work, settings: Mapping[str, str], now: datetime) -> Work:
    """The work with the repair that is handed in; a later one takes its place."""
    _require_sealed(exercise, work)
    Networks(exercise, _figures(work, exercise)).repair(settings)
    return replace(work, repair=Repaired(admitted(settings, exercise.repairs), utc(now)))


def submitted(exercise: Assignment, work: Work, now: datetime) -> Work:
    """The work as it is handed in; it does not change any more."""
    _require_open(work)
    if exercise.said.predictions and work.seal is None:
        raise InputError("nothing is predicted yet: there is nothing to hand in")
    return replace(work, submitted=utc(now))


def next_step(exercise: Assignment, work: Work) -> Step:
    """What a student does next."""
    said = exercise.said
    if work.submitted is not None:
        return Step("done", f"handed in at {work.submitted}")
    if said.predictions and work.seal is None:
        return Step("predict", f"predict {len(said.predictions)} figures before anything runs")
    return next(iter(missing(exercise, work)), Step("submit", "hand it in"))


def missing(exercise: Assignment, work: Work) -> tuple[Step, ...]:
    """What is not done yet of all that follows the predictions, in the order in which it is done."""
    said = exercise.said
    steps = [
        Step("run", f"run `{run.name}`", run.name) for run in said.networks if not work.has_run(run.name)
    ]
    steps += [
        Step("answer", f"answer `{asked.name}`", asked.name)
        for asked in said.asked
        if asked.name not in work.answers
    ]
    if said.repair is not None and work.repair is None:
        steps.append(Step("repair", "repair the network"))
    return tuple(steps)


def require_own(exercise: Assignment, work: Work) -> None:
    """Raise InputError for a work on another exercise."""
    if work.exercise != exercise.name:
        raise InputError(f"this work is on `{work.exercise}`, not on `{exercise.name}`")


def _figures(work: Work, exercise: Assignment) -> Figures:
    return drawn(exercise, work.course, work.student)


def _require_open(work: Work) -> None:
    if work.submitted is not None:
        raise InputError(f"it was handed in at {work.submitted}, and does not change any more")


def _require_sealed(exercise: Assignment, work: Work) -> None:
    _require_open(work)
    require_own(exercise, work)
    if not exercise.said.predictions:
        return
    if work.seal is None:
        raise InputError("nothing runs before the predictions are sealed: predict first")
    if not work.is_sealed:
        raise InputError(
            "the predictions are not the ones that were sealed: somebody has edited them",
            hint="put them back as they were",
        )
