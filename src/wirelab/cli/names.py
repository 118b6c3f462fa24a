"""What a command line means by names, patterns, files, seeds and CPUs."""

import fnmatch
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from wirelab.errors import InputError, Problem, found, unknown
from wirelab.model.catalogue import around, find_scenario
from wirelab.model.experiment import Experiment, load_file
from wirelab.runner.cpus import usable
from wirelab.runner.job import SEED_MAX

RUNS_MAX: Final = 10_000
"""What one command runs: scenarios with all their seeds."""
_SEEDS: Final = re.compile(r"(?P<first>[0-9]{1,12})(?:-(?P<last>[0-9]{1,12}))?")
_PATTERN: Final = re.compile(r"[*?\[]")


def load_all(names: Sequence[str]) -> dict[str, Experiment]:
    """Every scenario that is named, by that name; all of the catalogue where none is.

    A name with ``*``, ``?`` or ``[`` is a pattern of names. Raises InputError with the problems of all of
    them, and where two have one name: their results could not be told apart.
    """
    experiments, problems = load_valid(names)
    asked: dict[str, str] = {}
    for name, experiment in experiments.items():
        called = experiment.scenario.name
        if (other := asked.setdefault(called, name)) != name:
            problems.append(Problem(f"{other} and {name} are two scenarios called {called}: rename one"))
    if problems:
        raise InputError.of(problems)
    return experiments


def load_valid(names: Sequence[str]) -> tuple[dict[str, Experiment], list[Problem]]:
    """What of them can be run, each file once, and what is wrong with the others."""
    experiments: dict[str, Experiment] = {}
    problems: list[Problem] = []
    files: set[Path] = set()
    for name in scenario_names(names or ("*",)):
        try:
            path, catalogue = find_scenario(name, Path.cwd())
            if (file := path.resolve()) not in files:
                files.add(file)
                experiments[name] = load_file(path, catalogue)
        except InputError as error:
            problems += error.problems
    return experiments, problems


def scenario_names(names: Sequence[str]) -> list[str]:
    """The names that are meant, each once: a pattern stands for all of the catalogue that it matches.

    Raises InputError for a pattern that matches none.
    """
    return list(dict.fromkeys(match for name in names for match in _matching(name)))


def _matching(name: str) -> list[str]:
    if not _PATTERN.search(name) or found(Path(name).exists):
        return [name]
    known = around(Path.cwd()).names("scenarios")
    matches = fnmatch.filter(known, name)
    if not matches:
        raise InputError(unknown("scenario", name, known))
    return matches


def read_seeds(text: str) -> list[int]:
    """The seeds of ``--seeds``: ``20`` is 1 to 20, ``5-8`` and ``1,7`` are what they look like.

    Raises InputError for what is none of it, and for more than ``RUNS_MAX``.
    """
    ranges = [_seed_range(part.strip(), text) for part in text.split(",")]
    if sum(map(len, ranges)) > RUNS_MAX or not all(seeds and seeds[-1] <= SEED_MAX for seeds in ranges):
        raise InputError(f"--seeds {text}: expected 1 to {RUNS_MAX} seeds, each from 0 to {SEED_MAX}")
    return list(dict.fromkeys(seed for seeds in ranges for seed in seeds))


def _seed_range(part: str, text: str) -> range:
    match = _SEEDS.fullmatch(part)
    if match is None:
        raise InputError(f"--seeds {text}: expected how many (20), a range (1-5) or a list (1,3,7)")
    first, last = (int(number) for number in (match["first"], match["last"] or match["first"]))
    return range(1 if part == text.strip() and not match["last"] else first, last + 1)


def require_runs(count: int) -> None:
    """Raise InputError if ``count`` runs are more than one command does."""
    if count > RUNS_MAX:
        raise InputError(f"{count} runs are too many for one command, at most {RUNS_MAX}")


def usable_cpus(asked: Sequence[int] | None, jobs: int | None) -> list[int]:
    """The CPUs to run labs on: those of ``--cpu``, or the first ``--jobs`` that this process may use."""
    ours = usable()
    for cpu in asked or ():
        if cpu not in ours:
            msg = f"--cpu {cpu}: not a CPU that this process may use: {', '.join(map(str, ours))}"
            raise InputError(msg)
    chosen = sorted(set(asked)) if asked else ours
    return chosen[:jobs]
