"""The pages of the exercises: each as a student reads it, and the page for the teacher beside it.

Figures that differ are those of one student, Ada. Nothing is run for them.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Final

from docs.commands import ROOT
from docs.markdown import code, table, words
from wirelab.exercise.draw import drawn
from wirelab.model.exercise import ChoiceQuestion
from wirelab.model.exercise_reader import load_exercise
from wirelab.model.fill import filled_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wirelab.exercise.draw import Figures
    from wirelab.model.assignment import Assignment
    from wirelab.model.exercise import Asked

COURSE: Final = "networks-1"
STUDENT: Final = "ada"
ORDER: Final = (
    "what-a-gigabit-carries",
    "burst-and-buffer",
    "shallow-buffer",
    "say-stop",
    "innocent-bystander",
    "one-wire-for-all",
    "the-window",
    "long-queue",
    "who-gives-way",
    "all-at-once",
    "mystery-network",
)
"""As a course takes them; `test_exercises.py` compares them with what is there."""

_INTRODUCTION: Final = """# Exercises

What students do: they predict figures of a network before it runs, run it, look inside, answer, and repair
it. Each has figures of their own; here they are Ada's, of the course networks-1. [For
teachers](../teachers.md) has two courses made of them, [for students](../students.md) how it goes.

There is no answer key. The page for the teacher of each has the way to the solution, and this project is
public: whoever reads it knows the rule, and still has to apply it to figures that are nobody else's.
"""


def pages() -> Iterator[tuple[str, str]]:
    """The index, and two pages for each exercise, as (address in the site, Markdown)."""
    yield "exercises/index.md", _index()
    for name in ORDER:
        yield f"exercises/{name}.md", _page(_loaded(name))
        yield (
            f"exercises/{name}-teacher.md",
            (ROOT / "exercises" / name / "teacher.md").read_text(encoding="utf-8"),
        )


@functools.cache
def _loaded(name: str) -> Assignment:
    return load_exercise(name, ROOT)


def _index() -> str:
    rows = [
        (
            f"[{words(exercise.said.title)}]({exercise.name}.md)",
            words(exercise.said.goal),
            str(exercise.points),
            f"[teacher]({exercise.name}-teacher.md)",
        )
        for exercise in map(_loaded, ORDER)
    ]
    return f"{_INTRODUCTION}\n{table(('exercise', 'what one can do afterwards', 'points', 'page'), rows)}"


def _page(exercise: Assignment) -> str:
    figures = drawn(exercise, COURSE, STUDENT)
    said = exercise.said

    def filled(text: str) -> str:
        return words(filled_text(text, figures.values))

    parts = [
        f"# {words(said.title)}\n",
        f"*{words(said.goal)}*\n",
        f"    wirelab exercise start {exercise.name} --student {STUDENT} --course {COURSE}\n",
        f"## Story\n\n{filled_text(said.story, figures.values).strip()}\n",
        *_figures(exercise, figures),
        *_list("Predict", (f"{filled(one.text)} ({_points(one.points)})" for one in said.predictions)),
        *_list("Run", (f"`{run.name}`: {filled(run.text or '')}" for run in said.networks)),
    ]
    if said.experiments is not None:
        text = filled(said.experiments.text or "")
        scales = ", ".join(
            f"{code(key)} ({words(exercise.experiments[key].words)})" for key in said.experiments.settings
        )
        parts.append(f"## Try\n\n{text} At most {said.experiments.most} experiments with {scales}.\n")
    parts += _list("Answer", (_asked(asked, figures) for asked in said.asked))
    if said.repair is not None:
        scales = ", ".join(
            f"{code(key)} ({words(exercise.repairs[key].words)})" for key in said.repair.settings
        )
        parts.append(
            f"## Repair\n\n{filled(said.repair.text)} ({_points(said.repair.points)}) It may be {scales}.\n"
        )
    if said.after:
        parts.append(f'??? note "Afterwards"\n\n    {_indented(filled_text(said.after, figures.values))}\n')
    parts.append(f"[For the teacher]({exercise.name}-teacher.md)\n")
    return "\n".join(parts)


def _figures(exercise: Assignment, figures: Figures) -> Iterator[str]:
    """What differs, and between what; a hidden fault's figures stay hidden."""
    if figures.fault is not None or not exercise.scales:
        return
    rows = [(code(name), figures.values[name], words(scale.words)) for name, scale in exercise.scales.items()]
    yield f"## What differs\n\n{table(('figure', 'Ada’s', 'of'), rows)}"  # noqa: RUF001 - an apostrophe


def _asked(asked: Asked, figures: Figures) -> str:
    """A question, with the answers to choose from."""
    options = asked.options if isinstance(asked, ChoiceQuestion) else ()
    texts = [asked.text, *(option.text for option in options)]
    filled = [words(filled_text(text, figures.values)) for text in texts]
    return "\n    - ".join([f"{filled[0]} ({_points(asked.points)})", *filled[1:]])


def _list(title: str, items: Iterator[str]) -> list[str]:
    lines = [f"{number}. {item}" for number, item in enumerate(items, 1)]
    return [f"## {title}\n", "\n".join(lines) + "\n"] if lines else []


def _points(points: int) -> str:
    return f"{points} point{'s' if points > 1 else ''}"


def _indented(text: str) -> str:
    return text.strip().replace("\n", "\n    ")
