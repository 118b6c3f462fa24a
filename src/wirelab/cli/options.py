"""The options that several commands share: how they are declared, completed and, for files, carried out.

Completion never complains: what cannot be read is not offered.
"""

import os
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Final, TypeVar, get_args

import typer

from wirelab.errors import InputError, LabError, WirelabError
from wirelab.lab.scratch import replacement
from wirelab.model.catalogue import around
from wirelab.model.parts import PartKind
from wirelab.report.junit import junit
from wirelab.report.parts import entries
from wirelab.report.summary import markdown
from wirelab.report.text import warn
from wirelab.runner import job
from wirelab.runner.job import SEED_MAX
from wirelab.runner.run_result import RunResult

T = TypeVar("T")


def complete_scenario(incomplete: str) -> list[str]:
    """The scenarios that can be run by name from here."""
    return _starting(incomplete, lambda: around(Path.cwd()).names("scenarios"))


def complete_part(incomplete: str) -> list[str]:
    """The kinds of parts, and the parts."""
    kinds: tuple[str, ...] = get_args(PartKind)
    known = _starting(incomplete, lambda: (entry.name for entry in entries(around(Path.cwd()).parts())))
    return list(dict.fromkeys([*_starting(incomplete, lambda: kinds), *known]))


def refuse(ctx: typer.Context, names: Iterable[str], of: str) -> None:
    """Raise InputError for options that were said, and that do nothing without another one."""
    sources = {name: ctx.get_parameter_source(name) for name in names}
    said = [_called(name) for name, source in sources.items() if source and source.name == "COMMANDLINE"]
    if said:
        raise InputError(f"{' and '.join(said)} {'is' if len(said) == 1 else 'are'} of {of}")


def _called(name: str) -> str:
    """How an option of a function is called on the command line."""
    return "--no-cache" if name == "use_cache" else f"--{name}"


def _starting(incomplete: str, names: Callable[[], Iterable[str]]) -> list[str]:
    try:
        return [name for name in names() if name.startswith(incomplete)]
    except (InputError, OSError):
        return []


DEFAULT_SEED: Final = job.DEFAULT_SEED
DEFAULT_OUT: Final = Path("results")

Names = Annotated[
    list[str] | None,
    typer.Argument(
        help="Scenarios by name, pattern or file. [default: all]",
        metavar="[NAME|PATTERN|FILE]...",
        autocompletion=complete_scenario,
    ),
]
Name = Annotated[
    str,
    typer.Argument(help="A scenario by name or file.", metavar="NAME|FILE", autocompletion=complete_scenario),
]
Variant = Annotated[str | None, typer.Option(help="A variant or control. [default: the first variant]")]
Seed = Annotated[int, typer.Option(min=0, max=SEED_MAX, help="What the lab's randomness grows from.")]
Jobs = Annotated[int | None, typer.Option("--jobs", "-j", min=1, help="Labs at once. [default: one a CPU]")]
Out = Annotated[Path, typer.Option(metavar="DIR", help="Where results are kept.")]
UseCache = Annotated[bool, typer.Option("--cache/--no-cache", help="Answer from what was measured before.")]
Kernel = Annotated[
    Path | None, typer.Option(metavar="FILE|SERIES", help="Another lab kernel: a file, or `7.2-full`.")
]
Root = Annotated[
    Path | None, typer.Option(metavar="DIR|IMAGE", help="Another root image: a folder, or `course`.")
]
Junit = Annotated[Path | None, typer.Option("--junit", metavar="FILE", help="Write JUnit XML.")]
JsonFile = Annotated[
    Path | None, typer.Option("--json-file", metavar="FILE", help="Write all results as one JSON list.")
]
Markdown = Annotated[
    Path | None, typer.Option("--markdown", metavar="FILE", help="Write a summary for a CI job's page.")
]


@dataclass(frozen=True, slots=True)
class Files:
    """Where the reports on many runs go, None for one that nobody asked for."""

    junit: Path | None
    json: Path | None
    markdown: Path | None

    def write(self, runs: Sequence[RunResult]) -> None:
        """Write them, each whatever becomes of the others. Raises LabError naming a file."""
        raise_first(
            unwritten(
                partial(write_file, self.junit, junit, runs),
                partial(write_file, self.json, _json_list, runs),
                partial(write_file, self.markdown, markdown, runs),
            )
        )


def tell(text: str) -> None:
    """Say what is worth a line and is no part of the output."""
    typer.echo(text, err=True)


def unwritten(*files: Callable[[], None]) -> list[LabError]:
    """Write every one of some files. Returns what went wrong."""
    errors = []
    for write in files:
        try:
            write()
        except LabError as error:
            errors.append(error)
    return errors


def raise_first(errors: Sequence[WirelabError]) -> None:
    """Raise the first of them, if there is one, and say the others before."""
    for other in errors[1:]:
        warn(other.message)
    if errors:
        raise errors[0]


def write_file(path: Path | None, text_of: Callable[[T], str], what: T) -> None:
    """Write a file if one was asked for; one that was there stays until all is written.

    Raises LabError naming it.
    """
    if path is None:
        return
    text = text_of(what)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if _is_replaceable(path):
            with replacement(path) as fresh:
                fresh.write_text(text, encoding="utf-8")
                if path.exists():
                    shutil.copymode(path, fresh)
        else:
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise LabError(f"{path}: cannot be written: {error.strerror}") from error


def _is_replaceable(path: Path) -> bool:
    """Whether another file may take its place: that of a link, such as /dev/stdout, or a device none may."""
    if path.is_symlink() or not os.access(path.parent, os.W_OK):
        return False
    return not path.exists() or (path.is_file() and os.access(path, os.W_OK))


def _json_list(runs: Sequence[RunResult]) -> str:
    texts = ",\n".join(run.to_json().rstrip() for run in runs)
    return f"[\n{texts}\n]\n"
