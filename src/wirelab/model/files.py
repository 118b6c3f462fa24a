"""The kinds of YAML files: what each is read as, checked by and completed with."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from wirelab.errors import InputError, found, unknown
from wirelab.model.catalogue import EXERCISE, around, beside
from wirelab.model.check.parts import card_problems, part_problems
from wirelab.model.exercise import ExerciseFile
from wirelab.model.exercise_reader import check_exercise
from wirelab.model.experiment import check_topology, experiment_of, in_order
from wirelab.model.parts import PartsFile
from wirelab.model.scenario import Scenario
from wirelab.model.topology import Topology
from wirelab.model.types import Model
from wirelab.model.validate import validate
from wirelab.model.yamlfile import read

MODELS: Final[Mapping[str, type[Model]]] = {
    "scenario": Scenario,
    "topology": Topology,
    "parts": PartsFile,
    "exercise": ExerciseFile,
}
"""What the files of each kind are read as."""


def find_file(path_or_name: str, folder: Path) -> Path:
    """The file that is named, or that of the scenario or else the exercise called so.

    ``folder`` is the current one. Raises InputError for a word that is no file, and what nothing is called.
    """
    path = Path(path_or_name)
    if not path_or_name.strip():
        raise InputError("the name of a file is missing")
    if path.name != path_or_name or path.suffix or found((folder / path).exists):
        return path
    catalogue = around(folder)
    scenarios, exercises = catalogue.names("scenarios"), catalogue.exercises()
    if path_or_name in scenarios:
        return catalogue.path("scenarios", path_or_name)
    if path_or_name in exercises:
        return catalogue.exercise(path_or_name)
    raise InputError(unknown("file, scenario or exercise", path_or_name, (*scenarios, *exercises)))


def check_file(path: Path) -> None:
    """Check a file of any kind, or the folder of an exercise. Raises InputError with all problems."""
    if found(path.is_dir):
        path = path / EXERCISE
    document = read(path)
    catalogue = beside(path)
    keys = document.tree.keys()
    if path.name == EXERCISE or ("scenario" in keys and "topology" not in keys):
        check_exercise(path)
        return
    if keys & PartsFile.model_fields.keys():
        own, document, wrong = validate(PartsFile, document)
        known = catalogue.parts()
        nics, buses = {*known.nics, *own.nics}, {**known.buses, **own.buses}
        problems = [*wrong, *part_problems(own, document), *card_problems(own, nics, buses, document)]
    elif keys & {"nodes", "cables"}:
        _, problems = check_topology(document, catalogue.parts())
    else:
        experiment_of(document, catalogue)
        return
    if problems:
        raise InputError.of(in_order(problems))


def schema(kind: str) -> dict[str, Any]:
    """The JSON Schema of a kind of file, for editors. Raises KeyError for what is no kind."""
    dialect = "https://json-schema.org/draft/2020-12/schema"
    return {"$schema": dialect, **MODELS[kind].model_json_schema(by_alias=True)}
