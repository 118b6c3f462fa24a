"""Whatever is done to a file, it is sound or every problem has its place; `make fuzz` does more of it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from examples import ROOT, SHIPPED
from mutations import mutated

from wirelab.errors import MOST_PROBLEMS, InputError, Problem
from wirelab.model.catalogue import MEASUREMENTS, Catalogue
from wirelab.model.experiment import load_file
from wirelab.model.files import check_file

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest

BLOCK: Final = 100

# What is said of a whole file, or of a key at its top that is no word: there is no field to name.
NAMELESS: Final = (
    "is empty",
    "is not UTF-8 text",
    "is not YAML",
    "has a character YAML forbids",
    "expected keys such as",
    "a key must be a word",
    "this key has the invisible character",
    "aliases are not allowed here",
    "is nested deeper than",
)
COUNTED: Final = "more problems from here on"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """As many tests as there are blocks of mutations, so that several processors share them."""
    first: int = metafunc.config.getoption("--first-mutation")
    seeds = range(first, first + metafunc.config.getoption("--mutations"))
    metafunc.parametrize("seeds", [seeds[at : at + BLOCK] for at in range(0, len(seeds), BLOCK)], ids=str)


def test_every_problem_of_a_mutated_file_has_its_place(seeds: range, tmp_path: Path) -> None:
    """File, line and field, one screen of them at most, nothing that a terminal obeys, never a traceback."""
    catalogue = Catalogue.of(tmp_path, ROOT)
    misplaced: list[str] = []
    for seed in seeds:
        original, raw = mutated(seed)
        alone = tmp_path / "mutated.yaml"
        alone.write_bytes(raw)
        misplaced += _misplaced(seed, alone, partial(check_file, alone))
        beside = _beside(original, tmp_path)
        if beside is not None:
            beside.write_bytes(raw)
            misplaced += _misplaced(seed, beside, partial(load_file, SCENARIO, catalogue))
            beside.unlink()
    assert misplaced == []


SCENARIO: Final = SHIPPED.path("scenarios", "sfp-mismatch")
TOPOLOGY: Final = "topologies/sfp-home.yaml"


def _beside(original: Path, folder: Path) -> Path | None:
    """Where a scenario draws from a file in the catalogue of ``folder``, None if it draws nothing from it."""
    if original == ROOT / MEASUREMENTS:
        return folder / MEASUREMENTS
    section = original.parent.name
    if section not in ("topologies", "parts"):
        return None
    path = folder / (TOPOLOGY if section == "topologies" else f"parts/{original.name}")
    path.parent.mkdir(exist_ok=True)
    return path


def _misplaced(seed: int, path: Path, check: Callable[[], object]) -> list[str]:
    """The problems that have no place, or none in ``path`` or the scenario that draws from it."""
    lines = len(path.read_bytes().decode("utf-8", errors="replace").splitlines())
    try:
        check()
    except InputError as error:
        problems = error.problems
    else:
        return []
    assert len(problems) <= MOST_PROBLEMS + 1
    return [
        f"seed {seed}: {problem}"
        for problem in problems
        if problem.file not in (str(path), str(SCENARIO.relative_to(ROOT)), str(SCENARIO))
        or problem.line is None
        or (problem.file == str(path) and not 1 <= problem.line <= lines + 1)
        or not (problem.field or problem.message.startswith(NAMELESS) or COUNTED in problem.message)
        or not _is_legible(problem)
    ]


def _is_legible(problem: Problem) -> bool:
    return str(problem).replace("\n", " ").isprintable() or any(
        # Of other scripts, private use, or younger than Python's tables: shown, if only as a box.
        character in str(problem)
        for character in "\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}\ud7ff\ue000"
    )
