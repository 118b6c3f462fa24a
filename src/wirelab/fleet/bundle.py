"""A result on its way: packed on a worker, looked at from all sides before it counts on the controller."""

from __future__ import annotations

import gzip
import hashlib
import io
import zlib
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from wirelab.errors import LabError
from wirelab.lab import ustar
from wirelab.runner.run_result import parse_run
from wirelab.runner.store import REPORT, RESULT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime
    from pathlib import Path

    from wirelab.runner.run_result import RunResult
    from wirelab.runner.store import Store

LIMIT_BYTES: Final = 1 << 30
"""What a result may hold."""


class DamagedError(LabError):
    """A bundle that is not what its sender packed, or that holds what no result holds."""


def pack(folder: Path) -> bytes:
    """All files of a result's folder."""
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=buffer, mtime=0, compresslevel=1) as tar:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                with path.open("rb") as content:
                    ustar.write(tar, str(path.relative_to(folder)), content)
        ustar.write_end(tar)
    return buffer.getvalue()


def checksum(bundle: bytes) -> str:
    """What the sender says of it."""
    return hashlib.sha256(bundle).hexdigest()


def keep(  # noqa: PLR0913 - what was asked for, and what came
    bundle: bytes, sha256: str, store: Store, *, scenario: str, seed: int, now: datetime
) -> tuple[Path, RunResult]:
    """Put a bundle among the results, if it is the whole result of ``scenario`` with ``seed``.

    The folder's name has the controller's time, ``now`` in UTC. Raises DamagedError if it is not, LabError
    if it cannot be kept.
    """
    if checksum(bundle) != sha256:
        raise DamagedError(f"the result of {scenario} is not what its worker sent")
    with store.begin(scenario, now) as draft:
        texts: dict[str, str] = {}
        for name, content in _files(bundle):
            if name in (RESULT, REPORT):
                texts[name] = content.decode(errors="replace")
            else:
                _write(draft.folder / name, content)
        run = _run(texts.get(RESULT), scenario, seed)
        return draft.commit(texts[RESULT], texts.get(REPORT)), run


def _files(bundle: bytes) -> Iterator[tuple[str, bytes]]:
    """Its files: below the folder they are put in, and nothing but files, none within another."""
    room_bytes = LIMIT_BYTES
    # A name twice, or a file where another has its folder, could not be written.
    files: set[str] = set()
    folders: set[str] = set()
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(bundle)) as tar:
            while (header := ustar.read_header(tar)) is not None:
                name, size_bytes = header
                room_bytes -= size_bytes
                if room_bytes < 0:
                    raise DamagedError(f"a result of more than {LIMIT_BYTES >> 20} MiB")
                parents = {str(folder) for folder in PurePosixPath(name).parents}
                if name in files | folders or parents & files:
                    raise DamagedError(f"a result with `{name}` in it twice")
                files.add(name)
                folders |= parents
                yield name, ustar.read(tar, size_bytes)
                ustar.read_padding(tar, size_bytes)
    except (ustar.FormatError, ustar.CutShortError, EOFError, zlib.error, OSError) as error:
        raise DamagedError(f"a result that cannot be unpacked: {error}") from error


def _write(path: Path, content: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:
            file.write(content)
    except OSError as error:
        message = f"{error.filename or path}: cannot write results: {error.strerror}"
        raise LabError(message, hint="make room there, or choose another folder of results") from error


def _run(text: str | None, scenario: str, seed: int) -> RunResult:
    if text is None:
        raise DamagedError(f"a result of {scenario} without {RESULT}")
    try:
        run = parse_run(text.encode())
    except ValueError as error:
        raise DamagedError(f"half a result of {scenario}: {error}") from error
    if (run.scenario, run.seed) != (scenario, seed):
        msg = f"a result of {run.scenario} with seed {run.seed} for {scenario} with seed {seed}"
        raise DamagedError(msg)
    return run
