"""The four words a run can end with."""

from collections.abc import Iterable
from enum import StrEnum


class Verdict(StrEnum):
    """``error`` says nothing about the network: the lab or a law broke."""

    PASS = "pass"  # noqa: S105 - a verdict, not a password
    SKIP = "skip"
    FAIL = "fail"
    ERROR = "error"

    @property
    def exit_code(self) -> int:
        """What a command that ends with this verdict returns."""
        return {Verdict.PASS: 0, Verdict.FAIL: 1, Verdict.SKIP: 3, Verdict.ERROR: 4}[self]


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict of the whole: error before fail before skip before pass, pass for nothing at all."""
    order = list(Verdict)
    return max(verdicts, key=order.index, default=Verdict.PASS)
