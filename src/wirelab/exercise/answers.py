"""Answers: what a question may be answered with, and whether that is one. Right or wrong is for the marks."""

import re
from dataclasses import dataclass
from typing import Final

from wirelab.errors import InputError, unknown
from wirelab.exercise.draw import Figures
from wirelab.exercise.work import LONGEST_TEXT, LONGEST_VALUE
from wirelab.model.assignment import Assignment, quantity_asked
from wirelab.model.exercise import (
    ChoiceQuestion,
    FaultQuestion,
    MechanismQuestion,
    NumberQuestion,
    PausedQuestion,
    PortQuestion,
    Prediction,
    Question,
    TextQuestion,
)
from wirelab.model.fill import as_number, filled_text
from wirelab.results.values import printable
from wirelab.units import COUNT, RATIO, Quantity, parse_nearly, show
from wirelab.verdict.explanation import Mechanism

NOBODY: Final = "nobody"
NO_PORT: Final = "none"
ARROW: Final = " pauses "
_THOUSANDS: Final = re.compile(r"(?<=\d) (?=\d{3}\b)")
_PAIR: Final = re.compile(
    r"(?P<who>[a-z0-9.-]+)\s*(?:->|pauses|paused|,)\s*(?P<whom>[a-z0-9.-]+)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Choice:
    """One of the answers to choose from: what a work says, and what a student reads."""

    value: str
    text: str


def choices(exercise: Assignment, question: Question, figures: Figures) -> tuple[Choice, ...]:
    """What a student chooses from; nothing where the answer is written."""
    asked = question.asked
    topology = exercise.experiment.topology
    ports = tuple(topology.label(ref) for ref in topology.ports())
    match asked:
        case PortQuestion():
            words = (*ports, NO_PORT)
        case PausedQuestion():
            ends = [topology.ends(cable) for cable in topology.cables]
            pairs = ((topology.label(a), topology.label(b)) for a, b in ends)
            both = (pair for one, other in pairs for pair in ((one, other), (other, one)))
            words = (*(ARROW.join(pair) for pair in both), NOBODY)
        case MechanismQuestion():
            words = tuple(str(mechanism) for mechanism in Mechanism)
        case ChoiceQuestion():
            texts = (filled_text(option.text, figures.values) for option in asked.options)
            return tuple(Choice(str(number), text) for number, text in enumerate(texts, 1))
        case FaultQuestion() if asked.what == "cause":
            words = exercise.causes
        case NumberQuestion() | TextQuestion():
            words = ()
        case FaultQuestion() if asked.what == "figure":
            words = ()
        case _:
            words = tuple(dict.fromkeys((*topology.nodes, *ports)))
    return tuple(Choice(word, word) for word in words)


def checked_answer(exercise: Assignment, question: Question, figures: Figures, text: str) -> str:
    """An answer as a work keeps it. Raises InputError for what answers another question."""
    asked = question.asked
    longest = LONGEST_TEXT if isinstance(asked, TextQuestion) else LONGEST_VALUE
    text = checked_text(text, asked.name, longest)
    if isinstance(asked, TextQuestion):
        return text
    if isinstance(asked, NumberQuestion):
        return checked_quantity(text, quantity_asked(asked.unit), asked.name)
    if isinstance(asked, FaultQuestion) and asked.what == "figure":
        if as_number(text) is None:
            raise InputError(
                f"{asked.name}: `{text}` is no number; write it with its unit, as `4 KiB` or `2 %`"
            )
        return text
    known = {choice.value.casefold(): choice.value for choice in choices(exercise, question, figures)}
    if isinstance(asked, PausedQuestion) and (pair := _PAIR.fullmatch(text)):
        text = f"{pair['who']}{ARROW}{pair['whom']}"
    if text.casefold() not in known:
        raise InputError(f"{asked.name}: {unknown('answer', text, known.values())}")
    return known[text.casefold()]


def checked_prediction(prediction: Prediction, text: str) -> str:
    """A predicted value as a work keeps it. Raises InputError for what is no such quantity."""
    text = checked_text(text, prediction.name, LONGEST_VALUE)
    return checked_quantity(text, quantity_asked(prediction.unit), prediction.name)


def checked_text(text: str, name: str, longest: int = LONGEST_TEXT) -> str:
    """Text of a student without blanks around. Raises InputError for none, too much, or what is no text."""
    text = text.strip()
    if not text:
        raise InputError(f"{name}: nothing is written")
    if len(text) > longest:
        raise InputError(f"{name}: {len(text)} characters are too many; the limit is {longest}")
    if printable(text) != text:
        raise InputError(f"{name}: has a character that no terminal should see")
    return text


def checked_quantity(text: str, quantity: Quantity, name: str) -> str:
    """A quantity in its unit, as it is shown. Raises InputError for a missing or a wrong unit."""
    try:
        # Who types what they see types `3 044`.
        written = _THOUSANDS.sub("", text) if quantity is COUNT else text
        return show(parse_nearly(written, quantity), quantity)
    except ValueError as error:
        raise InputError(f"{name}: {error}") from None


def shown_of(quantity: Quantity, unit: str | None) -> str:
    """An example of what is to be written: ``2.5 Gbit/s``."""
    if unit is None:
        return "1200"
    return f"10 {unit}" if quantity is RATIO else f"1.5 {unit}"
