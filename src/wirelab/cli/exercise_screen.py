"""What a student reads in a terminal: the story, what comes next, and predictions beside measurements."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from rich.padding import Padding
from rich.rule import Rule
from rich.text import Text

from wirelab.cli.exercise_work import Desk
from wirelab.exercise.answers import choices
from wirelab.exercise.marks import Mark
from wirelab.exercise.seen import Line, Seen
from wirelab.exercise.steps import Step, next_step
from wirelab.exercise.work import WORK
from wirelab.model.exercise import Prediction, Question
from wirelab.model.fill import filled_text
from wirelab.model.scale import Scale
from wirelab.report.text import COLUMN_GAP, Output, print_table
from wirelab.runner.run_result import VariantResult
from wirelab.units import NS_PER_S
from wirelab.verdict.checks import Check

_COMMANDS = {
    "predict": "wirelab exercise predict",
    "run": "wirelab exercise run",
    "answer": "wirelab exercise answer",
    "repair": "wirelab exercise repair",
    "submit": "wirelab exercise submit",
    "done": "",
}
_FENCE = "```"
"""A story with one has its own drawing."""


def say(console: Output, text: str, style: str = "") -> None:
    """A line of a person's text, whatever is in it."""
    console.print(Text(text, style=style), soft_wrap=not console.is_terminal)


def story(console: Output, desk: Desk) -> None:
    """What the exercise is about, with the student's figures."""
    said, values = desk.exercise.said, desk.figures.values
    console.print(Rule(Text(said.title), align="left") if console.is_terminal else Text(said.title))
    facts = (desk.work.student, desk.work.course, minutes(desk), points(desk.exercise.points))
    say(console, ", ".join(filter(None, facts)))
    say(console, f"Goal: {filled_text(said.goal, values)}")
    console.print()
    markdown(console, filled_text(said.story, values))
    if not desk.figures.fault and _FENCE not in said.story:
        say(console, desk.exercise.drawing(values), "cyan")
    told = {name: value for name, value in values.items() if name not in desk.exercise.hidden}
    if told:
        console.print()
        names = ", ".join(f"{name} {value}" for name, value in told.items())
        say(console, f"Your figures: {names}")


def points(count: int) -> str:
    """So many points, in words."""
    return f"{count} point" if count == 1 else f"{count} points"


def minutes(desk: Desk) -> str:
    """How long it takes, empty if nobody says."""
    return time_shown(desk.exercise.said.time_ns)


def time_shown(time_ns: int | None) -> str:
    """How long an exercise takes, in minutes: nobody counts the seconds."""
    return f"{time_ns // (60 * NS_PER_S)} min" if time_ns else ""


def markdown(console: Output, text: str) -> None:
    """Text of an exercise: set on a screen, as it is written elsewhere."""
    if console.is_terminal:
        # It takes a twentieth of the time in which a command starts, and no other needs it.
        from rich.markdown import Markdown  # noqa: PLC0415

        console.print(Padding(Markdown(text, hyperlinks=False), (0, 0, 1, 0)))
    else:
        console.print(Text(text.strip()), soft_wrap=True)
        console.print()


def ask(console: Output, desk: Desk, prediction: Prediction, value: str = "") -> None:
    """The question of a prediction, with the ``value`` if that is known."""
    console.print()
    text = f"{prediction.name}: {filled_text(prediction.text, desk.figures.values)}"
    say(console, f"{text} {value}".rstrip(), "bold")


def changes(settings: Mapping[str, str]) -> str:
    """Settings as they are said."""
    return ", ".join(f"{key} {value}" for key, value in settings.items())


def question(console: Output, desk: Desk, asked: Question) -> None:
    """A question and what may be answered."""
    console.print()
    one = asked.asked
    say(console, f"{one.name}: {filled_text(one.text, desk.figures.values)} ({points(one.points)})", "bold")
    for choice in choices(desk.exercise, asked, desk.figures):
        label = f"{choice.value}  {choice.text}" if choice.text != choice.value else choice.value
        say(console, f"  {label}")


def scales(console: Output, settings: dict[str, tuple[str | None, Scale]]) -> None:
    """The settings that may be changed."""
    rows = [(key, scale.words, text or "") for key, (text, scale) in settings.items()]
    print_table(console, ("setting", "values", ""), rows, whole=("setting",))


