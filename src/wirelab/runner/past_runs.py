"""Runs whose results are kept: reports on many are made from them, whichever machine they ran on."""

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from wirelab.errors import InputError, LabError, found
from wirelab.runner.run_result import RunResult, read_run
from wirelab.runner.store import LATEST, RESULT


@dataclass(frozen=True, slots=True)
class Kept:
    """A run, and the folder that its files are in."""

    run: RunResult
    folder: Path


def newest(folders: Iterable[Path]) -> dict[tuple[str, int], RunResult]:
    """The newest result of each scenario and seed below ``folders``.

    A folder that is a result counts too, and so does its result.json. In ``latest`` are links, and to follow
    them is what is meant there. Raises LabError for a result that cannot be read.
    """
    return {key: kept.run for key, kept in newest_kept(folders).items()}


def newest_kept(folders: Iterable[Path]) -> dict[tuple[str, int], Kept]:
    """The same, each with its folder."""
    all_kept = (Kept(read_run(path), path.parent) for path in _oldest_first(_with_linked(folders)))
    return {(kept.run.scenario, kept.run.seed): kept for kept in all_kept}


def named(name: Path, results: Path) -> list[Kept]:
    """What ``name`` stands for: a result, a folder of many (the newest of each seed), a scenario.

    Of a scenario that is the newest result in ``results``. Raises InputError where there is none, LabError
    for a result that cannot be read.
    """
    if found(name.is_file):
        try:
            return [Kept(read_run(name), name.parent)]
        except LabError as error:
            if name.name == RESULT:
                raise
            hint = f"name a {RESULT}, or its folder"
            raise InputError("is no result", file=str(name), hint=hint) from error
    folder = name if found(name.is_dir) else results / LATEST / name
    if not found(folder.is_dir):
        hint = "name a result, its folder, or one of many"
        if name.name == str(name):
            hint += f"; if that is a scenario, `wirelab run {name}` makes one"
        raise InputError("no such result", file=str(name), hint=hint)
    newest = newest_kept([folder])
    if not newest:
        raise InputError(f"no {RESULT} below {folder}", hint="results are in what `--out` names")
    return list(newest.values())


def last_wall_s(folder: Path) -> dict[str, float]:
    """How long each scenario took when it was last measured, by the results below ``folder``."""
    wall_s: dict[str, float] = {}
    for path in _oldest_first([folder]):
        # Half a result tells nothing, and stops nobody who only asks for times.
        with contextlib.suppress(LabError):
            run = read_run(path)
            if not any(variant.cached for variant in run.variants):
                wall_s[run.scenario] = run.wall_s
    return wall_s


def _with_linked(folders: Iterable[Path]) -> Iterator[Path]:
    for folder in folders:
        yield folder
        if folder.name == LATEST and folder.is_dir():
            yield from (link for link in folder.iterdir() if link.is_dir())


def _oldest_first(folders: Iterable[Path]) -> list[Path]:
    """Every result.json below ``folders``, but those of runs under way and those that links lead to."""
    paths = {
        path.resolve()
        for folder in folders
        for path in ([folder] if folder.is_file() else folder.resolve().rglob(RESULT))
    }
    # The names of results begin with the time, those of runs under way with a dot.
    whole = (path for path in paths if not path.parent.name.startswith("."))
    return sorted(whole, key=lambda path: (path.parent.name, path))
