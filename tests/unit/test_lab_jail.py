"""What a lab can ask of its host, even one whose own kernel has been taken over."""

from __future__ import annotations

import errno
import os
import threading
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from tests.jail.attempts import ANSWERS
from wirelab.cli.app import app
from wirelab.errors import LabError
from wirelab.lab import command, doctor, host, landlock, memory
from wirelab.lab.keeper import Keeper
from wirelab.lab.lock import exclusive_now
from wirelab.lab.machine import Machine
from wirelab.lab.select import Lab

if TYPE_CHECKING:
    from tests.jail.ground import Ground

MEMORY = ("/dev/shm", f"/run/user/{os.getuid()}")  # noqa: S108 - where labs have their memory

# A host without Landlock is one that SECURITY.md promises less for.
needs_landlock = pytest.mark.skipif(not host.landlock_abi(), reason="this host has no Landlock")


def test_a_later_landlock_forbids_more() -> None:
    """Each version has all that the one before it had."""
    handled = [landlock.handled_rights(version) for version in range(1, 9)]
    assert handled == [0x1FFF, 0x3FFF, 0x7FFF, 0x7FFF, 0xFFFF, 0xFFFF, 0xFFFF, 0xFFFF]


@needs_landlock
def test_the_host_answers_no_other_call(ground: Ground) -> None:
    """Sockets, other processes, namespaces, modules, keys: asked for natively, as the lab's kernel would."""
    answers = ground.answers([])
    assert {name: answers[name] for name in ANSWERS} == ANSWERS


@pytest.mark.skipif(
    host.landlock_abi() < 6, reason="this host's Landlock knows no signals, it is older than 6.12"
)
def test_no_signal_reaches_others(ground: Ground) -> None:
    """Not even whoever has started the lab."""
    answers = ground.answers([])
    assert (answers["kill-parent"], answers["tgkill-parent"]) == (errno.EPERM, errno.EPERM)


@needs_landlock
def test_files_are_those_that_were_named(ground: Ground, tmp_path: Path) -> None:
    """Root image, kernel and code can be read and not changed; nothing else of the host can be opened."""
    other = tmp_path / "results" / "other"
    other.mkdir(parents=True)
    (other / "result.json").write_text("{}")
    ours, closed = ground.root / "fstab", (tmp_path / "secret", other / "result.json", Path("/etc/passwd"))
    special = ("/dev/mem", "/dev/ptmx", "/proc/self/mem", "/proc/1/environ")
    folders = ("/", "/proc", *MEMORY, Path.home(), tmp_path, other)
    sealed = (tmp_path, ground.root, other, ground.kernel.parent, Path("plan"))
    refused: list[tuple[str, Path | str]] = [
        *(("read", path) for path in (*closed, *special) if Path(path).exists()),
        *(("list", path) for path in folders if Path(path).is_dir()),
        *(("change", path) for path in (ours, *closed)),
        *(("make", folder / "new") for folder in sealed),
        *(("unlink", path) for path in (ours, ground.kernel, *closed)),
        *(("symlink", path) for path in ("results/link", ground.root / "link")),
        *(("fifo", path) for path in ("results/fifo", ground.root / "fifo")),
        ("execute", "/bin/sh"),
    ]
    let: list[tuple[str, Path | str]] = [
        ("read", ours),
        ("read", ground.kernel),
        ("change", ground.writable / "notes"),
        ("make", "results/new"),
    ]
    let += [(how, ground.writable / how) for how in ("make", "symlink", "fifo")]
    answers = ground.answers([("change", ground.kernel), *refused, *let])
    # It runs: the host says so before it asks whether it may be written.
    assert answers.pop(f"change:{ground.kernel}") in (errno.EACCES, errno.ETXTBSY)
    for how, path in refused:
        assert answers[f"{how}:{path}"] == errno.EACCES, f"{how} {path}"
    assert [answers[f"{how}:{path}"] for how, path in let] == [0] * len(let)


