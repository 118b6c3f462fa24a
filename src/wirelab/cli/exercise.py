"""``wirelab exercise``: what a student does, step by step. The work is kept after each."""

import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from wirelab.cli import exercise_screen as screen
from wirelab.cli import options
from wirelab.cli.exercise_bench import Runs, environ_name
from wirelab.cli.exercise_grade import grade_command
from wirelab.cli.exercise_look import look_command
from wirelab.cli.exercise_preview import preview_command
from wirelab.cli.exercise_slides import slides_command
from wirelab.cli.exercise_work import Desk, Exercise, Folder, complete_exercise, keep, pairs
from wirelab.cli.part import part
from wirelab.errors import InputError, LabError
from wirelab.exercise import steps
from wirelab.exercise.answers import checked_prediction, shown_of
from wirelab.exercise.gradebook import file_name
from wirelab.exercise.marks import Marks, compared
from wirelab.exercise.seen import seen
from wirelab.exercise.work import WORK, Kind, Predicted, Work
from wirelab.model.assignment import quantity_asked
from wirelab.model.catalogue import around
from wirelab.model.exercise import Prediction
from wirelab.model.exercise_reader import load_exercise
from wirelab.model.fill import filled_text
from wirelab.report.text import Output, print_table
from wirelab.verdict.verdict import Verdict

app = part("Do an exercise: predict, run, look, answer, repair. Grade a class.")
app.command("look")(look_command)
app.command("grade")(grade_command)
app.command("slides")(slides_command)
app.command("preview")(preview_command)

T = TypeVar("T")

Pairs = Annotated[
    list[str] | None, typer.Argument(metavar="[NAME=VALUE]...", help="Without any you are asked.")
]


def _now() -> datetime:
    return datetime.now(UTC)


def _console() -> Output:
    return Output.for_stream(sys.stdout)


@app.command("list")
def list_() -> None:
    """List the exercises that can be done."""
    rows = []
    exercises = [load_exercise(name, Path.cwd()) for name in around(Path.cwd()).exercises()]
    for exercise in sorted(exercises, key=lambda one: one.place):
        said = exercise.said
        rows.append((exercise.name, said.title, screen.time_shown(said.time_ns) or "-", str(exercise.points)))
    print_table(
        _console(), ("exercise", "", "time", "points"), rows, numbers=("points",), whole=("exercise",)
    )


@app.command()
def start(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME|DIR", help="An exercise by name or folder.", autocompletion=complete_exercise
        ),
    ],
    *,
    student: Annotated[
        str | None, typer.Option(help="Your name, as your teacher knows it. [default: WIRELAB_STUDENT]")
    ] = None,
    course: Annotated[
        str | None, typer.Option(help="The course, as your teacher calls it. [default: WIRELAB_COURSE]")
    ] = None,
    folder: Annotated[
        Path | None, typer.Option("--folder", metavar="DIR", help="Where the work is kept. [default: ./NAME]")
    ] = None,
) -> None:
    """Begin an exercise: your figures come from the names of the course, the exercise and yourself."""
    exercise = load_exercise(name, Path.cwd())
    who = student or environ_name("WIRELAB_STUDENT") or _asked("Your name", "--student")
    where = course or environ_name("WIRELAB_COURSE") or _asked("The course", "--course")
    place = folder or Path(exercise.name)
    if (place / WORK).exists():
        raise InputError("there is a work already", file=str(place / WORK), hint="wirelab exercise status")
    work = steps.started(exercise, where, who, _now())
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LabError(f"{place}: cannot be made: {error.strerror}") from error
    keep(place / WORK, work)
    desk = Desk(place, exercise, work)
    screen.story(_console(), desk)
    screen.coming(_console(), desk)


