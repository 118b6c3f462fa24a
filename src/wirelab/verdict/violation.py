"""What a law says of a run that breaks it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LawBreach:
    """A law that a run has broken: its name, what it asks, what was found, and the sentence."""

    law: str
    expected: str
    measured: str
    message: str

    @classmethod
    def of(cls, law: str, expected: int, measured: int, message: str) -> LawBreach:
        """A breach of a law about two whole numbers."""
        return cls(law, str(expected), str(measured), message)
