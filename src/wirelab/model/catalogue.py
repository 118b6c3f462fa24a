"""The catalogue: where scenarios, topologies, parts and measurements are found."""

import functools
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, Self

from wirelab.errors import InputError, Problem, found, unknown
from wirelab.model.check.parts import card_problems, part_problems
from wirelab.model.parts import KINDS, Part, Parts, PartsFile
from wirelab.model.validate import Checked, validate
from wirelab.model.yamlfile import Loc, display, parse, read_text

Section = Literal["scenarios", "scenarios/truth", "topologies"]

MEASUREMENTS: Final = "measurements.yaml"
INDEPENDENT: Final = "truth.yaml"
"""Measurements that others made, for which no scenario was made to begin with."""
TRUTH: Final = "scenarios/truth"
"""The scenarios that imitate independent measurements, which `wirelab truth` runs and nothing else."""
EXERCISES: Final = "exercises"
EXERCISE: Final = "exercise.yaml"
_SUFFIXES: Final = (".yaml", ".yml")
_NO_ROWS: Final = "sources"


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Folders that each may have ``scenarios/``, ``topologies/``, ``parts/`` and files of measurements.

    What is in an earlier folder hides what has the same name in a later one.
    """

    roots: tuple[Path, ...]

    @classmethod
    def of(cls, *roots: Path) -> Self:
        """The catalogue of these folders, the same one named twice counted once."""
        return cls(tuple({os.path.realpath(root): root for root in reversed(roots)}.values())[::-1])

    def names(self, section: Section) -> tuple[str, ...]:
        """The names of everything in a section, sorted."""
        return tuple(sorted({path.stem for root in self.roots for path in _yaml_files(root / section)}))

    def path(self, section: Section, name: str) -> Path:
        """The file of the scenario or topology called ``name``. Raises InputError if there is none."""
        for root in self.roots:
            for suffix in _SUFFIXES:
                path = root / section / f"{name}{suffix}"
                if found(path.is_file):
                    return path
        noun = "topology" if section == "topologies" else "scenario"
        raise InputError(unknown(noun, name, self.names(section)))

    def exercises(self) -> tuple[str, ...]:
        """The names of all exercises, sorted: each is a folder."""
        names = (path.parent.name for root in self.roots for path in (root / EXERCISES).glob(f"*/{EXERCISE}"))
        return tuple(sorted(set(names)))

    def exercise(self, name: str) -> Path:
        """The file of the exercise called ``name``. Raises InputError if there is none."""
        for root in self.roots if name in self.exercises() else ():
            path = root / EXERCISES / name / EXERCISE
            if path.is_file():
                return path
        raise InputError(unknown("exercise", name, self.exercises()))

    def parts(self) -> Parts:
        """Every part. Raises InputError with everything that is wrong in the files of parts."""
        files: list[tuple[Path, str, str]] = []
        problems: list[Problem] = []
        for root in reversed(self.roots):
            for path in _yaml_files(root / "parts"):
                try:
                    files.append((root, display(path), read_text(path)))
                except InputError as error:
                    problems += error.problems
        return _merged(tuple(files), tuple(problems))

    def measurements(self) -> tuple[str, ...]:
        """The rows of the measurements files: ``sfp.asf-10g-t``, ``ftp2001.1`` for the first of a list.

        Raises InputError if a file is unreadable.
        """
        files = (root / name for root in self.roots for name in (MEASUREMENTS, INDEPENDENT))
        return tuple(row for path in files if path.is_file() for row in _rows(read_text(path), display(path)))


@functools.lru_cache(maxsize=4)
def _rows(text: str, file: str) -> tuple[str, ...]:
    """The rows of a measurements file: as with the parts, every scenario asks for the same."""
    groups = parse(text, file).tree.items()
    return tuple(f"{group}.{row}" for group, rows in groups if group != _NO_ROWS for row in _row_names(rows))


@functools.lru_cache(maxsize=4)
def _merged(files: tuple[tuple[Path, str, str], ...], unread: tuple[Problem, ...]) -> Parts:
    """The parts in files, each its folder, its name and its text; later ones hide those of the same name.

    Every scenario draws from the same files: they are read for each, and checked once. ``unread`` are the
    problems of those that could not be read. Raises InputError with all that is wrong.
    """
    problems = list(unread)
    merged: dict[str, dict[str, Part]] = {kind: {} for kind in KINDS}
    seen: dict[tuple[Path, Loc], str] = {}
    sound: list[Checked[PartsFile]] = []
    for root, file, text in files:
        try:
            checked = validate(PartsFile, parse(text, file))
        except InputError as error:
            problems += error.problems
            continue
        sound.append(checked)
        model, document, wrong = checked
        problems += [*wrong, *part_problems(model, document)]
        for loc in ((kind, name) for kind in KINDS for name in getattr(model, kind)):
            if (root, loc) in seen:
                problems.append(document.problem(loc, f"duplicate name, first in {seen[root, loc]}"))
            seen.setdefault((root, loc), f"{document.file}:{document.place(loc).line}")
        for kind in KINDS:
            merged[kind] |= getattr(model, kind)
    parts = Parts.model_validate(merged)
    for model, document, _ in sound:
        problems += card_problems(model, parts.nics, parts.buses, document)
    if problems:
        raise InputError.of(problems)
    return parts


def _row_names(content: object) -> tuple[str, ...]:
    """The names of a mapping, the numbers of a list."""
    if isinstance(content, dict):
        return tuple(map(str, content))
    if isinstance(content, list):
        return tuple(str(number) for number in range(1, len(content) + 1))
    return ()


def shipped_root() -> Path:
    """The folder of the catalogue that comes with wirelab: in an installed package, or the checkout.

    The package's own first: what lies beside an installed package is somebody else's.
    """
    package = Path(__file__).resolve().parents[1]
    installed = package / "catalogue"
    return installed if installed.is_dir() else package.parents[1]


def find_scenario(name_or_path: str, folder: Path) -> tuple[Path, Catalogue]:
    """The file a user means by a name or a path, and the catalogue it draws from.

    A name is looked up below ``folder`` (the current one) and in what is shipped; what a file draws
    from is looked up beside it too. Raises InputError for a name nobody has.
    """
    if name_or_path.endswith(_SUFFIXES) or os.sep in name_or_path:
        path = folder / name_or_path
        return path, beside(path)
    catalogue = around(folder)
    return catalogue.path("scenarios", name_or_path), catalogue


def find_exercise(name_or_path: str, folder: Path) -> Path:
    """The file of the exercise a user means by its name, its folder or its file.

    Raises InputError for a name nobody has.
    """
    if name_or_path.endswith(_SUFFIXES):
        return folder / name_or_path
    if os.sep in name_or_path:
        return folder / name_or_path / EXERCISE
    return around(folder).exercise(name_or_path)


def around(folder: Path) -> Catalogue:
    """The catalogue of a user in ``folder``: what is there, if it has scenarios, then what is shipped."""
    roots = [folder] if any((folder / name).is_dir() for name in ("scenarios", EXERCISES)) else []
    return Catalogue.of(*roots, shipped_root())


def beside(path: Path) -> Catalogue:
    """The catalogue for a file: the folder it is in (or the one above its section), then what is shipped."""
    folder = path.parent
    if folder.parent.name == EXERCISES:
        return Catalogue.of(folder, folder.parent.parent, shipped_root())
    if folder.name == "truth":
        folder = folder.parent
    if folder.name in ("scenarios", "topologies", "parts"):
        folder = folder.parent
    return Catalogue.of(folder, shipped_root())


def _yaml_files(folder: Path) -> tuple[Path, ...]:
    if not folder.is_dir():
        return ()
    return tuple(sorted(path for path in folder.iterdir() if path.suffix in _SUFFIXES))