@app.command()
def predict(
    values: Pairs = None,
    *,
    why: Annotated[
        list[str] | None, typer.Option(metavar="NAME=TEXT", help="The reason for a prediction. Repeatable.")
    ] = None,
    folder: Folder = None,
    exercise: Exercise = None,
) -> None:
    """Predict all figures and seal them: they do not change any more, and nothing runs before."""
    desk = Desk.found(folder, exercise)
    console = _console()
    given = pairs(values or (), "download='1.2 Gbit/s'")
    reasons = pairs(why or (), "--why download='half of it is lost'")
    if desk.work.seal is not None or not desk.exercise.said.predictions:
        steps.sealed(desk.exercise, desk.work, {}, _now())
    for name in (*given, *reasons):
        desk.exercise.prediction(name)
    asks = sys.stdin.isatty()
    if not (given or reasons or asks):
        for prediction in desk.exercise.said.predictions:
            screen.ask(console, desk, prediction)
        screen.coming(console, desk)
        return
    predictions = {
        prediction.name: _predicted(desk, prediction, given, reasons, asks=asks)
        for prediction in desk.exercise.said.predictions
        if asks or prediction.name in given
    }
    sealed = steps.sealed(desk.exercise, desk.work, predictions, _now())
    if asks and not given and not typer.confirm("Seal them? They do not change any more", default=True):
        raise typer.Exit
    desk = desk.kept(sealed)
    screen.say(console, f"sealed: {sealed.seal.sha256[:12] if sealed.seal else ''}")
    screen.coming(console, desk)


def _predicted(
    desk: Desk, prediction: Prediction, given: Mapping[str, str], reasons: Mapping[str, str], *, asks: bool
) -> Predicted:
    """A prediction with its reason, of the command line or of whoever is asked."""
    name, console = prediction.name, _console()
    if name not in given:
        screen.ask(console, desk, prediction)
        example = shown_of(quantity_asked(prediction.unit), prediction.unit)
        value = _until(partial(checked_prediction, prediction), f"  such as {example}")
    else:
        value = checked_prediction(prediction, given[name])
    if name in reasons or not prediction.why or not asks:
        return Predicted(value, reasons.get(name, ""))
    if name in given:
        screen.ask(console, desk, prediction, value)
    return Predicted(value, typer.prompt("  why, in one sentence"))


@app.command()
def run(  # noqa: PLR0913 - the options of a command line
    what: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME|SETTING=VALUE]...", help="A run, or an experiment. [default: the next run]"
        ),
    ] = None,
    *,
    folder: Folder = None,
    exercise: Exercise = None,
    jobs: options.Jobs = None,
    use_cache: options.UseCache = True,
    kernel: options.Kernel = None,
    root: options.Root = None,
) -> None:
    """Run your network, or an experiment with other settings, and see your predictions beside it."""
    desk = Desk.found(folder, exercise)
    console = _console()
    words = what or []
    settings = pairs(words, "module.fifo='64 KiB'") if any("=" in word for word in words) else {}
    if len(words) > 1 and not settings:
        raise InputError("one run at a time", hint="an experiment is setting=value, with a unit")
    if settings:
        name, setup = steps.experiment_asked(desk.exercise, desk.work, settings)
    else:
        name, setup = steps.run_asked(desk.exercise, desk.work, words[0] if words else None)
    variant = Runs(use_cache, kernel, root, jobs).measured(desk, {name: setup})[setup]
    kind: Kind = "experiment" if settings else "run"
    work = steps.ran(
        desk.exercise, desk.work, kind, name, variant.digest or "", now=_now(), settings=settings
    )
    desk = desk.kept(work)
    screen.say(console, ": ".join(filter(None, (name, screen.changes(settings)))), "bold")
    screen.seen_tables(console, seen(desk.exercise, variant))
    if not settings:
        screen.beside(console, compared(desk.exercise, desk.work, desk.figures, {name: variant}))
    screen.experiments(console, desk)
    screen.coming(console, desk)


@app.command()
def answer(values: Pairs = None, *, folder: Folder = None, exercise: Exercise = None) -> None:
    """Answer questions; until it is handed in, a later answer takes the place of an earlier one."""
    desk = Desk.found(folder, exercise)
    console = _console()
    given = pairs(values or (), "where=module.line")
    work = desk.work
    for name, text in given.items():
        work = steps.answered(desk.exercise, work, name, text, _now())
    if given:
        desk = desk.kept(work)
    elif sys.stdin.isatty():
        for question in desk.exercise.said.questions:
            name = question.asked.name
            if name not in desk.work.answers:
                screen.question(console, desk, question)
                desk = desk.kept(_until(partial(_answered, desk, name), "  your answer"))
    else:
        for question in desk.exercise.said.questions:
            screen.question(console, desk, question)
    screen.coming(console, desk)


