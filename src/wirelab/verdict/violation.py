"""What a law says of a run that violates it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Violation:
    """A law that a run has violated: its name, what it asks, what was found, and the sentence."""

    law: str
    expected: str
    measured: str
    message: str

    @classmethod
    def of(cls, law: str, expected: int, measured: int, message: str) -> Violation:
        """A violation of a law about two whole numbers."""
        return cls(law, str(expected), str(measured), message)
