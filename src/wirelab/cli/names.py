"""What a command line means by names, patterns, files, seeds and CPUs."""

from __future__ import annotations

import fnmatch
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from wirelab.errors import InputError, unknown
from wirelab.model.catalogue import around
from wirelab.model.experiment import load

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wirelab.errors import Problem
    from wirelab.model.experiment import Experiment

SEED_MAX: Final = (1 << 32) - 1
_PATTERN: Final = re.compile(r"[*?\[]")


def load_all(names: Sequence[str]) -> dict[str, Experiment]:
    """Every scenario that is named, by that name; all of the catalogue where none is.

    A name with ``*``, ``?`` or ``[`` is a pattern of names. Raises InputError with the problems of all of
    them.
    """
    experiments: dict[str, Experiment] = {}
    problems: list[Problem] = []
    for name in scenario_names(names or ("*",)):
        try:
            experiments[name] = load(name, Path.cwd())
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError.of(problems)
    return experiments


def scenario_names(names: Sequence[str]) -> list[str]:
    """The names that are meant, each once: a pattern stands for all of the catalogue that it matches.

    Raises InputError for a pattern that matches none.
    """
    return list(dict.fromkeys(each for name in names for each in _matching(name)))


def _matching(name: str) -> list[str]:
    if not _PATTERN.search(name) or Path(name).exists():
        return [name]
    known = around(Path.cwd()).names("scenarios")
    found = fnmatch.filter(known, name)
    if not found:
        raise InputError(unknown("scenario", name, known))
    return found


def read_seeds(text: str) -> list[int]:
    """The seeds of ``--seeds``: ``20`` is 1 to 20, ``5-8`` and ``1,7`` are what they look like."""
    seeds: list[int] = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            msg = f"--seeds {text}: expected how many (20), a range (1-5) or a list (1,3,7)"
            raise InputError(msg)
        if dash:
            seeds += range(int(first), int(last) + 1)
        elif "," in text:
            seeds.append(int(first))
        else:
            seeds += range(1, int(first) + 1)
    if not seeds or max(seeds) > SEED_MAX:
        msg = f"--seeds {text}: no seed from 0 to {SEED_MAX} in it"
        raise InputError(msg)
    return list(dict.fromkeys(seeds))


def usable_cpus(asked: Sequence[int] | None, jobs: int | None) -> list[int]:
    """The CPUs to run labs on: those of ``--cpu``, or the first ``--jobs`` that this process may use."""
    usable = sorted(os.sched_getaffinity(0))
    for cpu in asked or ():
        if cpu not in usable:
            msg = f"--cpu {cpu}: not a CPU that this process may use: {', '.join(map(str, usable))}"
            raise InputError(msg)
    chosen = sorted(set(asked)) if asked else usable
    return chosen[:jobs]
