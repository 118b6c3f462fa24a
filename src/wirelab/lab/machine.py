"""The lab machine: booted on one CPU with a plan, watched, and its results brought back.

A run's folder is all of the host that the lab can see, and `jail` holds it to that. It is the kernel's
current folder, and the kernel mounts from ``/proc/self/cwd``; so the command line is the same in every run,
which it must be, for the kernel mixes it into its random pool::

    root -> the root image        lib -> the guest's code       plan/     what is to be done
    work -> a folder of the user's (exec)   writable/0 -> another    results/  what came of it
"""

import json
import os
import shutil
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import wirelab
from wirelab.errors import LabError
from wirelab.lab import host, memory
from wirelab.lab.interrupts import interrupts_held
from wirelab.lab.jail import Confinement, Jail
from wirelab.lab.keeper import Keeper
from wirelab.lab.kernel_process import KernelProcess, on_cpu
from wirelab.lab.last_words import last_words
from wirelab.lab.prompt import Prompt
from wirelab.lab.recording import Moments, Recording
from wirelab.lab.runaway import Runaways
from wirelab.lab.scratch import discard
from wirelab.plan.types import MEMORY_BYTES
from wirelab.units import NS_PER_S

# Its clock begins at 2023-11-14T22:13:20Z in every run. No bond is made that nobody has asked for.
_COMMAND_LINE = (
    "rootfstype=hostfs rootflags=/proc/self/cwd/root ro mem={memory_mib}M time-travel=inf-cpu "
    "time-travel-start=1700000000000000000 norandmaps seccomp=auto con=null con0=fd:0,fd:1 quiet panic=-1 "
    "bonding.max_bonds=0"
)

