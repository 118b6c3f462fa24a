"""Write the golden files anew: plans, their commands, and the messages for bad input.

    PYTHONPATH=src python tests/golden/regenerate.py

Run it after a change that is meant to change them, and read the difference before it is committed.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from wirelab.errors import InputError
from wirelab.model.catalogue import Catalogue
from wirelab.model.experiment import load
from wirelab.model.files import check_file
from wirelab.plan.build import build_plan
from wirelab.plan.commands import commands

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT: Final = Path(__file__).resolve().parents[2]
GOLDEN: Final = Path("tests/golden")
BAD_INPUT: Final = Path("tests/bad-input")
SEED: Final = 1
# A network with more ports says the same many times over.
MOST_PORTS: Final = 50


def scenarios() -> tuple[str, ...]:
    """Those that have golden files: the shipped ones, and those beside this file.

    These have what no shipped one may have.
    """
    own = (f"{path.relative_to(ROOT)}" for path in sorted((ROOT / GOLDEN).glob("*.yaml")))
    return (*Catalogue.of(ROOT).names("scenarios"), *own)


def golden_files(scenario: str) -> Iterator[tuple[Path, str]]:
    """Each golden file of a scenario, relative to the repository, and the text it should have.

    A network of very many ports has none. The commands tell the cases of a scenario apart; its first one
    has its whole Plan, too.
    """
    experiment = load(scenario, ROOT)
    for case in experiment.cases:
        plan = build_plan(experiment, case, SEED)
        if len(plan.ports) > MOST_PORTS:
            continue
        stem = GOLDEN / f"{experiment.scenario.name}.{case.name}"
        if case is experiment.cases[0]:
            yield stem.with_name(f"{stem.name}.plan.json"), plan.to_json()
        yield stem.with_name(f"{stem.name}.commands.txt"), "\n".join(commands(plan)) + "\n"


def message(bad: Path) -> str:
    """What a user reads for a bad file, named relative to the repository; empty if nothing is wrong."""
    try:
        check_file(bad)
    except InputError as error:
        return f"{error}\n"
    return ""


def main() -> None:
    """Write every file that differs."""
    os.chdir(ROOT)
    wanted = dict(file for name in scenarios() for file in golden_files(name))
    for bad in sorted(BAD_INPUT.glob("*/*.yaml")):
        wanted[bad.with_suffix(".txt")] = message(bad)
    for path in {*GOLDEN.glob("*.json"), *GOLDEN.glob("*.txt")} - wanted.keys():
        path.unlink()
        print(f"removed {path}")  # noqa: T201 - a command line tool
    for path, text in wanted.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(f"wrote {path}")  # noqa: T201 - a command line tool


if __name__ == "__main__":
    main()