def _answered(desk: Desk, name: str, text: str) -> Work:
    return steps.answered(desk.exercise, desk.work, name, text, _now())


@app.command()
def repair(  # noqa: PLR0913 - the options of a command line
    settings: Annotated[
        list[str] | None,
        typer.Argument(metavar="[SETTING=VALUE]...", help="What is changed. Without any: what may be."),
    ] = None,
    *,
    folder: Folder = None,
    exercise: Exercise = None,
    jobs: options.Jobs = None,
    use_cache: options.UseCache = True,
    kernel: options.Kernel = None,
    root: options.Root = None,
) -> None:
    """Change settings so that what must hold does; its control, run beside it, must still fail."""
    desk = Desk.found(folder, exercise)
    console = _console()
    said = desk.exercise.said.repair
    if said is None:
        raise InputError("there is nothing to repair in this exercise")
    if not settings:
        screen.say(console, filled_text(said.text, desk.figures.values), "bold")
        texts = {key: (allowed.text, desk.exercise.repairs[key]) for key, allowed in said.settings.items()}
        screen.scales(console, texts)
        screen.say(console, f"at most {said.most} of them: wirelab exercise repair SETTING=VALUE")
        return
    changed = pairs(settings, "module.fifo='64 KiB'")
    name, setups = steps.repair_asked(desk.exercise, desk.work, changed)
    results = Runs(use_cache, kernel, root, jobs).measured(desk, setups)
    repaired, control = (results[setup] for setup in setups.values())
    work = steps.ran(
        desk.exercise, desk.work, "repair", name, repaired.digest or "", now=_now(), settings=changed
    )
    screen.checks(console, f"{name}: {screen.changes(changed)}", repaired.checks)
    holds = repaired.verdict is Verdict.PASS
    fails = control.verdict is Verdict.FAIL
    if holds and fails:
        screen.say(console, "it holds, and its control fails as it must: this is what you hand in")
        work = steps.repaired(desk.exercise, work, changed, _now())
    else:
        too = "it holds, but in its control it holds too: that is not what the change did"
        screen.say(console, too if holds else "it does not hold yet")
        if work.repair is not None:
            screen.say(console, f"your repair is still {screen.changes(work.repair.settings)}")
    desk = desk.kept(work)
    screen.coming(console, desk)


@app.command()
def status(*, folder: Folder = None, exercise: Exercise = None) -> None:
    """Show what is done and what comes next."""
    desk = Desk.found(folder, exercise)
    screen.story(_console(), desk)
    _console().print()
    screen.progress(_console(), desk)
    screen.coming(_console(), desk)


@app.command()
def submit(
    *,
    anyway: Annotated[
        bool, typer.Option("--anyway", help="Hand it in although something is missing.")
    ] = False,
    folder: Folder = None,
    exercise: Exercise = None,
) -> None:
    """Write the file that you hand in. After that the work does not change any more."""
    desk = Desk.found(folder, exercise)
    console = _console()
    step = steps.next_step(desk.exercise, desk.work)
    if step.doing not in ("submit", "done") and not anyway:
        if not sys.stdin.isatty():
            raise InputError(f"it is not done yet: {step.words}", hint="--anyway hands it in as it is")
        if not typer.confirm(f"It is not done yet: {step.words}. Hand it in all the same?"):
            raise typer.Exit
    if step.doing != "done":
        desk = desk.kept(steps.submitted(desk.exercise, desk.work, _now()))
    whose = Marks(desk.work.student, desk.work.course, desk.exercise.name, {}, ())
    path = desk.folder / file_name(whose, ".json")
    keep(path, desk.work)
    screen.say(console, f"{path}: hand in this file")
    if desk.exercise.said.after:
        console.print()
        screen.markdown(console, filled_text(desk.exercise.said.after, desk.figures.values))


def _asked(prompt: str, option: str) -> str:
    """What somebody types. Raises InputError where nobody does."""
    if not sys.stdin.isatty():
        raise InputError(f"{prompt.lower()} is not given", hint=f"give it with {option}")
    return str(typer.prompt(prompt))


def _until(sound: Callable[[str], T], prompt: str) -> T:
    """Ask until the answer is one."""
    while True:
        text = str(typer.prompt(prompt))
        try:
            return sound(text)
        except InputError as error:
            typer.echo(f"  {error.message}", err=True)
