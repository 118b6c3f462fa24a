"""Any command of the user's, as root in a fresh lab: its output and its exit code brought out."""

from __future__ import annotations

import json
import os
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, BinaryIO

from wirelab.errors import InputError
from wirelab.lab.machine import Machine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wirelab.lab.select import Lab

# As the guest has them: the working folder, and where a writable folder from elsewhere appears.
_WORK = PurePosixPath("/mnt/work")
_ELSEWHERE = PurePosixPath("/mnt")

_CHUNK_BYTES = 1 << 16


class _Echo:
    """Copies what a file gains to a stream.

    The lab writes to a file and not to a pipe: a pipe makes the writer wait for its reader, and
    waiting takes virtual time.
    """

    def __init__(self, path: Path, stream: BinaryIO) -> None:
        self._path = path
        self._stream = stream
        self._file: BinaryIO | None = None

    def __call__(self) -> None:
        if self._file is None:
            if not self._path.exists():
                return
            self._file = self._path.open("rb")
        while chunk := self._file.read(_CHUNK_BYTES):
            self._stream.write(chunk)
            self._stream.flush()

    def close(self) -> None:
        """Copy the rest."""
        self()
        if self._file is not None:
            self._file.close()


def run_command(  # noqa: PLR0913 each is a choice of the user's
    argv: Sequence[str],
    lab: Lab,
    folder: Path,
    *,
    work: Path,
    writable: Sequence[Path],
    seed: int,
    cpu: int,
    wall_limit_s: float,
    stdout: BinaryIO,
    stderr: BinaryIO,
) -> int:
    """Run ``argv`` in a lab made in ``folder`` and return its exit code.

    ``work`` is its working folder, read-only. A folder of ``writable`` appears where it is below
    ``work``, else as ``/mnt/<name>``. Raises InputError for a folder that cannot be used, LabError when the
    lab breaks or takes longer than ``wall_limit_s``.
    """
    if not os.access(work, os.R_OK | os.X_OK):
        raise InputError(
            "the current folder is closed to you", file=str(work), hint="cd to a folder of yours"
        )
    (folder / "plan").mkdir()
    (folder / "writable").mkdir()
    targets = _targets(work, writable)
    for number, path in enumerate(writable):
        (folder / "writable" / str(number)).symlink_to(path.resolve())
    (folder / "work").symlink_to(work)
    order = {"argv": list(argv), "writable": [str(target) for target in targets]}
    (folder / "plan" / "command.json").write_text(json.dumps(order))

    machine = Machine(lab.kernel, lab.root, folder, seed=seed, cpu=cpu)
    echoes = [_Echo(folder / "results" / name, out) for name, out in (("stdout", stdout), ("stderr", stderr))]

    def print_new() -> None:
        for echo in echoes:
            echo()

    try:
        with machine:
            outcome = machine.wait(wall_limit_s, on_poll=print_new)
    finally:
        for echo in echoes:
            echo.close()
    return int(outcome.status["exit_code"])


def _targets(work: Path, writable: Sequence[Path]) -> list[PurePosixPath]:
    targets: list[PurePosixPath] = []
    for path in writable:
        if not path.is_dir():
            msg = f"--writable {path}: no such folder"
            raise InputError(msg, hint=f"mkdir -p {path}")
        resolved = path.resolve()
        if resolved.is_relative_to(work) and resolved != work:
            target = _WORK / resolved.relative_to(work)
        elif resolved == work:
            target = _WORK
        else:
            target = _ELSEWHERE / resolved.name
        if target in targets:
            msg = f"--writable {path}: another folder is already at {target} in the lab"
            raise InputError(msg)
        targets.append(target)
    return targets
