"""Codes that people read out and type in: without letters that look like others."""

from collections.abc import Callable
from typing import Final

# Crockford's base 32: no I, L, O and U.
_LETTERS: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_LOOK_ALIKE: Final = str.maketrans({"I": "1", "L": "1", "O": "0"})
_GROUP: Final = 5

COURSE_LETTERS: Final = 10
RESUME_LETTERS: Final = 15
"""75 bits: whoever has it is that student."""


def new_code(letters: int, choose: Callable[[str], str]) -> str:
    """A code of so many letters, in groups of five; ``choose`` takes one of them at random."""
    word = "".join(choose(_LETTERS) for _ in range(letters))
    return "-".join(word[at : at + _GROUP] for at in range(0, letters, _GROUP))


def read_code(text: str) -> str:
    """A code as it is kept, whatever case, spaces and look-alikes it was typed with; empty for none."""
    word = "".join(text.split()).replace("-", "").upper().translate(_LOOK_ALIKE)
    if not word or set(word) - set(_LETTERS):
        return ""
    return "-".join(word[at : at + _GROUP] for at in range(0, len(word), _GROUP))