def experiments(console: Output, desk: Desk) -> None:
    """How many are left, and what may be tried."""
    said = desk.exercise.said.experiments
    if said is None:
        return
    used = desk.work.count("experiment")
    say(console, f"\nexperiments: {used} of {said.most} used", "dim")
    if used < said.most:
        if said.text is not None:
            say(console, filled_text(said.text, desk.figures.values))
        scales(console, {key: (of.text, desk.exercise.experiments[key]) for key, of in said.settings.items()})
        say(console, "one of these, or several at once: wirelab exercise run SETTING=VALUE")


def seen_tables(console: Output, tables: Seen) -> None:
    """What a run shows."""
    named = (
        ("flow", tables.flows),
        ("ping", tables.pings),
        ("port", tables.ports),
        ("counters", tables.counters),
    )
    for head, lines in named:
        if lines:
            console.print()
            _table(console, head, lines)


def _table(console: Output, head: str, lines: Sequence[Line]) -> None:
    if head == "counters":
        rows = [
            (line.subject, ", ".join(f"{name} {value}" for name, value in line.figures.items()) or "nothing")
            for line in lines
        ]
        print_table(console, ("port", "ethtool -S"), rows, whole=("port",))
        return
    columns = list(dict.fromkeys(name for line in lines for name in line.figures))
    rows_of = [(line.subject, *(line.figures.get(name, "-") for name in columns)) for line in lines]
    titles = (head, *(name.replace("_", " ") for name in columns))
    widths = [max(map(len, column)) for column in zip(titles, *rows_of, strict=True)]
    if sum(widths) + COLUMN_GAP * len(widths) > console.width:
        # What is cut off cannot be answered: long heads take several lines.
        titles = (head, *(title.replace(" ", "\n") for title in titles[1:]))
    print_table(console, titles, rows_of, numbers=titles[1:], whole=titles)


def beside(console: Output, marks: Iterable[Mark]) -> None:
    """Each prediction beside what was measured."""
    rows = [(mark.name, mark.said or "-", mark.shown, mark.reason) for mark in marks]
    if rows:
        console.print()
        print_table(
            console, ("prediction", "you said", "measured", ""), rows, numbers=("you said", "measured")
        )


def checks(console: Output, title: str, found: Sequence[Check]) -> None:
    """What must hold, and whether it does."""
    say(console, title, "bold")
    rows = [(check.name, check.measured, check.expected, str(check.verdict)) for check in found]
    print_table(console, ("check", "measured", "expected", "verdict"), rows, numbers=("measured",))


def broken(variant: VariantResult) -> str:
    """Why a lab broke."""
    return next((check.explanation or check.name for check in variant.checks), "nothing was measured")


def coming(console: Output, desk: Desk) -> None:
    """What comes next, and by which command."""
    step: Step = next_step(desk.exercise, desk.work)
    command = _COMMANDS[step.doing]
    where = "" if desk.folder == Path() else f" --folder {desk.folder}"
    many = where if where and len(list(Path.cwd().glob(f"*/{WORK}"))) > 1 else ""
    console.print()
    say(console, f"Next: {step.words}" + (f"    {command}{many}" if command else ""), "bold")


def progress(console: Output, desk: Desk) -> None:
    """Everything that there is to do, and how far it is."""
    work, said = desk.work, desk.exercise.said
    rows: list[tuple[str, str, str]] = []
    for prediction in said.predictions:
        predicted = work.predictions.get(prediction.name)
        rows.append(("predict", prediction.name, predicted.value if predicted else "-"))
    rows += [("run", run.name, "done" if work.has_run(run.name) else "-") for run in said.networks]
    if said.experiments is not None:
        rows.append(("experiments", "", f"{work.count('experiment')} of {said.experiments.most}"))
    for asked in said.asked:
        answer = work.answers.get(asked.name)
        rows.append(("answer", asked.name, answer.value if answer else "-"))
    if said.repair is not None:
        rows.append(("repair", "", changes(work.repair.settings) if work.repair else "-"))
    rows.append(("submit", "", work.submitted or "-"))
    print_table(console, ("", "", "so far"), rows, overflow="ellipsis")
    if work.seal is not None:
        say(console, f"sealed at {work.seal.at}, seal {work.seal.sha256[:12]}", "dim")
