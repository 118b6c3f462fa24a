"""An experiment: a scenario with its topology and its parts, checked as a whole."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from wirelab.errors import InputError, Problem, unknown
from wirelab.model.cases import Case, CaseReader
from wirelab.model.catalogue import Catalogue, find_scenario
from wirelab.model.check.topology import topology_problems
from wirelab.model.check.traffic import traffic_problems
from wirelab.model.check.vlan import vlan_problems
from wirelab.model.check.wiring import wiring_conflicts
from wirelab.model.parts import Parts
from wirelab.model.published import Published
from wirelab.model.scenario import Scenario
from wirelab.model.series import written_out
from wirelab.model.topology import Topology
from wirelab.model.validate import validate
from wirelab.model.wiring import Wiring
from wirelab.model.yamlfile import Document, Loc, read

_FOUND_BY_NAME: Final = ("scenarios", "truth", "topologies")
"""The folders of a catalogue."""


@dataclass(frozen=True, slots=True)
class Experiment:
    """A scenario that can be carried out: its variants, then its controls.

    ``story`` tells it in words, ``published`` is what it is held against.
    """

    scenario: Scenario
    topology: Topology
    cases: tuple[Case, ...]
    story: str
    published: tuple[Published, ...] = ()

    def case(self, name: str) -> Case:
        """The case called ``name``. Raises InputError if there is none."""
        for case in self.cases:
            if case.name == name:
                return case
        raise InputError(unknown("variant or control", name, (case.name for case in self.cases)))


def load(name_or_path: str, folder: Path) -> Experiment:
    """The scenario a user named, checked with everything it draws from.

    ``folder`` is the current one. Raises InputError with every problem of the scenario, or of the
    topology and the parts it draws from.
    """
    return load_file(*find_scenario(name_or_path, folder))


def load_file(path: Path, catalogue: Catalogue) -> Experiment:
    """The experiment in a file. Raises InputError with every problem of it or of what it draws from."""
    return experiment_of(read(path), catalogue)


def experiment_of(document: Document, catalogue: Catalogue) -> Experiment:
    """The experiment that a scenario's document describes. Raises InputError as ``load_file`` does."""
    scenario, document, wrong = validate(Scenario, written_out(document))
    parts = catalogue.parts()
    problems = [*wrong, *_name_problems(scenario.name, document)]
    problems += _row_problems(scenario, document, catalogue.measurements())
    topology = _topology(scenario, document, catalogue, parts, problems)
    problems += traffic_problems(scenario, topology, document)
    cases: tuple[Case, ...] = ()
    published: tuple[Published, ...] = ()
    if topology is not None:
        reader = CaseReader(scenario, topology, parts, document)
        cases = reader.read()
        published = reader.published(cases)
        problems += reader.problems
    if problems or topology is None:
        raise InputError.of(in_order(problems))
    return Experiment(scenario, topology, cases, scenario.story or _story(document), published)


def _row_problems(scenario: Scenario, document: Document, rows: Sequence[str]) -> Iterator[Problem]:
    """The rows that no measurement has, and those fitted to that the scenario is not about."""
    measured = scenario.source.measured
    for row in measured:
        if row not in rows:
            yield document.problem(("source", "measured"), unknown("measurement", row, rows))
    named: list[tuple[Loc, str]] = [(("fitted",), row) for row in scenario.fitted]
    for loc, row in [*named, *((("published", row), row) for row in scenario.published)]:
        if row not in measured:
            yield document.problem(loc, unknown("row of source.measured", row, measured))


def _name_problems(name: str, document: Document) -> Iterator[Problem]:
    """A file of a catalogue is found by its own name: what it says of itself has to be that."""
    path = Path(document.file).absolute()
    said = str(document.tree.get("name")).strip() == name
    if said and path.parent.name in _FOUND_BY_NAME and path.stem != name:
        yield document.problem(("name",), f"the file is called `{path.name}`: write `{path.stem}`")


def check_topology(document: Document, parts: Parts) -> tuple[Topology, list[Problem]]:
    """A topology and everything that is wrong with it and with the parts it names."""
    topology, document, wrong = validate(Topology, written_out(document))
    problems = [*wrong, *_name_problems(topology.name, document)]
    problems += topology_problems(topology, parts, document)
    if not problems:
        problems += vlan_problems(topology, document)
    if not problems:
        problems += [
            document.problem(conflict.loc, conflict.message)
            for conflict in wiring_conflicts(Wiring.of(topology, parts, ()))
            if conflict.missing_part is None
        ]
    return topology, problems


def _topology(
    scenario: Scenario, document: Document, catalogue: Catalogue, parts: Parts, problems: list[Problem]
) -> Topology | None:
    """The topology a scenario names; None, with the reason among ``problems``, if it cannot be used."""
    if str(document.tree.get("topology")).strip() != scenario.topology:
        return None  # a stub, in the place of what is missing or wrong
    try:
        path = catalogue.path("topologies", scenario.topology)
    except InputError as error:
        problems.append(document.problem(("topology",), error.problems[0].message))
        return None
    try:
        topology, in_topology = check_topology(read(path), parts)
    except InputError as error:
        problems += error.problems
        return None
    problems += in_topology
    return None if in_topology else topology


def _story(document: Document) -> str:
    """The comment a scenario opens with, without the line that is only its file name: a line a paragraph."""
    lines = document.comment.splitlines()
    if lines and lines[0].endswith((".yaml", ".yml")):
        lines = lines[1:]
    paragraphs = "\n".join(line.strip() for line in lines).split("\n\n")
    return "\n\n".join(text for paragraph in paragraphs if (text := " ".join(paragraph.split())))


def in_order(problems: Iterable[Problem]) -> list[Problem]:
    """Each problem once, in the order of the files and their lines."""
    unique = dict.fromkeys(problems)
    files = list(dict.fromkeys(problem.file for problem in unique))
    return sorted(
        unique, key=lambda problem: (files.index(problem.file), problem.line or 0, problem.column or 0)
    )
