"""What is said of a lab that dies: stood for by programs that are no kernel."""

from __future__ import annotations

import errno
import os
import resource
import shutil
from typing import TYPE_CHECKING, NamedTuple

import pytest

from wirelab.errors import LabError
from wirelab.lab.jail import Confinement
from wirelab.lab.machine import Machine

if TYPE_CHECKING:
    from pathlib import Path

PATIENCE_S = 20.0


class Usage(NamedTuple):
    """That of a disk, in bytes, as shutil tells it."""

    total: int
    used: int
    free: int


def machine_of(
    folder: Path,
    script: str,
    *,
    cpu: int | None = None,
    niceness: int = 0,
    confinement: Confinement = Confinement.NONE,
) -> Machine:
    """A lab whose kernel is a shell script, which needs a shell and its tools: no jail lets it have them."""
    kernel, root, run = folder / "kernel", folder / "root", folder / "run"
    kernel.write_text(f"#!/bin/sh\n{script}\n")
    kernel.chmod(0o755)
    root.mkdir()
    run.mkdir()
    cpu = min(os.sched_getaffinity(0)) if cpu is None else cpu
    return Machine(kernel, root, run, seed=1, cpu=cpu, confinement=confinement, niceness=niceness)


def death(folder: Path, script: str) -> LabError:
    """The error of such a lab."""
    with pytest.raises(LabError) as caught, machine_of(folder, script) as machine:
        machine.wait(PATIENCE_S)
    return caught.value


def test_its_last_words_are_told(tmp_path: Path) -> None:
    """The end of what it said."""
    error = death(tmp_path, "seq 20; exit 1")
    assert error.message == "the lab ended without a status"
    assert error.hint == "the lab's last words:\n" + "\n".join(map(str, range(9, 21)))


def test_a_panic_says_why_before_its_call_trace(tmp_path: Path) -> None:
    """However long that is, the line that says it comes first; of two panics the last one counts."""
    panics = "; ".join(f"echo 'Kernel panic - not syncing: {why}'; seq 30" for why in ("one", "two"))
    error = death(tmp_path, f"{panics}; exit 1")
    words = ["Kernel panic - not syncing: two", *map(str, range(1, 12))]
    assert error.hint == "the lab's last words:\n" + "\n".join(words)


def test_what_it_says_at_every_start_are_no_last_words(tmp_path: Path) -> None:
    """Sixty lines about consoles that it is to do without would hide what it said before."""
    noise = "setup_one_line failed for device 63 : failed to parse channel pair"
    error = death(tmp_path, f"echo out of memory; for line in $(seq 60); do echo '{noise}'; done; exit 1")
    assert error.hint == "the lab's last words:\nout of memory"


def test_it_has_one_cpu_and_knows_who_started_it(tmp_path: Path) -> None:
    """What starts it has all of its own again."""
    before = os.sched_getaffinity(0)
    error = death(tmp_path, 'grep Cpus_allowed_list /proc/$$/status; echo "$1 of $PPID"; exit 1')
    assert error.hint == (
        f"the lab's last words:\nCpus_allowed_list:\t{min(before)}\nparent={os.getpid()} of {os.getpid()}"
    )
    assert os.sched_getaffinity(0) == before


def test_it_gives_way_and_who_started_it_does_not(tmp_path: Path) -> None:
    """A server's pages come before its labs; a thread of its own that gave way would keep them waiting."""
    before = os.getpriority(os.PRIO_PROCESS, 0)
    script = 'until [ "$(nice)" = 10 ]; do sleep 0.01; done; nice; exit 1'
    with machine_of(tmp_path, script, niceness=10) as machine, pytest.raises(LabError) as caught:
        machine.wait(PATIENCE_S)
    assert caught.value.hint == "the lab's last words:\n10"
    assert os.getpriority(os.PRIO_PROCESS, 0) == before


def test_a_cpu_that_there_is_not_is_told(tmp_path: Path) -> None:
    """By the host's own word; nothing was started."""
    with pytest.raises(LabError, match=r"could not be started: .*Invalid argument"):
        machine_of(tmp_path, "exit 1", cpu=100_000).__enter__()


def test_a_lab_of_who_may_write_no_long_files_may_write_none_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit of a lab's files is the room on the disk, or the lower one that there was before."""
    hard_bytes = 1 << 20

    def prlimit(_process: int, _limit: int, limits: tuple[int, int] | None = None) -> tuple[int, int]:
        if limits is not None and max(limits) > hard_bytes:
            raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))
        return limits or (hard_bytes, hard_bytes)

    monkeypatch.setattr(resource, "prlimit", prlimit)
    assert death(tmp_path, "echo started; exit 1").hint == "the lab's last words:\nstarted"


def test_a_lab_that_cannot_be_limited_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of it stays, neither its process nor the folder of its memory."""
    memory, started = tmp_path / "memory", []
    memory.mkdir()

    def prlimit(process: int, *_: object) -> None:
        started.append(process)
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(resource, "prlimit", prlimit)
    monkeypatch.setattr("wirelab.lab.memory.memory_folder", lambda *_, **__: memory)
    with pytest.raises(LabError, match=r"could not be started: .*Operation not permitted"):
        machine_of(tmp_path, "exec sleep 60").__enter__()
    assert list(memory.iterdir()) == []
    with pytest.raises(ProcessLookupError):
        os.kill(started[0], 0)


def test_silence_is_told(tmp_path: Path) -> None:
    """Not a headline above nothing."""
    assert death(tmp_path, "kill -BUS $$").hint == "the lab said nothing"


def test_a_lab_without_room_for_its_memory_is_told_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file of memory on a disk that is full ends it without a word: the message names disk and fix."""
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(1 << 30, 0, 5 << 20))
    hint = death(tmp_path, "kill -BUS $$").hint or ""
    assert "which has 5 MiB free: make room there, or set TMPDIR" in hint
    assert "up to 768 MiB" in hint


def test_a_lab_that_writes_without_end_is_read_as_far_as_needed(tmp_path: Path) -> None:
    """Files without an end in its results cost the host no memory: each is as long as its disk has room."""
    script = "echo last >>results/console.log"
    length_bytes = shutil.disk_usage(tmp_path).free // 2
    for name in ("progress", "status.json", "console.log"):
        script = f"truncate -s {length_bytes} results/{name}; {script}"
    error = death(tmp_path, f"{script}; sleep 1; exit 1")
    assert error.message == "the lab ended without a status"
    assert (error.hint or "").endswith("last")


@pytest.mark.parametrize("status", ["[" * 100_000, "[]", '"done"', "null", "\\377", '{"status": ['])
def test_a_status_that_makes_no_sense_is_none(tmp_path: Path, status: str) -> None:
    """Root of a lab can leave anything in its place, and switch off."""
    error = death(tmp_path, f"printf '{status}' >results/status.json")
    assert error.message == "the lab ended without a status"


def test_a_lab_that_is_off_cannot_be_waited_for(tmp_path: Path) -> None:
    """Whoever asks it anything is told that, and gets no error of Python's."""
    machine = machine_of(tmp_path, "exit 1")
    with pytest.raises(LabError, match="the lab is not switched on"):
        machine.wait(PATIENCE_S)
    with pytest.raises(LabError, match="the lab is not switched on"):
        machine.wall_s()