@needs_landlock
def test_nothing_of_a_file_is_changed_by_its_name(ground: Ground, tmp_path: Path) -> None:
    """Landlock does not keep modes, owners and times; nor, before its third version, sizes."""
    files = [ground.root / "fstab", ground.kernel, tmp_path / "secret", ground.writable / "notes"]
    before = {path: (path.stat().st_mode, path.stat().st_uid, path.stat().st_mtime_ns) for path in files}
    bytes_before = {path: path.read_bytes() for path in files}
    quiet = [(how, path) for how in ("chmod", "chown", "utimes") for path in files]
    refused = [("truncate", path) for path in files]
    refused += [(how, ground.writable / "new") for how in ("set-id", "device")]
    answers = ground.answers([*quiet, *refused, ("link", ground.kernel)])
    assert {answers[f"{how}:{path}"] for how, path in quiet} == {0}
    assert {answers[f"{how}:{path}"] for how, path in refused} == {errno.EPERM}
    assert answers[f"link:{ground.kernel}"] in (errno.EACCES, errno.EXDEV)
    after = {path: (path.stat().st_mode, path.stat().st_uid, path.stat().st_mtime_ns) for path in files}
    assert (after, {path: path.read_bytes() for path in files}) == (before, bytes_before)
    assert sorted(path.name for path in ground.writable.iterdir()) == ["notes"]


@needs_landlock
@pytest.mark.parametrize("version", [1, 2, 3, 4])
def test_an_older_landlock_keeps_what_is_in_a_file(
    version: int, ground: Ground, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before Linux 6.2 it lets a file be emptied that is opened to be read, or for nothing at all."""
    monkeypatch.setattr(landlock, "abi", partial(min, version, landlock.abi()))
    files = [ground.root / "fstab", tmp_path / "secret"]
    ways = ("neither", "empty", "empty-neither")
    attempts = [(how, path) for how in ways for path in (*files, ground.writable / "notes")]
    answers = ground.answers([*attempts, ("neither", "/dev/ptmx")])
    assert {answers[f"{how}:{path}"] for how, path in attempts} == {errno.EPERM}
    assert answers["neither:/dev/ptmx"] == errno.EPERM
    assert [path.read_text() for path in files] == ["of the lab\n", "mine\n"]


@needs_landlock
def test_results_get_no_link_by_way_of_a_folder(ground: Ground) -> None:
    """One with a link in it could be made elsewhere, and moved there, for a folder may be there."""
    folder = ground.writable / "folder"
    folder.mkdir()
    (folder / "link").symlink_to("/etc/passwd")
    answers = ground.answers([("bring", folder)])
    assert answers[f"bring:{folder}"] in (errno.EXDEV, errno.EACCES)
    assert not (ground.folder / "run" / "results" / "brought").exists()


@needs_landlock
def test_nothing_of_a_lab_is_a_device_or_a_lock(ground: Ground) -> None:
    """None is left in the place of what moves; and what may be read is not locked for those who write."""
    notes, fstab = ground.writable / "notes", ground.root / "fstab"
    answers = ground.answers([("whiteout", notes), ("lock", fstab)])
    assert (answers[f"whiteout:{notes}"], answers[f"lock:{fstab}"]) == (errno.EPERM, errno.EPERM)
    assert [path.name for path in ground.writable.iterdir() if not path.is_file()] == []


@needs_landlock
def test_its_memory_is_a_folder_of_its_own_and_goes_with_it(
    ground: Ground, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other labs have theirs beside it; what one has left whose wirelab was killed goes, too."""
    disk = tmp_path / "disk"
    left, used = disk / "wirelab-memory-0123abcd", disk / "wirelab-memory-4567cdef"
    for folder in (left, used):
        (folder / ".uml").mkdir(parents=True)
    monkeypatch.setattr(memory, "memory_folder", lambda *_, **__: disk)
    with exclusive_now(used):
        answers = ground.answers([("list", used), ("list", disk)])
    assert (answers[f"list:{used}"], answers[f"list:{disk}"]) == (errno.EACCES, errno.EACCES)
    assert list(disk.iterdir()) == [used]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes what belongs to somebody else")
def test_what_somebody_else_has_put_there_is_left_alone(
    ground: Ground, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All may write to a disk in memory: a link that is called as our folders are leads anywhere."""
    disk = tmp_path / "disk"
    link, folder = disk / "wirelab-memory-89abcdef", disk / "wirelab-memory-fedcba98"
    folder.mkdir(parents=True)
    link.symlink_to(tmp_path)
    for strange in (link, folder):
        os.chown(strange, 65534, 65534, follow_symlinks=False)
    monkeypatch.setattr(memory, "memory_folder", lambda *_, **__: disk)
    ground.answers([])
    assert sorted(disk.iterdir()) == [link, folder]


@needs_landlock
def test_who_starts_a_lab_is_not_confined(ground: Ground, tmp_path: Path) -> None:
    """It is a thread that gives up its rights, and it ends with the lab."""
    ground.answers([])
    assert (tmp_path / "secret").read_text() == "mine\n"
    (tmp_path / "secret").chmod(0o600)
    assert (tmp_path / "secret").stat().st_mode & 0o777 == 0o600
    for thread in threading.enumerate():
        if thread.name == "lab":
            thread.join(20)
            assert not thread.is_alive()


def test_what_goes_wrong_in_the_thread_is_raised_where_it_was_started() -> None:
    """Not printed beside it by the thread."""

    def fail() -> None:
        raise LabError("no")

    with pytest.raises(LabError, match="no"):
        Keeper(lambda: None, fail).start()
    with pytest.raises(LabError, match="no"):
        Keeper(fail, lambda: 1).start()


@needs_landlock
def test_a_script_is_no_kernel(ground: Ground) -> None:
    """It needs a shell, which is another file of the host: the message says so."""
    ground.kernel.write_text("#!/bin/sh\nexit 0\n")
    with pytest.raises(LabError, match=r"the lab could not be started: .*Permission denied") as caught:
        ground.answers([])
    assert "a script" in (caught.value.hint or "")


@pytest.fixture
def bare_host(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host that says it has no Landlock, as Linux before 5.13 does."""

    def absent() -> int:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))

    monkeypatch.setattr(landlock, "abi", absent)


