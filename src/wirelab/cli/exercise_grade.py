"""``wirelab exercise grade``: the marks of a class, from what was handed in."""

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.text import Text

from wirelab.cli import options
from wirelab.cli.exercise_work import Exercise
from wirelab.cli.names import usable_cpus
from wirelab.errors import InputError, LabError
from wirelab.exercise.draw import person
from wirelab.exercise.gradebook import canvas_csv, csv_of, file_name, junit_of, moodle_csv, page_of, unplaced
from wirelab.exercise.grading import Graded, collected, graded
from wirelab.exercise.measure import Bench
from wirelab.exercise.roster import Roster, read_roster
from wirelab.lab.first_use import select_or_take
from wirelab.lab.scratch import scratch_folder
from wirelab.model.assignment import Assignment
from wirelab.model.exercise_reader import load_exercise
from wirelab.model.yamlfile import read_text
from wirelab.report.live import LiveReport
from wirelab.report.text import Output, print_table, warn
from wirelab.runner.store import Store
from wirelab.runner.trial import Runner

_SEAL: Final = re.compile(r"[0-9a-f]{12,64}")


def grade_command(  # noqa: PLR0913 - the options of a command line
    handed_in: Annotated[
        list[Path],
        typer.Argument(
            metavar="FOLDER|ARCHIVE...", help="Works: a folder, a .zip or .tar.gz of them, or one."
        ),
    ],
    *,
    exercise: Exercise = None,
    students: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The names of the class, one a line: nobody else counts."),
    ] = None,
    seals: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Seals that students gave you, `SEAL NAME` a line: others do not count."
        ),
    ] = None,
    roster_file: Annotated[
        Path | None,
        typer.Option(
            "--roster",
            metavar="FILE",
            help="CSV that Moodle or Canvas exports: whose marks they are, for --moodle and --canvas.",
        ),
    ] = None,
    csv_file: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", help="Write all marks as CSV.")
    ] = None,
    moodle: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write CSV that Moodle imports.")
    ] = None,
    canvas: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write CSV that Canvas imports.")
    ] = None,
    junit_file: options.Junit = None,
    html: Annotated[Path | None, typer.Option(metavar="DIR", help="Write a page for each student.")] = None,
    jobs: options.Jobs = None,
    use_cache: options.UseCache = True,
    kernel: options.Kernel = None,
    root: options.Root = None,
) -> None:
    """Run again what each student had, and give points with a reason each.

    A submission is data: nothing in it is carried out, and nothing that it says was measured counts. What
    cannot be read is refused and told; all others are graded. Exit codes: 0, 2 if something was refused, 4 if
    a lab broke.
    """
    names = _names(students)
    exercises, found = collected(handed_in, _exercises(exercise), names)
    for refused in found.refused:
        warn(f"{refused.where}: {refused.why}")
    if not found.works:
        raise InputError(
            "there is no work that can be graded", hint="students hand in what `submit` has written"
        )
    if len(exercises) > 1 and (moodle or canvas):
        names_of = ", ".join(sorted(exercises))
        raise InputError(f"a gradebook has a column for one exercise, not for {names_of}", hint="--exercise")
    roster = None if roster_file is None else read_roster(read_text(roster_file), str(roster_file))
    lab = select_or_take(kernel, root, say=options.tell)
    live = LiveReport(Output.for_stream(sys.stderr), (), len(found.works), "networks")
    with lab.in_use(), live, scratch_folder() as folder:
        runner = Runner.of(lab, warn, use_cache=use_cache)
        bench = Bench(runner, Store(folder), usable_cpus(None, jobs), live)
        done = graded(exercises, found.works, bench, datetime.now(UTC), _seals(seals))
    _print(done)
    titles = {name: one.said.title for name, one in exercises.items()}
    first = next(iter(titles.values()))
    if roster is not None:
        _tell_unplaced(done, roster)
    unwritten = options.unwritten(
        partial(options.write_file, csv_file, csv_of, done),
        partial(options.write_file, moodle, lambda marks: moodle_csv(marks, roster), done),
        partial(options.write_file, canvas, lambda marks: canvas_csv(marks, first, roster), done),
        partial(options.write_file, junit_file, junit_of, done),
        *(() if html is None else _pages(html, done, titles)),
    )
    options.raise_first(unwritten)
    if any(one.marks.broken for one in done):
        raise typer.Exit(LabError.exit_code)
    if found.refused:
        raise typer.Exit(InputError.exit_code)


def _tell_unplaced(done: list[Graded], roster: Roster) -> None:
    """Whose marks are in no file for Moodle or Canvas, and what Moodle would not take."""
    for name in unplaced(done, roster):
        warn(f"{name}: the roster has nobody of this name, or more than one; no marks for Moodle or Canvas")
    most, theirs = done[0].marks.most, roster.most_points
    if theirs not in (None, most):
        warn(f"Moodle's assignment is out of {theirs:g} points, the exercise of {most}")


def _pages(folder: Path, done: list[Graded], titles: Mapping[str, str]) -> Iterator[Callable[[], None]]:
    """What writes a page for each work; a second one in the same name has a number."""
    taken: Counter[str] = Counter()
    for one in done:
        name = file_name(one.marks, "")
        taken[name] += 1
        number = f"-{taken[name]}" if taken[name] > 1 else ""
        path = folder / f"{name}{number}.html"
        yield partial(options.write_file, path, lambda mine: page_of(mine, titles[mine.marks.exercise]), one)


def _print(done: list[Graded]) -> None:
    console = Output.for_stream(sys.stdout)
    rows = [
        (
            one.marks.student,
            f"{one.marks.points:g}",
            str(one.marks.most),
            str(one.marks.open or "-"),
            Text("; ".join(one.marks.notes), style="yellow"),
        )
        for one in done
    ]
    titles = ("student", "points", "of", "open", "notes")
    print_table(console, titles, rows, numbers=("points", "of", "open"), whole=("points", "of", "open"))


def _exercises(asked: str | None) -> Callable[[str], Assignment]:
    """What finds an exercise by the name that a work says; only the one that was asked for, if one was."""
    only = load_exercise(asked, Path.cwd()) if asked else None

    @cache
    def exercise_of(name: str) -> Assignment:
        if only is not None and name != only.name:
            raise InputError(f"it is on `{name}`, not on `{only.name}`")
        return only or load_exercise(name, Path.cwd())

    return exercise_of


def _seals(path: Path | None) -> dict[str, str] | None:
    """The seals in a file by the names of students, None where there is no file. Raises InputError."""
    if path is None:
        return None
    seals: dict[str, str] = {}
    for number, line in enumerate(read_text(path).splitlines(), 1):
        if not line.strip():
            continue
        seal, _, name = line.strip().partition(" ")
        if not _SEAL.fullmatch(seal):
            raise InputError(f"`{seal}` is no seal", file=str(path), line=number, hint="SEAL NAME")
        seals[person(name)] = seal
    return seals


def _names(path: Path | None) -> list[str] | None:
    """The names in a file, None where there is no file. Raises InputError naming the line."""
    if path is None:
        return None
    names = []
    for number, line in enumerate(read_text(path).splitlines(), 1):
        try:
            names += [person(line)] if line.strip() else []
        except InputError as error:
            raise InputError(error.message, file=str(path), line=number) from None
    return names
