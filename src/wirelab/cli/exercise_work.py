"""A student's folder: ``work.json`` and the results, found, read and kept."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import typer

from wirelab.errors import InputError, LabError
from wirelab.exercise.draw import Figures, drawn
from wirelab.exercise.work import WORK, Work, read_work
from wirelab.lab.scratch import replacement
from wirelab.model.assignment import Assignment
from wirelab.model.catalogue import EXERCISES, around
from wirelab.model.exercise_reader import load_exercise

RESULTS: Final = "results"

Folder = Annotated[
    Path | None,
    typer.Option(
        "--folder", metavar="DIR", help="The folder of the work. [default: here, or the only one below]"
    ),
]
Exercise = Annotated[
    str | None,
    typer.Option("--exercise", metavar="NAME|DIR", help="Where the exercise is, if not in the catalogue."),
]


def complete_exercise(incomplete: str) -> list[str]:
    """The exercises that can be done from here."""
    try:
        return [name for name in around(Path.cwd()).exercises() if name.startswith(incomplete)]
    except (InputError, OSError):
        return []


@dataclass(frozen=True, slots=True)
class Desk:
    """A folder with a work, and its exercise."""

    folder: Path
    exercise: Assignment
    work: Work

    @classmethod
    def found(cls, folder: Path | None, exercise: str | None) -> "Desk":
        """The work that a user means. Raises InputError where there is none, or no such exercise."""
        place = folder or _only_one()
        work = read_work(place / WORK)
        try:
            known = load_exercise(exercise or work.exercise, _root(place))
        except InputError as error:
            if exercise or len(error.problems) != 1 or error.problems[0].file:
                raise
            raise InputError(error.message, hint="name its folder with --exercise") from None
        if known.name != work.exercise:
            raise InputError(
                f"the work is on `{work.exercise}`, not on `{known.name}`", file=str(place / WORK)
            )
        return cls(place, known, work)

    @property
    def figures(self) -> Figures:
        """Those of the student."""
        return drawn(self.exercise, self.work.course, self.work.student)

    @property
    def results(self) -> Path:
        """Where results are kept."""
        return self.folder / RESULTS

    def kept(self, work: Work) -> "Desk":
        """The same with another work, on the disk when this returns. Raises LabError naming the file."""
        keep(self.folder / WORK, work)
        return Desk(self.folder, self.exercise, work)


def keep(path: Path, work: Work) -> None:
    """Write a work so that there is always a whole one. Raises LabError naming the file."""
    try:
        with replacement(path) as fresh, fresh.open("x", encoding="utf-8") as file:
            file.write(work.to_json())
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise LabError(f"{path}: cannot be written: {error.strerror}") from error


def pairs(words: Sequence[str], example: str) -> dict[str, str]:
    """``name=value`` of a command line. Raises InputError for what is no pair, or a name twice."""
    values: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise InputError(f"`{word}`: expected name=value, such as {example}")
        if name in values:
            raise InputError(f"{name}: is given twice")
        values[name] = value
    return values


def _only_one() -> Path:
    here = Path.cwd()
    if (here / WORK).is_file():
        return Path()
    below = sorted(path.parent for path in here.glob(f"*/{WORK}"))
    if len(below) == 1:
        return below[0].relative_to(here)
    if below:
        names = ", ".join(path.name for path in below)
        raise InputError(f"there are several works here: {names}", hint="name one with --folder")
    raise InputError("there is no work here", hint="begin one: wirelab exercise start NAME")


def _root(place: Path) -> Path:
    """Where exercises of one's own are looked for: here, or beside the work."""
    beside = place.resolve().parent
    return beside if not Path(EXERCISES).is_dir() and (beside / EXERCISES).is_dir() else Path.cwd()
