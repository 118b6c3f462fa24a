"""Grading: the marks of many works, each network that several of them need run once."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Final

from wirelab.errors import InputError
from wirelab.exercise.draw import drawn
from wirelab.exercise.marks import Marks, marked
from wirelab.exercise.measure import Bench
from wirelab.exercise.network import Networks, Setup
from wirelab.exercise.submission import Refused, Submission, submissions
from wirelab.exercise.work import Work
from wirelab.model.assignment import Assignment

_MOST_NAMED: Final = 3
_LEAST_WORDS: Final = 20
"""So many characters are no coincidence."""


@dataclass(frozen=True, slots=True)
class Graded:
    """A work with its marks. ``contested``: another one is in the same name, and the teacher chooses."""

    submission: Submission
    marks: Marks
    contested: bool = False


@dataclass(frozen=True, slots=True)
class Collected:
    """What was handed in, and what is refused of it."""

    works: tuple[Submission, ...]
    refused: tuple[Refused, ...]


def collected(
    paths: Iterable[Path],
    exercise_of: Callable[[str], Assignment],
    names: Sequence[str] | None = None,
) -> tuple[dict[str, Assignment], Collected]:
    """The works in folders and archives, and their exercises by name.

    ``exercise_of`` finds an exercise, or raises InputError. With ``names`` only these students count. Of
    several works of one student from one place the one that was handed in last counts.
    """
    works: list[Submission] = []
    refused: list[Refused] = []
    exercises: dict[str, Assignment] = {}
    for path in paths:
        for found in submissions(path):
            if isinstance(found, Refused):
                refused.append(found)
                continue
            try:
                name = found.work.exercise
                exercises.setdefault(name, exercise_of(name))
            except InputError as error:
                refused.append(Refused(found.where, error.message))
                continue
            if names is not None and found.work.student not in names:
                refused.append(Refused(found.where, f"`{found.work.student}` is nobody of this class"))
                continue
            works.append(found)
    return exercises, Collected(tuple(_latest(works)), tuple(refused))


def graded(
    exercises: Mapping[str, Assignment],
    works: Sequence[Submission],
    bench: Bench,
    now: datetime,
    seals: Mapping[str, str] | None = None,
) -> list[Graded]:
    """The marks of all works, in the order of their students; ``seals`` as `marked` takes them."""
    results = {}
    for name, exercise in exercises.items():
        setups: dict[Setup, str] = {}
        for submission in works:
            if submission.work.exercise == name:
                for setup in _networks(exercise, submission.work).needed(submission.work).values():
                    setups.setdefault(setup, f"setup-{len(setups) + 1}")
        by_name = {label: setup for setup, label in setups.items()}
        results[name] = bench.measured(exercise, by_name, now) if by_name else {}
    done = []
    copies = dict(_copies(works, exercises))
    owners: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for submission in works:
        owners[_whose(submission.work)].add(_place(submission))
    for number, submission in enumerate(works):
        work = submission.work
        marks = marked(exercises[work.exercise], work, results[work.exercise], seals)
        contested = len(owners[_whose(work)]) > 1
        notes = [*marks.notes, *copies.get(number, ())]
        if contested:
            places = ", ".join(sorted(owners[_whose(work)]))
            notes.insert(
                0, f"there are works in this name at several places, of which one is theirs: {places}"
            )
        elif submission.owner and submission.owner.casefold() != work.student.casefold():
            notes.append(f"it was handed in by {submission.owner}")
        done.append(Graded(submission, replace(marks, notes=tuple(notes)), contested))
    return sorted(
        done, key=lambda one: (one.marks.exercise, one.marks.student.casefold(), one.submission.where)
    )


def _networks(exercise: Assignment, work: Work) -> Networks:
    return Networks(exercise, drawn(exercise, work.course, work.student))


def _whose(work: Work) -> tuple[str, str, str]:
    return work.exercise, work.course, work.student


def _place(submission: Submission) -> str:
    """The folder of a submission; of Moodle whose it is."""
    if submission.participant is not None:
        return f"{submission.owner} ({submission.participant})"
    return submission.where.rpartition("/")[0] or "the top folder"


def _latest(works: Iterable[Submission]) -> Iterator[Submission]:
    """Of each student and place the work that was handed in last, or that has most in it."""
    best: dict[tuple[tuple[str, str, str], str], Submission] = {}
    for one in works:
        key = (_whose(one.work), _place(one))
        if key not in best or _done(best[key].work) < _done(one.work):
            best[key] = one
    yield from best.values()


def _done(work: Work) -> tuple[str, int]:
    return work.submitted or "", len(work.answers) + len(work.runs) + len(work.predictions)


def _copies(
    works: Sequence[Submission], exercises: Mapping[str, Assignment]
) -> Iterator[tuple[int, list[str]]]:
    """What a work has that another student's has, too."""
    traces: dict[tuple[str, str, str], list[int]] = defaultdict(list)
    figures = [drawn(exercises[one.work.exercise], one.work.course, one.work.student) for one in works]
    for number, submission in enumerate(works):
        for kind, trace in set(_traces(submission.work)):
            traces[submission.work.exercise, kind, trace].append(number)
    told: dict[int, list[str]] = defaultdict(list)
    for (_, kind, _), numbers in traces.items():
        for number in numbers:
            others = [other for other in numbers if works[other].work.student != works[number].work.student]
            if kind == "digest":
                # With the same figures it is what it should be.
                others = [other for other in others if figures[other] != figures[number]]
            if others:
                names = _named(sorted({works[other].work.student for other in others}))
                what = "it has the measurement" if kind == "digest" else f"{kind}: it has the words"
                told[number].append(f"{what} of {names}")
    for number, notes in told.items():
        yield number, list(dict.fromkeys(notes))


def _named(names: Sequence[str]) -> str:
    """A few names, and how many more."""
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more


def _traces(work: Work) -> Iterator[tuple[str, str]]:
    for ran in work.runs:
        yield "digest", ran.digest
    for name, predicted in work.predictions.items():
        if len(predicted.why) >= _LEAST_WORDS:
            yield name, " ".join(predicted.why.casefold().split())
    for name, answer in work.answers.items():
        if len(answer.value) >= _LEAST_WORDS and " " in answer.value:
            yield name, " ".join(answer.value.casefold().split())
