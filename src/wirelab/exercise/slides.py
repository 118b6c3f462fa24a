"""Slides of an exercise: its network, what a class votes on, and what was measured."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from wirelab.exercise.draw import Figures
from wirelab.exercise.figures import Measurements
from wirelab.exercise.guess import line_rate_guess
from wirelab.exercise.prose import prose
from wirelab.exercise.sketch import network_drawing
from wirelab.exercise.vote import Option, limits_of, options, words_for
from wirelab.model.assignment import Assignment
from wirelab.model.exercise import Prediction
from wirelab.model.fill import filled_text
from wirelab.report.chart import Chart, Plots
from wirelab.report.html import Burst, filled_in
from wirelab.report.picture import Picture
from wirelab.report.script import Script, policy
from wirelab.report.timeline import Timeline
from wirelab.runner.run_result import VariantResult

_FENCE: Final = "```"
_MOST_LETTERS: Final = 620
"""Of a story on one slide."""
_CHART_PX: Final = 160
"""Of a chart that is enlarged to fill a screen."""
_TITLES: Final[Mapping[str, tuple[str, ...]]] = {
    "goodput": ("Goodput",),
    "duration": ("Goodput",),
    "rtt": ("Round-trip time", "Held"),
    "queue": ("Held",),
    "buffer": ("Held",),
    "drops": ("Drops", "Held"),
    "retransmits": ("Drops", "Congestion window"),
    "lost": ("Drops", "Goodput"),
    "pause": ("Paused by the peer",),
}
"""Which charts show a metric, the most telling first, by how its name begins."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A figure as a bar: ``share`` of the longest one, from 0 to 1."""

    name: str
    words: str
    share: float
    is_measured: bool


@dataclass(frozen=True, slots=True)
class Vote:
    """A prediction: the question and what may be voted for; ``bars`` set what was measured beside a guess.

    What no run is asked for is computed from the student's figures alone.
    """

    name: str
    text: str
    options: tuple[Option, ...]
    bars: tuple[Bar, ...]
    is_computed: bool

    @property
    def right(self) -> str:
        """The letter of the answer."""
        return next((option.letter for option in self.options if option.is_right), "")


@dataclass(frozen=True, slots=True)
class Shown:
    """A run: the words for it, and what there is to be seen of it."""

    name: str
    text: str
    burst: Burst | None
    plots: tuple[Plots, ...]


def slides_page(
    exercise: Assignment,
    figures: Figures,
    runs: Mapping[str, VariantResult],
    pictures: Sequence[Picture] = (),
) -> str:
    """The text of a file that holds all slides; ``runs`` are the exercise's, ``pictures`` of those there are.

    It loads nothing. Of a network with a hidden fault nothing is shown that was measured.
    """
    said, values = exercise.said, figures.values
    scripts = Script.load(), Script.load("slides.js")
    is_open = figures.fault is None
    # A picture that was kept may be of an equal network by another name.
    bursts = {picture.digest: Burst.of(picture) for picture in pictures}
    shown = [
        Shown(
            run.name,
            filled_text(run.text or "", values),
            bursts.get(one.digest or ""),
            _plots(exercise, run.name, one),
        )
        for run in said.networks
        if is_open and (one := runs.get(run.name)) is not None
    ]
    hidden = exercise.hidden
    return filled_in(
        "slides.html.j2",
        policy=policy(*scripts),
        count=partial(next, itertools.count(1)),
        scripts=scripts,
        title=said.title,
        goal=filled_text(said.goal, values),
        drawing=network_drawing(exercise, values, said.title),
        figures={name: value for name, value in values.items() if name not in hidden},
        story=[prose(part, values) for part in _parts(said.story)],
        votes=list(_votes(exercise, figures, runs)) if is_open else [],
        shown=shown,
        questions=[filled_text(asked.text, values) for asked in said.asked],
        repair=filled_text(said.repair.text, values) if said.repair else "",
        after=prose(said.after or "", values),
    )


def _parts(story: str) -> list[str]:
    """A story in pieces that fit on a screen each: a drawing or a table with what goes before it."""
    parts, letters = [""], 0
    for paragraph in _paragraphs(story):
        if letters and letters + len(paragraph) > _MOST_LETTERS:
            parts.append("")
            letters = 0
        parts[-1] += f"{paragraph}\n\n"
        letters += len(paragraph)
    return parts


def _paragraphs(story: str) -> Iterator[str]:
    """What is between blank lines; a drawing is one."""
    for number, piece in enumerate(story.split(_FENCE)):
        if number % 2:
            yield f"{_FENCE}{piece}{_FENCE}"
        else:
            yield from filter(None, (one.strip() for one in piece.split("\n\n")))


def _plots(exercise: Assignment, run: str, variant: VariantResult) -> tuple[Plots, ...]:
    """The charts that show what is predicted of a run, each alone; its first chart where none does."""
    if variant.evidence is None:
        return ()
    # What must hold after the repair is expected of the run that is repaired.
    repair = exercise.said.repair
    is_repaired = repair is not None and exercise.run(repair.run).name == run
    charts = Timeline(variant.evidence, variant.checks if is_repaired else ()).charts()
    wanted: dict[str, None] = {}
    for prediction in exercise.said.predictions:
        if exercise.run(prediction.run).name == run:
            for begins, titles in _TITLES.items():
                if f".{begins}" in prediction.of:
                    found = [one.title for title in titles for one in charts if one.title.startswith(title)]
                    # What a port held is the chart of that port, if it has one.
                    own = [title for title in found if f"{title.rpartition(' ')[2]}." in prediction.of]
                    wanted |= dict.fromkeys((own or found)[:1])
    chosen = [one for one in charts if one.title in wanted] or list(charts[:1])
    return tuple(Plots.of([replace(chart, height=_CHART_PX)]) for chart in chosen if _moves(chart))


def _moves(chart: Chart) -> bool:
    """Whether there is something to be seen: of a burst between two samples there is not."""
    return any(len({y for _, y in line.points}) > 1 for line in chart.lines)


def _votes(exercise: Assignment, figures: Figures, runs: Mapping[str, VariantResult]) -> Iterator[Vote]:
    measurements = Measurements(exercise, figures, runs)
    plans = {name: one.evidence.plan for name, one in runs.items() if one.evidence is not None}
    for said in exercise.said.predictions:
        figure = measurements.figure(said.of, said.run, said.unit)
        if figure.amount is None:
            continue
        guess = line_rate_guess(exercise, said, figures.values, plans)
        yield Vote(
            said.name,
            filled_text(said.text, figures.values),
            options(said, figure.amount, limits_of(exercise, said, plans, guess)),
            _bars(said, figure.amount, guess),
            figure.is_computed,
        )


def _bars(said: Prediction, measured: float, guess: float | None) -> tuple[Bar, ...]:
    """Both of them; none where a line tells nothing of it."""
    if guess is None:
        return ()
    longest = max(measured, guess) or 1.0
    name = "guess: the line is full" if guess else "guess: it does not happen"
    return (
        Bar(name, words_for(said, guess), guess / longest, is_measured=False),
        Bar("measured", words_for(said, measured), measured / longest, is_measured=True),
    )
