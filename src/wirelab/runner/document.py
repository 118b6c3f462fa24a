"""``result.json`` read again: reports on many runs are made from it, whichever machine they ran on."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from wirelab.errors import LabError
from wirelab.runner.store import RESULT
from wirelab.verdict.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from wirelab.runner.record import RunRecord


class _Part(BaseModel):
    # What a newer wirelab says besides is left alone; what it says instead is refused.
    model_config = ConfigDict(frozen=True, extra="ignore")


class CheckDocument(_Part):
    """A check, as ``wirelab.verdict.checks.Check`` has it."""

    name: str
    expected: str = ""
    measured: str = ""
    verdict: Verdict
    why: str | None = None
    explanation: str | None = None


class FlowDocument(_Part):
    """What a flow came to."""

    name: str
    goodput_bps: float
    retransmits: int | None


class VariantDocument(_Part):
    """A variant, or a control that ``breaks`` an expectation."""

    name: str
    breaks: str | None
    verdict: Verdict
    virtual_s: float = 0.0
    cached: bool = False
    flows: tuple[FlowDocument, ...] = ()
    checks: tuple[CheckDocument, ...]


class Document(_Part):
    """One run of a scenario with one seed.

    ``measured`` names the rows of the measurements that it reproduces, ``fitted`` those of them that a
    figure was fitted to: of these it is no prediction.
    """

    scenario: str
    verdict: Verdict
    seed: int
    kernel: str | None
    wall_s: float
    virtual_s: float
    digest: str | None
    measured: tuple[str, ...] = ()
    fitted: tuple[str, ...] = ()
    variants: tuple[VariantDocument, ...]

    @classmethod
    def of(cls, record: RunRecord) -> Self:
        """The document that is kept of a run."""
        return cls.model_validate(record.document())

    @classmethod
    def missing(cls, scenario: str, seed: int, explanation: str) -> Self:
        """In the place of a run that nothing came of: an error."""
        check = CheckDocument(name="result", verdict=Verdict.ERROR, explanation=explanation)
        lost = VariantDocument(name="run", breaks=None, verdict=Verdict.ERROR, checks=(check,))
        return cls(
            scenario=scenario,
            verdict=Verdict.ERROR,
            seed=seed,
            kernel=None,
            wall_s=0.0,
            virtual_s=0.0,
            digest=None,
            variants=(lost,),
        )

    @property
    def cached(self) -> bool:
        """Whether nothing of it had to be measured."""
        return all(variant.cached for variant in self.variants)


def read_document(path: Path) -> Document:
    """The document of a ``result.json``. Raises LabError naming the file where it is none, or half of one."""
    try:
        return Document.model_validate_json(path.read_bytes())
    except OSError as error:
        raise LabError(f"{path}: {error.strerror}") from error
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"]))
        what = f"{path}: not a whole result: {field + ': ' if field else ''}{first['msg']}"
        raise LabError(what, hint=f"remove {path.parent}, and run the scenario again") from error


def newest(folders: Iterable[Path]) -> dict[tuple[str, int], tuple[Path, Document]]:
    """The newest result of each scenario and seed below ``folders``, with the folder it is in.

    A folder that is a result counts too. Raises LabError for a result that cannot be read.
    """
    found: dict[tuple[str, int], tuple[Path, Document]] = {}
    for path in _oldest_first(folders):
        document = read_document(path)
        found[document.scenario, document.seed] = (path.parent, document)
    return found


def recorded_wall_s(folder: Path) -> dict[str, float]:
    """How long each scenario took when it was last measured, by the results below ``folder``."""
    found: dict[str, float] = {}
    for path in _oldest_first([folder]):
        # Half a result tells nothing, and stops nobody who only asks for times.
        with contextlib.suppress(LabError):
            document = read_document(path)
            if not any(variant.cached for variant in document.variants):
                found[document.scenario] = document.wall_s
    return found


def _oldest_first(folders: Iterable[Path]) -> list[Path]:
    """Every result.json below ``folders``, but those of runs under way and those that links lead to."""
    paths = {path.resolve() for folder in folders for path in folder.resolve().rglob(RESULT)}
    # The names of results begin with the time, those of runs under way with a dot.
    whole = (path for path in paths if not path.parent.name.startswith("."))
    return sorted(whole, key=lambda path: (path.parent.name, path))