@pytest.mark.usefixtures("bare_host")
def test_a_host_without_landlock_is_told(tmp_path: Path) -> None:
    """By `--version` and doctor, for whom nothing is missing; a command is refused, and told the way out."""
    said = "this host cannot keep a lab from your files: it has no Landlock"
    version = CliRunner().invoke(app, ["--version"], env={"WIRELAB_CACHE": str(tmp_path)})
    assert version.output.endswith(f"\njail: {said}\n")
    (finding,) = (finding for finding in doctor.examine() if finding.name == "jail")
    assert finding.ok
    assert finding.detail.startswith(f"{said}: `wirelab exec` needs --without-jail. Linux 5.13 and newer")
    lab = Lab(tmp_path / "linux", tmp_path, "", "")
    with (
        pytest.raises(LabError, match="it has no Landlock") as caught,
        (tmp_path / "out").open("wb") as stream,
    ):
        command.run_command(
            ["true"],
            lab,
            tmp_path,
            work=tmp_path,
            writable=[],
            seed=1,
            cpu=0,
            wall_limit_s=1,
            stdout=stream,
            stderr=stream,
        )
    assert "--without-jail" in (caught.value.hint or "")


@pytest.mark.usefixtures("bare_host")
def test_a_scenario_has_the_other_half(ground: Ground) -> None:
    """It is data: its lab runs, and the host answers it no more calls than elsewhere."""
    run = ground.folder / "run"
    (run / "plan").mkdir(parents=True)
    with Machine(ground.kernel, ground.root, run, seed=1, cpu=min(os.sched_getaffinity(0))) as lab:
        lab.wait(20)
    answers = (run / "results" / "stdout").read_text().splitlines()
    assert {"socket-inet 1", "mount 1", "attach 1", "kill-child 0"} <= set(answers)


@pytest.mark.usefixtures("bare_host")
def test_whoever_insists_is_refused(ground: Ground) -> None:
    """Half a jail is none for who asked for a whole one."""
    with pytest.raises(LabError, match="the lab could not be confined: Function not implemented"):
        ground.answers([])
