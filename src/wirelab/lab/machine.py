"""The lab machine: booted on one CPU with a plan, watched, and its results brought back.

A run's folder is all of the host that the lab can see. It is the kernel's current folder, and the
kernel mounts from ``/proc/self/cwd``; so the command line is the same in every run, which it must be,
for the kernel mixes it into its random pool::

    root -> the root image        lib -> the guest's code       plan/     what is to be done
    work -> a folder of the user's (exec)   writable/0 -> another    results/  what came of it
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import wirelab
from wirelab import container
from wirelab.errors import LabError
from wirelab.units import NS_PER_S

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

# What a lab is given of memory. It is part of the experiment: the kernel derives TCP's limits from it.
MEMORY = "768M"
_MEMORY_BYTES = 768 << 20
_MEMORY_HINT = "set TMPDIR to a folder that is not mounted noexec"

# 2023-11-14T22:13:20Z: a lab always wakes up at the same time of the same day.
_START_NS = 1_700_000_000_000_000_000

_POLL_S = 0.02
_PROGRESS_S = 0.1
_CONSOLE_LINES = 12


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a lab is: virtual seconds done of a whole, and wall seconds since it was switched on."""

    done_s: float
    whole_s: float
    wall_s: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """What ``status.json`` of a lab that came to its end says, and how long it took."""

    status: dict[str, Any]
    wall_s: float


