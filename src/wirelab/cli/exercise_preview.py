"""``wirelab exercise preview``: what students will read and the runs will show, for who writes exercises."""

import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final

import typer

from wirelab.cli import exercise_screen as screen
from wirelab.cli import options
from wirelab.cli.exercise_work import Desk, complete_exercise
from wirelab.cli.names import usable_cpus
from wirelab.exercise import steps
from wirelab.exercise.marks import marked
from wirelab.exercise.measure import Bench
from wirelab.exercise.network import Networks
from wirelab.exercise.work import Answered, Predicted, Seal, Work, seal_of
from wirelab.lab.first_use import select_or_take
from wirelab.lab.scratch import scratch_folder
from wirelab.model.assignment import Assignment
from wirelab.model.exercise_reader import load_exercise
from wirelab.model.fill import filled_text
from wirelab.report.live import LiveReport
from wirelab.report.text import Output, print_table, warn
from wirelab.runner.store import Store
from wirelab.runner.trial import Runner

_NOTHING: Final = "0"


def preview_command(  # noqa: PLR0913 - the options of a command line
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME|DIR", help="An exercise by name or folder.", autocompletion=complete_exercise
        ),
    ],
    *,
    student: Annotated[str, typer.Option(help="Whose figures.")] = "somebody",
    course: Annotated[str, typer.Option(help="Of which course.")] = "preview",
    solve: Annotated[bool, typer.Option("--solve", help="Run it, and show what the marks go by.")] = False,
    jobs: options.Jobs = None,
    use_cache: options.UseCache = True,
    kernel: options.Kernel = None,
    root: options.Root = None,
) -> None:
    """Show an exercise as a student reads it; with --solve also what the runs show, for the teacher."""
    exercise = load_exercise(name, Path.cwd())
    console = Output.for_stream(sys.stdout)
    desk = Desk(Path(), exercise, steps.started(exercise, course, student, datetime.now(UTC)))
    screen.story(console, desk)
    if desk.figures.fault is not None:
        screen.say(console, f"Hidden fault: {desk.figures.fault.name}", "yellow")
    for prediction in exercise.said.predictions:
        screen.ask(console, desk, prediction)
        screen.say(console, f"  in {prediction.unit or 'a plain number'}, {prediction.points} points", "dim")
    for question in exercise.said.questions:
        screen.question(console, desk, question)
    for title, said, scales in (
        ("experiments", exercise.said.experiments, exercise.experiments),
        ("repair", exercise.said.repair, exercise.repairs),
    ):
        if said is not None:
            console.print()
            text = filled_text(said.text or "", desk.figures.values)
            screen.say(console, f"{title}, at most {said.most}: {text}", "bold")
            screen.scales(console, {key: (of.text, scales[key]) for key, of in said.settings.items()})
    if not solve:
        return
    work = _guessing(exercise, desk.work)
    lab = select_or_take(kernel, root, say=options.tell)
    needed = Networks(exercise, desk.figures).needed(work)
    live = LiveReport(Output.for_stream(sys.stderr), (), len(needed), "networks")
    with lab.in_use(), live, scratch_folder() as folder:
        runner = Runner.of(lab, warn, use_cache=use_cache)
        bench = Bench(runner, Store(folder), usable_cpus(None, jobs), live)
        marks = marked(exercise, work, bench.measured(exercise, needed, datetime.now(UTC)))
    console.print()
    rows = [(mark.name, mark.shown or "-", str(mark.most)) for mark in marks.marks]
    print_table(console, ("part", "the run shows", "points"), rows, numbers=("points",))


def _guessing(exercise: Assignment, work: Work) -> Work:
    """A work that answers everything, with nothing: its marks say what would be right."""
    predictions = {one.name: Predicted(f"0 {one.unit or ''}".strip()) for one in exercise.said.predictions}
    answers = {asked.name: Answered(_NOTHING, work.started) for asked in exercise.said.asked}
    seal = Seal(seal_of(work, predictions, work.started), work.started)
    return replace(work, predictions=predictions, seal=seal, answers=answers)
