"""Reads an exercise with its scenario: everything that is wrong is told at once, each with its place."""

import hashlib
import os
from pathlib import Path
from typing import Final

from wirelab.errors import InputError, found
from wirelab.model.assignment import Assignment
from wirelab.model.catalogue import Catalogue, beside, find_exercise
from wirelab.model.check.exercise import ExerciseCheck
from wirelab.model.check.offered import never_possible
from wirelab.model.exercise import ExerciseFile
from wirelab.model.expect import Expectation
from wirelab.model.expect_reader import ExpectReader
from wirelab.model.experiment import Experiment, in_order, load_file
from wirelab.model.series import written_out
from wirelab.model.validate import validate
from wirelab.model.yamlfile import Document, Report, read, read_text

_SUFFIXES: Final = (".yaml", ".yml")


def load_exercise(name_or_path: str, folder: Path) -> Assignment:
    """The exercise a user named, by its name, its folder or its file. Raises InputError with all problems."""
    return read_exercise(find_exercise(name_or_path, folder))


def read_exercise(path: Path) -> Assignment:
    """The exercise in a file. Raises InputError with every problem of it or of its scenario."""
    catalogue = beside(path)
    said, document, wrong = validate(ExerciseFile, read(path))
    problems = list(wrong)

    def report(loc: tuple[str | int, ...], message: str) -> None:
        problems.append(document.problem(loc, message))

    # Where the file says nothing sound there is a stub in its place.
    sound = str(document.tree.get("scenario")).strip() == said.scenario
    scenario = _scenario(said.scenario, path.parent, catalogue, report) if sound else None
    check: ExerciseCheck | None = None
    expectations: tuple[Expectation, ...] = ()
    if scenario is not None:
        try:
            experiment = load_file(scenario, catalogue)
        except InputError as error:
            report(("scenario",), f"{said.scenario} is wrong itself")
            problems += error.problems
        else:
            check = ExerciseCheck(said, experiment, report)
            check.check()
            expectations = _expectations(said, experiment, written_out(read(scenario)), report)
    if problems or check is None or scenario is None:
        raise InputError.of(in_order(problems))
    return Assignment(
        name=path.resolve().parent.name,
        folder=path.parent,
        said=said,
        experiment=check.experiment,
        scales=check.scales,
        experiments=check.experiments,
        repairs=check.repairs,
        expectations=expectations,
        digest=_digest(path, scenario),
    )


def check_exercise(path: Path) -> None:
    """Check an exercise as who writes it asks for: whoever does it, reads it often, and waits.

    Raises InputError as ``read_exercise`` does, and with every value that it offers and that can never be.
    """
    exercise, document = read_exercise(path), read(path)
    if never := [document.problem(loc, told) for loc, told in never_possible(exercise)]:
        raise InputError.of(in_order(never))


def scenario_file(exercise: Assignment) -> Path:
    """The file of the scenario of a sound exercise."""
    name = exercise.said.scenario
    if name.endswith(_SUFFIXES):
        return exercise.folder / name
    return beside(exercise.folder / name).path("scenarios", name)


def _scenario(name: str, folder: Path, catalogue: Catalogue, report: Report) -> Path | None:
    """The file of the scenario; None, with the reason told, if there is none."""
    if not name.endswith(_SUFFIXES):
        try:
            return catalogue.path("scenarios", name)
        except InputError as error:
            report(("scenario",), error.problems[0].message)
            return None
    if os.sep in name or not found((folder / name).is_file):
        report(("scenario",), f"`{name}` is no file in the folder of the exercise")
        return None
    return folder / name


def _expectations(
    said: ExerciseFile, experiment: Experiment, scenario: Document, report: Report
) -> tuple[Expectation, ...]:
    """What must hold after the repair."""
    if said.repair is None:
        return ()
    reader = ExpectReader(experiment.scenario, experiment.topology, scenario, report)
    if not said.repair.expect:
        report(("repair", "expect"), "is empty: nothing would be judged")
    return reader.read(said.repair.expect, ("repair", "expect"))


def _digest(path: Path, scenario: Path) -> str:
    """The SHA-256 of what the exercise is made of: its file, and the scenario's where that is its own."""
    own = [path] if scenario.parent != path.parent else [path, scenario]
    return hashlib.sha256("\0".join(map(read_text, own)).encode()).hexdigest()