class Machine:
    """One lab, from switching on to switching off.

    A context manager: leaving it ends every process of the lab, however it is left. The lab also
    dies with this process, and with the thread that switched it on (prctl(2), PR_SET_PDEATHSIG).
    """

    def __init__(self, kernel: Path, root: Path, folder: Path, *, seed: int, cpu: int) -> None:
        """``folder`` holds ``plan/`` and gets ``results/``; ``cpu`` is the one host CPU of the lab.

        Pinned to one CPU the kernel and its user half hand over to each other about twenty times
        faster than across two.
        """
        # Absolute: the kernel's current folder is not ours, and it dies of a relative $HOME.
        folder = folder.absolute()
        self._kernel = kernel.absolute()
        self._folder = folder
        self._seed = seed
        self._cpu = cpu
        self._process: subprocess.Popen[bytes] | None = None
        self._memory = folder
        self._started_s = 0.0
        (folder / "results").mkdir(exist_ok=True)
        (folder / "root").symlink_to(root.absolute())
        (folder / "lib").symlink_to(Path(wirelab.__file__).parent)

    def __enter__(self) -> Self:
        """Switch the lab on."""
        console = self._folder / "results" / "console.log"
        self._memory = memory_folder(self._folder)
        self._started_s = time.monotonic()
        try:
            with console.open("wb") as output:
                self._process = subprocess.Popen(  # noqa: S603 argv lists only
                    self._argv(),
                    cwd=self._folder,
                    env={
                        "HOME": str(self._folder),
                        "TMPDIR": str(self._memory),
                        "PATH": os.defpath,
                        # Before 6.16 a process of the lab is a fork of its kernel without the memory:
                        # the host would go on writing to where glibc registered restartable sequences.
                        "GLIBC_TUNABLES": "glibc.pthread.rseq=0",
                    },
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
        except OSError as error:
            msg = f"the lab could not be started: {error}"
            raise LabError(msg, hint="wirelab doctor tells what is missing") from error
        return self

    def __exit__(self, *_exception: object) -> None:
        """End whatever is left of it."""
        process = self._process
        if process is None:
            return
        # All of the lab is one session: its own process group, whoever leads it.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def _argv(self) -> list[str]:
        return [
            "setpriv",
            "--pdeathsig",
            "KILL",
            "taskset",
            "--cpu-list",
            str(self._cpu),
            str(self._kernel),
            "rootfstype=hostfs",
            "rootflags=/proc/self/cwd/root",
            "ro",
            f"mem={MEMORY}",
            "time-travel=inf-cpu",
            f"time-travel-start={_START_NS}",
            "norandmaps",
            "seccomp=auto",
            "con=null",
            "con0=fd:0,fd:1",
            "quiet",
            "panic=-1",
            f"seed={self._seed}",
            "init=/usr/sbin/wirelab-init",
        ]

    def wait(
        self,
        wall_limit_s: float,
        on_progress: Callable[[Progress], None] | None = None,
        on_poll: Callable[[], None] | None = None,
    ) -> Outcome:
        """Wait for the lab to switch itself off.

        ``on_progress`` hears some ten times a second how far it is, ``on_poll`` is called at every look.
        Raises LabError when it has come no farther for ``wall_limit_s``, or ends without a status, or its
        status is an error. What tells of no progress has to end within that time.
        """
        process = self._process
        if process is None:
            msg = "the lab is not switched on"
            raise LabError(msg)
        told_s, farther_s = 0.0, 0.0
        progress: Progress | None = None
        while process.poll() is None:
            wall_s = self._wall_s()
            if wall_s - told_s >= _PROGRESS_S:
                told_s, before, progress = wall_s, progress, self._progress()
                if progress is not None and (before is None or progress.done_s > before.done_s):
                    farther_s = wall_s
                    if on_progress is not None:
                        on_progress(progress)
            if wall_s - farther_s > wall_limit_s:
                raise LabError(_hung(progress, wall_limit_s), hint=self._console())
            if on_poll is not None:
                on_poll()
            with suppress(subprocess.TimeoutExpired):
                process.wait(_POLL_S)
        return self._outcome()

    def _wall_s(self) -> float:
        return time.monotonic() - self._started_s

    def _progress(self) -> Progress | None:
        """How far the lab is, None where it does not tell."""
        with suppress(OSError, ValueError):
            done_ns, whole_ns = (self._folder / "results" / "progress").read_text().split()
            return Progress(int(done_ns) / NS_PER_S, int(whole_ns) / NS_PER_S, self._wall_s())
        return None

    def _outcome(self) -> Outcome:
        path = self._folder / "results" / "status.json"
        try:
            status: dict[str, Any] = json.loads(path.read_text())
        except (OSError, ValueError) as error:
            msg = "the lab ended without a status"
            raise LabError(msg, hint=self._room() + self._console()) from error
        if status.get("status") != "done":
            raise LabError(
                str(status.get("message", "the lab broke")), hint=status.get("hint") or self._console()
            )
        return Outcome(status, self._wall_s())

    def _console(self) -> str:
        """The last words of the lab, for a message."""
        with suppress(OSError):
            lines = (self._folder / "results" / "console.log").read_text(errors="replace").splitlines()
            if lines:
                return "the lab's last words:\n" + "\n".join(lines[-_CONSOLE_LINES:])
        return "the lab said nothing"

    def _room(self) -> str:
        """A line where the lab's memory may not have had enough of it: a lab dies of that without a word."""
        free_mib = shutil.disk_usage(self._memory).free >> 20
        if free_mib >= _MEMORY_BYTES >> 20:
            return ""
        disk = _disk_of(self._memory)
        return (
            f"its memory, up to {_MEMORY_BYTES >> 20} MiB, is on {disk}, which has {free_mib} MiB free: "
            "make room there, or set TMPDIR to another folder\n"
        )


def _hung(progress: Progress | None, wall_limit_s: float) -> str:
    if progress is None:
        return f"the lab did not end within its wall limit of {wall_limit_s:g} s: something in it hangs"
    where = f"{progress.done_s:.1f} of {progress.whole_s:.1f} virtual s"
    return f"the lab came no farther than {where} in {wall_limit_s:g} s: something in it hangs"


def memory_folder(fallback: Path, preferred: Iterable[Path] | None = None) -> Path:
    """Where the lab's memory may live: a folder in memory if one has room, else $TMPDIR, else ``fallback``.

    The kernel maps its memory from a file and executes there; in containers /dev/shm is small and mounted
    noexec. ``preferred`` are other folders to try first. Raises LabError if none will do.
    """
    for folder in _memory_folders() if preferred is None else preferred:
        if _executes(folder) and shutil.disk_usage(folder).free >= _MEMORY_BYTES:
            return folder
    if not _executes(fallback):
        msg = f"{_disk_of(fallback)} does not let code be executed: a lab's memory cannot live there"
        raise LabError(msg, hint=container.MEMORY_HINT if container.is_one() else _MEMORY_HINT)
    return fallback


def _memory_folders() -> Iterator[Path]:
    yield Path("/dev/shm")  # noqa: S108 memory, not a temporary name
    yield Path("/run/user") / str(os.getuid())
    named = Path(os.environ.get("TMPDIR", ""))
    if named.is_absolute():
        yield named


def _disk_of(folder: Path) -> Path:
    """The mount point above a folder, which people know where they may not know the folder."""
    return next(place for place in (folder, *folder.parents) if place.is_mount())


def _executes(folder: Path) -> bool:
    """Whether a file that is made there can be executed."""
    try:
        return os.access(folder, os.W_OK) and not os.statvfs(folder).f_flag & os.ST_NOEXEC
    except OSError:
        return False


def guest_folder(base: Path, name: str) -> Path:
    """A new folder for one lab below ``base``, with an empty ``plan/``. Replaces a leftover of that name."""
    folder = base / name
    if folder.exists():
        shutil.rmtree(folder)
    (folder / "plan").mkdir(parents=True)
    return folder
