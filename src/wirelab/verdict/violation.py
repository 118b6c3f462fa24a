"""What a law says of a run that violates it."""

from collections.abc import Iterator

Violation = tuple[int | str, int | str, str]
"""What a law asks, what was found instead, and the sentence."""


def unless_equal(expected: int, measured: int, message: str) -> Iterator[Violation]:
    """What is wrong where two counts differ that have to be one."""
    if measured != expected:
        yield expected, measured, message
