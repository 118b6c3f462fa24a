"""What a law says of a run that violates it."""

from collections.abc import Iterator
from dataclasses import dataclass

from wirelab.units import COUNT, rounded

Difference = tuple[int | str, int | str, str]
"""What a law asks, what was found instead, and the sentence."""


@dataclass(frozen=True, slots=True)
class Violation:
    """A law that a run has violated: its name, what it asks, what was found, and the sentence."""

    law: str
    expected: str
    measured: str
    message: str


def unless_equal(expected: int, measured: int, message: str) -> Iterator[Difference]:
    """What is wrong where two counts differ that have to be one."""
    if measured != expected:
        yield expected, measured, message


def number(amount: int) -> str:
    """A count as the sentences have it."""
    return rounded(amount, COUNT)