_POLL_S = 0.02
_PROGRESS_S = 0.1
# A process may compute for this part of a wall limit, and this long in any case, before it is a runaway.
_RUNAWAY_PART = 0.1
_RUNAWAY_LEAST_S = 5.0
_PROGRESS_BYTES = 64
_STATUS_BYTES = 1 << 20
_CONSOLE_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a lab is: virtual seconds done of a whole, and wall seconds since it was switched on."""

    done_s: float
    whole_s: float
    wall_s: float


class Machine:
    """One lab, from switching on to switching off.

    A context manager: leaving it ends every process of the lab, however it is left. The lab also
    dies with this process, and with the thread that switched it on (patch 0011, prctl(2)).
    """

    def __init__(  # noqa: PLR0913 - all by name but what it is made of
        self,
        kernel: Path,
        root: Path,
        folder: Path,
        *,
        seed: int,
        cpu: int,
        memory_bytes: int = MEMORY_BYTES,
        readable: Sequence[Path] = (),
        writable: Sequence[Path] = (),
        confinement: Confinement = Confinement.AS_FAR_AS_THE_HOST_CAN,
        recording: Recording | Moments | None = None,
        prompt: Prompt | None = None,
        niceness: int = 0,
    ) -> None:
        """``folder`` holds ``plan/`` and gets ``results/``; ``cpu`` is the one host CPU of the lab.

        It can reach other folders of the host, ``readable`` and ``writable`` ones; ``niceness`` is 0 to 19.

        Pinned to one CPU the kernel and its user half hand over to each other about twenty times
        faster than across two.
        """
        # Absolute: the kernel's current folder is not ours, and it dies of a relative $HOME.
        self._folder = folder.absolute()
        self._results = self._folder / "results"
        kernel, root, code = kernel.absolute(), root.absolute(), Path(wirelab.__file__).parent
        command_line = _COMMAND_LINE.format(memory_mib=memory_bytes >> 20)
        self._cpu = cpu
        # The kernel does not pass `parent` on: it would be another command line in every run.
        self._argv = [str(kernel), f"parent={os.getpid()}", *command_line.split(), f"seed={seed}"]
        self._argv += ["init=/usr/sbin/wirelab-init"]
        if recording:
            self._argv += recording.options("results")
        self._prompt = prompt
        if prompt:
            self._argv += prompt.options()
        self._results.mkdir(exist_ok=True)
        (self._folder / "root").symlink_to(root)
        (self._folder / "lib").symlink_to(code)
        self._kernel = kernel
        self._readable = (root, code, self._folder / "plan", *readable)
        self._writable = tuple(writable)
        self._confinement = confinement
        self._memory_bytes = memory_bytes
        self._niceness = niceness
        self._disk = memory.memory_folder(self._folder, memory_bytes=memory_bytes)
        self._memory: Path | None = None
        self._memory_lock = -1
        self._keeper: Keeper[KernelProcess] | None = None
        self._process: KernelProcess | None = None
        self._started_s = 0.0

    def __enter__(self) -> Self:
        """Switch the lab on."""
        self._started_s = time.monotonic()
        try:
            self._memory, self._memory_lock = memory.own_memory(self._disk)
            with interrupts_held():
                self._process = self._start(self._memory)
            self._process.limit_files([self._results, self._memory, *self._writable])
            self._process.give_way(self._niceness)
        except BaseException as error:
            self._end()
            if not isinstance(error, OSError):
                raise
            lack = host.lack() or host.Lack(str(error), self._advice(error))
            raise LabError(f"the lab could not be started: {lack.message}", hint=lack.fix) from error
        return self

    def _advice(self, error: OSError) -> str:
        if isinstance(error, PermissionError) and self._confinement is not Confinement.NONE:
            return "a lab may start no program but its kernel: a script, which needs a shell, cannot be one"
        return "wirelab doctor tells what is missing"

    def _start(self, memory: Path) -> KernelProcess:
        env = {
            # The kernel keeps its number there.
            "HOME": str(memory),
            "TMPDIR": str(memory),
            "PATH": os.defpath,
            # Before 6.16 a process of the lab is a fork of its kernel without the memory:
            # the host would go on writing to where glibc registered restartable sequences.
            "GLIBC_TUNABLES": "glibc.pthread.rseq=0",
        }
        jail = Jail(self._kernel, self._results, memory, self._readable, self._writable)
        with (self._results / "console.log").open("wb") as console, on_cpu(self._cpu):

            def start() -> KernelProcess:
                return KernelProcess.start(
                    self._argv,
                    cwd=self._folder,
                    env=env,
                    console=console,
                    pass_fds=self._prompt.of_the_lab if self._prompt else (),
                )

            if self._confinement is Confinement.NONE:
                return start()
            self._keeper = Keeper(lambda: jail.enter(self._confinement), start)
            return self._keeper.start()

    def __exit__(self, *_exception: object) -> None:
        """End whatever is left of it."""
        self._end()

    @interrupts_held()
    def _end(self) -> None:
        if self._process is not None:
            self._process.end()
        if self._keeper is not None:
            self._keeper.release()
        if self._memory is not None:
            discard(self._memory)
            os.close(self._memory_lock)
            self._memory = None

    def wait(
        self,
        wall_limit_s: float,
        on_progress: Callable[[Progress], None] | None = None,
        on_poll: Callable[[], None] | None = None,
        on_runaway: Callable[[str], None] | None = None,
        *,
        has_progress: bool = True,
    ) -> dict[str, Any]:
        """Wait for the lab to switch itself off. Returns what its ``status.json`` says.

        ``on_progress`` hears some ten times a second how far it is, ``on_poll`` is called at every look.
        A process in it that computes for a tenth of ``wall_limit_s`` without asking anything of its kernel is
        ended: when depends on this host, so it is an error unless ``on_runaway`` takes what is said of it.
        Raises LabError when it has come no farther for ``wall_limit_s``, or ends without a status, or its
        status is an error, or it is not switched on. What tells of no progress has to end within that time,
        and without ``has_progress`` whatever it tells is not looked at.
        """
        process = self._switched_on()
        told_s, farther_s = 0.0, 0.0
        runaway_s = max(_RUNAWAY_LEAST_S, _RUNAWAY_PART * wall_limit_s)
        runaways = self.runaways(runaway_s)
        progress: Progress | None = None
        while not process.has_ended():
            wall_s = self.wall_s()
            if has_progress and wall_s - told_s >= _PROGRESS_S:
                told_s, before, progress = wall_s, progress, self._progress()
                if progress is not None and (before is None or progress.done_s > before.done_s):
                    farther_s = wall_s
                    if on_progress is not None:
                        on_progress(progress)
            if wall_s - farther_s > wall_limit_s:
                raise LabError(_hung(progress, wall_limit_s), hint=self._console())
            if words := runaways.end(wall_s):
                (on_runaway or _give_up)(words)
            if on_poll is not None:
                on_poll()
            process.has_ended(_POLL_S)
        return self._status()

    def require_running(self) -> None:
        """Raise LabError if it has ended, with what it says of that."""
        if self._switched_on().has_ended():
            self._status()
            raise LabError("the lab has ended", hint=self._console())

    def runaways(self, limit_s: float) -> Runaways:
        """Who ends processes in it that compute for so long without asking anything of its kernel."""
        return Runaways(self._switched_on().pid, limit_s, self._results / "console.log")

    def wall_s(self) -> float:
        """How long ago it was switched on. Raises LabError if it was not."""
        self._switched_on()
        return time.monotonic() - self._started_s

    def _switched_on(self) -> KernelProcess:
        """The lab's process."""
        if self._process is None:
            raise LabError("the lab is not switched on")
        return self._process

    def _progress(self) -> Progress | None:
        """How far the lab is, None where it does not tell."""
        with suppress(OSError, ValueError):
            done_ns, whole_ns = self._read("progress", _PROGRESS_BYTES).split()
            return Progress(int(done_ns) / NS_PER_S, int(whole_ns) / NS_PER_S, self.wall_s())
        return None

    def _status(self) -> dict[str, Any]:
        try:
            status = _object(self._read("status.json", _STATUS_BYTES))
        except (OSError, ValueError) as error:
            if lack := host.lack():
                raise LabError(f"the lab cannot run: {lack.message}", hint=lack.fix) from error
            hint = memory.room_wanted(self._disk, self._memory_bytes) + self._console()
            raise LabError("the lab ended without a status", hint=hint) from error
        if status.get("status") != "done":
            hint = str(status.get("hint") or self._console())
            raise LabError(str(status.get("message", "the lab broke")), hint=hint)
        return status

    def _read(self, name: str, most_bytes: int, *, at_end: bool = False) -> str:
        """The beginning of a file of the lab's, or its end: root of a lab can make it as long as a disk."""
        with (self._results / name).open("rb") as file:
            if at_end:
                file.seek(max(0, file.seek(0, os.SEEK_END) - most_bytes))
            return file.read(most_bytes).decode(errors="replace")

    def _console(self) -> str:
        """The last words of the lab, for a message."""
        with suppress(OSError):
            if words := last_words(self._read("console.log", _CONSOLE_BYTES, at_end=True)):
                return f"the lab's last words:\n{words}"
        return "the lab said nothing"


def _give_up(words: str) -> None:
    raise LabError("a process in the lab computes without an end, and virtual time stands still", hint=words)


def _object(text: str) -> dict[str, Any]:
    """A JSON object. Raises ValueError where there is none: root of a lab can write anything."""
    try:
        read = json.loads(text)
    except RecursionError as error:
        raise ValueError(str(error)) from error
    if not isinstance(read, dict):
        raise ValueError(text)  # noqa: TRY004 - it is the text that is wrong
    return read


def _hung(progress: Progress | None, wall_limit_s: float) -> str:
    if progress is None:
        return f"the lab did not end within its wall limit of {wall_limit_s:g} s: something in it hangs"
    where = f"{progress.done_s:.1f} of {progress.whole_s:.1f} virtual s"
    return f"the lab came no farther than {where} in {wall_limit_s:g} s: something in it hangs"


def guest_folder(base: Path, name: str) -> Path:
    """A new folder for one lab below ``base``, with an empty ``plan/``. Replaces a leftover of that name."""
    folder = base / name
    if folder.exists():
        shutil.rmtree(folder)
    (folder / "plan").mkdir(parents=True)
    return folder
