"""The record that lies beside the plan of a variant in a result's folder (`wirelab run --record`)."""

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from wirelab.errors import LabError, refusals
from wirelab.lab.recording import RECORD
from wirelab.lab.scratch import replacement
from wirelab.results.record import Kind, read_record
from wirelab.results.result import Result
from wirelab.results.values import first_wrong
from wirelab.units import PS_PER_NS

DOCUMENT: Final = "record.json"
_MOST_BYTES: Final = 4096


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    digest: str
    from_ns: int
    until_ns: int
    first_drop: str | None = None


@dataclass(frozen=True, slots=True)
class KeptRecord:
    """A record of the run with that digest, from one instant of the traffic's time to another.

    ``first_drop`` is the port whose first drop in it is the first one of the run, by label, if that is known.
    """

    record: Path
    digest: str
    from_ns: int
    until_ns: int
    first_drop: str | None = None

    @classmethod
    def beside(cls, folder: Path) -> Self | None:
        """What a variant's folder has, None for nothing. Raises LabError for what is no such document."""
        path = folder / DOCUMENT
        with refusals(path):
            if not path.is_file():
                return None
            with path.open("rb") as file:
                content = file.read(_MOST_BYTES)
        try:
            told = _Document.model_validate_json(content)
        except ValidationError as error:
            hint = "remove it, to run again instead"
            raise LabError(f"{path}: {first_wrong(error)}", hint=hint) from None
        return cls(folder / RECORD, told.digest, told.from_ns, told.until_ns, told.first_drop)

    def has(self, known: Result, windows_ns: Sequence[tuple[int, int]]) -> bool:
        """Whether it is of the run that measured this, and has these windows whole."""
        return (
            known.digest == self.digest
            and self.record.is_file()
            and all(
                self.from_ns <= from_ns and min(until_ns, known.elapsed_ns) <= self.until_ns
                for from_ns, until_ns in windows_ns
            )
        )


def keep(
    record: Path, folder: Path, result: Result, window_ns: tuple[int, int], first_drop: str | None = None
) -> KeptRecord:
    """Move a record into a variant's folder. Returns it: what is not whole ends where it ends.

    Raises LabError where that folder takes no more; then nothing of it is there.
    """
    from_ns, until_ns = window_ns
    for event in read_record(record, {Kind.END}):
        until_ns = min(until_ns, event.at_ps // PS_PER_NS - result.status.ready_ns)
    digest = result.digest
    document = _Document(digest=digest, from_ns=from_ns, until_ns=until_ns, first_drop=first_drop)
    with refusals(folder / RECORD, "the record cannot be kept: "):
        with replacement(folder / RECORD) as fresh:
            shutil.move(record, fresh)
        with replacement(folder / DOCUMENT) as fresh:
            fresh.write_text(json.dumps(document.model_dump(), indent=1) + "\n", encoding="utf-8")
    return KeptRecord(folder / RECORD, digest, from_ns, until_ns, first_drop)
