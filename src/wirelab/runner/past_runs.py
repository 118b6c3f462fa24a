"""Runs whose results are kept: reports on many are made from them, whichever machine they ran on."""

import contextlib
from collections.abc import Iterable
from pathlib import Path

from wirelab.errors import LabError
from wirelab.runner.run_result import RunResult, read_run
from wirelab.runner.store import RESULT


def newest(folders: Iterable[Path]) -> dict[tuple[str, int], RunResult]:
    """The newest result of each scenario and seed below ``folders``.

    A folder that is a result counts too. Raises LabError for a result that cannot be read.
    """
    runs = (read_run(path) for path in _oldest_first(folders))
    return {(run.scenario, run.seed): run for run in runs}


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


def _oldest_first(folders: Iterable[Path]) -> list[Path]:
    """Every result.json below ``folders``, but those of runs under way and those that links lead to."""
    paths = {path.resolve() for folder in folders for path in folder.resolve().rglob(RESULT)}
    # The names of results begin with the time, those of runs under way with a dot.
    whole = (path for path in paths if not path.parent.name.startswith("."))
    return sorted(whole, key=lambda path: (path.parent.name, path))
