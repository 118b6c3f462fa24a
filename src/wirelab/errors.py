"""What can go wrong, as exceptions a command line turns into one message and one exit code."""

import contextlib
import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Final, Self

MOST_PROBLEMS: Final = 100
_MOST_NAMED: Final = 50


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with the input, and where it stands.

    ``line`` and ``column`` count from 1. ``str()`` is what the user reads:
    ``file:line: field: message``, without the parts that are not known.
    """

    message: str
    file: str | None = None
    line: int | None = None
    field: str | None = None
    column: int | None = None

    def __str__(self) -> str:
        where = self.file or ""
        if self.file and self.line is not None:
            where += f":{self.line}"
        return ": ".join(part for part in (where, self.field, self.message) if part)


class WirelabError(Exception):
    """An error with a message for the user, an optional hint on what to do, and an exit code."""

    exit_code: ClassVar[int] = 4

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        if hint:
            # Who meets it in a traceback shall see it, too.
            self.add_note(f"hint: {hint}")


class InputError(WirelabError):
    """What the user wrote or named is wrong: bad scenario, unknown name, unreadable file.

    ``problems`` holds each of them; the message is one line per problem.
    """

    exit_code: ClassVar[int] = 2

    def __init__(
        self, message: str, *, file: str | None = None, line: int | None = None, hint: str | None = None
    ) -> None:
        self.problems: tuple[Problem, ...] = (Problem(message, file, line),)
        super().__init__(str(self.problems[0]), hint=hint)

    @classmethod
    def of(cls, problems: Iterable[Problem]) -> Self:
        """One error out of several problems, in the order given. Raises ValueError if there are none.

        Beyond ``MOST_PROBLEMS`` the last one says how many more there are.
        """
        listed = list(problems)
        if not listed:
            raise ValueError("an InputError needs a problem")
        if (more := len(listed) - MOST_PROBLEMS) > 0:
            last = replace(listed[MOST_PROBLEMS], message=f"{more} more problems from here on")
            listed[MOST_PROBLEMS:] = [last]
        error = cls("\n".join(map(str, listed)))
        error.problems = tuple(listed)
        return error


class LabError(WirelabError):
    """The lab broke (kernel, root image, boot, disk, permission) or a law was broken by it."""


@contextlib.contextmanager
def refusals(path: Path, what: str = "", *, hint: str | None = None) -> Iterator[None]:
    """Turn what the operating system refuses into a LabError that names the path, and ``what`` it means."""
    try:
        yield
    except OSError as error:
        raise LabError(f"{error.filename or path}: {what}{error.strerror}", hint=hint) from error


def found(look: Callable[[], bool]) -> bool:
    """What a look at a path tells, as ``path.is_file``: nothing is there whose name no file can have."""
    try:
        return look()
    except OSError:
        return False


class SkipError(WirelabError):
    """What was asked cannot be tested here; the message says why."""

    exit_code: ClassVar[int] = 3


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that ``word`` most likely stands for, None if nothing is near."""
    folded = {choice.casefold(): choice for choice in sorted(set(known), reverse=True)}
    close = difflib.get_close_matches(word.casefold(), folded, n=1, cutoff=0.6)
    return folded[close[0]] if close else None


def unknown(what: str, word: str, known: Iterable[str], mistakes: Mapping[str, str] | None = None) -> str:
    """The message for a word that is none of ``known``: the nearest one, else all of them, or the first.

    ``mistakes`` are words that others have for some of them.
    """
    choices = tuple(known)
    meant = (mistakes or {}).get(word.casefold())
    guess = meant if meant in choices else nearest(word, choices)
    if guess is not None:
        return f"unknown {what} `{word}`; did you mean `{guess}`?"
    if not choices:
        return f"unknown {what} `{word}`; there is none here"
    more = f" and {len(choices) - _MOST_NAMED} more" if len(choices) > _MOST_NAMED else ""
    return f"unknown {what} `{word}`; known: {', '.join(choices[:_MOST_NAMED])}{more}"
