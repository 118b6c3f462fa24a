"""What comes from a worker, looked at from all sides before it counts.

An agent answers with a line of JSON, and after that of a run with its bundle: the tarball of the result.
"""

import hashlib
from datetime import datetime
from pathlib import Path
from typing import Annotated, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from wirelab.errors import LabError, refusals
from wirelab.runner import tarball
from wirelab.runner.run_result import RunResult, parse_run
from wirelab.runner.store import REPORT, RESULT, Store
from wirelab.verdict.verdict import Verdict

LIMIT_BYTES: Final = 1 << 30
"""What a result may hold."""

_ROOM_HINT: Final = "make room there, or choose another folder of results"


def printable(text: str) -> str:
    """A text of somebody else, without what a terminal would obey."""
    return "".join(char if char.isprintable() or char == "\n" else "?" for char in text)


Cpu = Annotated[int, Field(ge=0, lt=1 << 16)]
Text = Annotated[str, AfterValidator(printable)]


class Answer(BaseModel):
    """``error`` with a hint, or ``full``: what has no room; or who is there, or what came of a run."""

    model_config = ConfigDict(strict=True, frozen=True)

    error: Text = ""
    hint: Text | None = None
    full: Text = ""
    version: Text = ""
    code: Text = ""
    lab: Text = ""
    cpus: Annotated[tuple[Cpu, ...], Field(max_length=1 << 16)] = ()
    verdict: Verdict | None = None
    size_bytes: int = 0
    sha256: str = ""

    def line(self) -> bytes:
        """As it is sent."""
        return self.model_dump_json(exclude_unset=True).encode() + b"\n"


class DamagedError(LabError):
    """A bundle that is not what its sender packed, or that holds what no result holds."""


def checksum(bundle: bytes) -> str:
    """What the sender says of it."""
    return hashlib.sha256(bundle).hexdigest()


def keep(bundle: bytes, store: Store, *, scenario: str, seed: int, now: datetime) -> tuple[Path, RunResult]:
    """Put a bundle among the results, if it is the whole result of ``scenario`` with ``seed``.

    The folder's name has the controller's time, ``now`` in UTC. Raises DamagedError if it is not, LabError
    if it cannot be kept.
    """
    with store.begin(scenario, now) as draft:
        texts: dict[str, str] = {}
        try:
            for name, content in tarball.unpack(bundle, LIMIT_BYTES):
                if name in (RESULT, REPORT):
                    texts[name] = content.decode(errors="replace")
                else:
                    with refusals(draft.folder / name, "cannot write results: ", hint=_ROOM_HINT):
                        tarball.write(draft.folder / name, content)
        except tarball.DamagedTarballError as error:
            raise DamagedError(f"a result that cannot be unpacked: {error}") from error
        run = _run(texts.get(RESULT), scenario, seed)
        return draft.commit(texts[RESULT], texts.get(REPORT)), run


def _run(text: str | None, scenario: str, seed: int) -> RunResult:
    if text is None:
        raise DamagedError(f"a result of {scenario} without {RESULT}")
    try:
        run = parse_run(text.encode())
    except ValueError as error:
        raise DamagedError(f"half a result of {scenario}: {error}") from error
    if (run.scenario, run.seed) != (scenario, seed):
        raise DamagedError(f"a result of {run.scenario} with seed {run.seed} for {scenario} with seed {seed}")
    return run
