"""Any command of the user's, as root in a fresh lab: its output and its exit code brought out."""

import json
import os
import select
import shutil
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Final

from wirelab.errors import InputError, LabError
from wirelab.lab import host, jail
from wirelab.lab.jail import Confinement
from wirelab.lab.machine import Machine
from wirelab.lab.select import Lab
from wirelab.plan.types import MEMORY_BYTES

# As the guest has them: the working folder, and where a writable folder from elsewhere appears.
_WORK = PurePosixPath("/mnt/work")
_ELSEWHERE = PurePosixPath("/mnt")

_PARTS_AT_ONCE: Final = 1024
"""Of output, between two looks at the limit."""

WITHOUT_JAIL: Final = "with --without-jail it runs all the same, and may read and write what you may"


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
    memory_bytes: int = MEMORY_BYTES,
    is_jailed: bool = True,
) -> int:
    """Run ``argv`` in a lab made in ``folder`` and return its exit code.

    ``work`` is its working folder, read-only. A folder of ``writable`` appears where it is below
    ``work``, else as ``/mnt/<name>``. Of the host the command reaches these; if it is not jailed, all that
    its user does. Raises InputError for a folder that cannot be used, LabError when the lab breaks, takes
    longer than ``wall_limit_s`` or cannot be confined on this host.
    """
    if is_jailed and (lack := jail.lack()):
        if worse := host.lack():
            raise LabError(f"the lab cannot run: {worse.message}", hint=worse.fix)
        raise LabError(lack.message, hint=f"{lack.fix}; {WITHOUT_JAIL}")
    if not os.access(work, os.R_OK | os.X_OK):
        hint = "cd to a folder of yours"
        raise InputError("the current folder is closed to you", file=str(work), hint=hint)
    (folder / "plan").mkdir()
    (folder / "writable").mkdir()
    targets = _targets(work, writable)
    _spare(lab, folder, writable)
    for number, path in enumerate(writable):
        (folder / "writable" / str(number)).symlink_to(path.resolve())
    (folder / "work").symlink_to(work)
    order = {"argv": list(argv), "writable": [str(target) for target in targets]}
    (folder / "plan" / "command.json").write_text(json.dumps(order))

    machine = Machine(
        lab.kernel,
        lab.root,
        folder,
        seed=seed,
        cpu=cpu,
        memory_bytes=memory_bytes,
        readable=[work],
        writable=writable,
        confinement=Confinement.WHOLE if is_jailed else Confinement.NONE,
    )
    results = folder / "results"
    with (results / "stdout").open("x+b") as lab_stdout, (results / "stderr").open("x+b") as lab_stderr:

        def print_new() -> None:
            # The lab writes to files and not to pipes: a pipe makes the writer wait for its reader, and
            # waiting takes virtual time.
            for file, stream in ((lab_stdout, stdout), (lab_stderr, stderr)):
                _pass_on(file, stream)

        def print_runaway(words: str) -> None:
            stderr.write(f"wirelab: ended, for it stopped virtual time: {words}\n".encode())

        try:
            with machine:
                # Root of the lab could tell of progress for ever.
                status = machine.wait(
                    wall_limit_s, on_poll=print_new, on_runaway=print_runaway, has_progress=False
                )
        finally:
            for file, stream in ((lab_stdout, stdout), (lab_stderr, stderr)):
                shutil.copyfileobj(file, stream)
                stream.flush()
    code = status.get("exit_code")
    if not isinstance(code, int):
        raise LabError("the lab ended without the command's exit code")
    return code


def _pass_on(file: BinaryIO, stream: BinaryIO) -> None:
    """Print what is new, as far as its reader takes it: nobody's limit waits for who reads slowly."""
    for _ in range(_PARTS_AT_ONCE):
        if not _takes_more(stream) or not (part := file.read(select.PIPE_BUF)):
            break
        stream.write(part)
        stream.flush()


def _takes_more(stream: BinaryIO) -> bool:
    """Whether so much as a pipe takes at once can be written without waiting."""
    try:
        descriptor = stream.fileno()
    except OSError:
        # It is in memory.
        return True
    ready = select.poll()
    ready.register(descriptor, select.POLLOUT)
    return bool(ready.poll(0))


def _spare(lab: Lab, folder: Path, writable: Sequence[Path]) -> None:
    """Raise InputError if a lab could write to what labs are made of, or put links among its own results."""
    for path in writable:
        for part, what in ((lab.kernel, "kernel"), (lab.root, "root image"), (folder, "folder for this run")):
            inner, outer = part.resolve(), path.resolve()
            if inner.is_relative_to(outer) or outer.is_relative_to(inner):
                hint = "set TMPDIR to another folder" if part == folder else "name a folder of yours"
                raise InputError(f"--writable {path}: the lab's own {what} is there", hint=hint)


def _targets(work: Path, writable: Sequence[Path]) -> list[PurePosixPath]:
    targets: list[PurePosixPath] = []
    for path in writable:
        if not path.is_dir():
            raise InputError(f"--writable {path}: no such folder", hint=f"mkdir -p {path}")
        resolved = path.resolve()
        inside = resolved.is_relative_to(work)
        target = _WORK / resolved.relative_to(work) if inside else _ELSEWHERE / resolved.name
        if target in targets or (target == _WORK and not inside):
            raise InputError(f"--writable {path}: another folder is already at {target} in the lab")
        targets.append(target)
    return targets
