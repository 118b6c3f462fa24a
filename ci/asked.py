"""What a CI job was asked for, read from its environment: nothing of it is ever a command line's text."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from wirelab.cli.names import read_seeds
from wirelab.errors import InputError, unknown
from wirelab.lab.cache import Cache
from wirelab.lab.recipe import Recipe
from wirelab.verdict.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

SHARDS_DEFAULT: Final = 4

_Word = TypeVar("_Word", bound=StrEnum)


class Do(StrEnum):
    """What one use of the action does; the steps of a workflow, each on a machine of its own."""

    RUN = "run"
    PLAN = "plan"
    LAB = "lab"
    SUMMARY = "summary"


class FailOn(StrEnum):
    """The mildest verdict that makes a job fail."""

    SKIP = "skip"
    FAIL = "fail"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Asked:
    """The variables of ci.mk, checked; README.md of this folder says what each means."""

    environ: Mapping[str, str]
    """For the programs that are started: its cache is that of the series."""
    do: Do
    folder: Path
    scenarios: tuple[str, ...]
    seeds: str
    series: str
    jobs: str
    shards: int
    shard: tuple[int, int] | None
    out: Path
    collected: Path
    lab: Path | None
    fail_on: FailOn

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> Asked:
        """What ``environ`` asks for. Raises InputError naming the variable that asks for nothing known."""

        def text(name: str) -> str:
            return environ.get(name, "").strip()

        for name in ("FOLDER", "OUT", "COLLECTED", "LAB"):
            if not text(name).isprintable():
                raise InputError(f"{name}={text(name)!r}: not the name of a folder or file")

        # Not only absolute: what uploads a folder wants to see no . and .. in its name.
        folder = Path(os.path.abspath(text("FOLDER") or "."))  # noqa: PTH100 - which keeps the ..
        if not folder.is_dir():
            raise InputError(f"FOLDER={text('FOLDER')}: no such folder")
        if text("SEEDS"):
            read_seeds(text("SEEDS"))
        series = text("SERIES")
        lab = text("LAB")
        return cls(
            environ=_for_series(environ, series),
            do=_word("DO", text("DO"), Do, Do.RUN),
            folder=folder,
            scenarios=_words(text("SCENARIOS"), folder),
            seeds=text("SEEDS"),
            series=series,
            jobs=text("JOBS") and str(_number("JOBS", text("JOBS"))),
            shards=_number("SHARDS", text("SHARDS") or str(SHARDS_DEFAULT)),
            shard=_shard(text("SHARD")),
            out=Path(os.path.abspath(folder / (text("OUT") or "wirelab-results"))),  # noqa: PTH100 - the same
            collected=folder / (text("COLLECTED") or "wirelab-collected"),
            lab=folder / lab if lab else None,
            fail_on=_word("FAIL_ON", text("FAIL_ON"), FailOn, FailOn.FAIL),
        )

    def exit_code(self, code: int) -> int:
        """The job's exit code where that of `wirelab` is ``code``: 0 for a verdict that is put up with."""
        order = list(Verdict)
        verdict = verdict_of(code)
        tolerated = verdict is not None and order.index(verdict) < order.index(Verdict(self.fail_on))
        return 0 if tolerated else code


def verdict_of(code: int) -> Verdict | None:
    """The verdict that `wirelab` ended with, None if it ended without one."""
    return next((verdict for verdict in Verdict if verdict.exit_code == code), None)


def _for_series(environ: Mapping[str, str], series: str) -> Mapping[str, str]:
    """A series that is asked for has a cache of its own: there, and nowhere else, it is what runs use.

    Raises InputError if there is no such series.
    """
    if not series:
        return environ
    Recipe.find().choices(series)
    root = Cache.at(environ).root
    return {**environ, "WIRELAB_CACHE": str(root.with_name(f"{root.name}-{series}"))}


def _words(text: str, folder: Path) -> tuple[str, ...]:
    """The words of ``text``; a pattern of files stands for the files below ``folder``, as in a shell.

    Only as in a shell: quotes keep a blank within a word, and that is all that any character can do.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise InputError(f"SCENARIOS={text}: {str(error).lower()}") from None
    expanded: list[str] = []
    for word in words:
        files = sorted(folder.glob(word)) if _is_file_pattern(word) else []
        expanded += [str(path.relative_to(folder)) for path in files] or [word]
    return tuple(dict.fromkeys(expanded))


def _is_file_pattern(word: str) -> bool:
    return os.sep in word and not Path(word).is_absolute() and any(character in word for character in "*?[")


def _number(name: str, text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise InputError(f"{name}={text}: expected a number from 1")
    return int(text)


def _shard(text: str) -> tuple[int, int] | None:
    """``2/4``: the second of four. ``/1`` is what GitLab makes of the job that is the only one."""
    if text in ("", "/1"):
        return None
    number, slash, of = text.partition("/")
    if not (slash and number.isdecimal() and of.isdecimal() and 1 <= int(number) <= int(of)):
        raise InputError(f"SHARD={text}: expected which of how many, as 2/4")
    return int(number), int(of)


def _word(name: str, text: str, words: type[_Word], default: _Word) -> _Word:
    if not text:
        return default
    try:
        return words(text)
    except ValueError:
        raise InputError(unknown(name, text, words)) from None
