"""What a lab said last, of all that is on its console."""

from typing import Final

_LINES: Final = 12
# What it says at every start, of what it is to do without.
_NO_WORDS: Final = ("Using a channel type which is", "setup_one_line failed for", "check_one_sigio failed")
_PANIC: Final = "Kernel panic"


def last_words(console: str) -> str:
    """The last lines; those from a kernel's panic on, which a long call trace follows. Empty for nothing."""
    lines = [line for line in console.splitlines() if not line.startswith(_NO_WORDS)]
    panics = [number for number, line in enumerate(lines) if line.startswith(_PANIC)]
    first = panics[-1] if panics else max(0, len(lines) - _LINES)
    return "\n".join(lines[first : first + _LINES])
