"""Locks that end with their holder, and folders that nobody takes for left behind."""

from __future__ import annotations

import errno
import fcntl
import os
from typing import TYPE_CHECKING

import pytest

from wirelab.errors import LabError
from wirelab.fleet.agent import own_folder
from wirelab.lab import lock

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("step", ["open", "flock"])
def test_a_folder_that_another_removed_before_it_was_locked_is_made_again(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever cleans up sees a folder that nobody holds yet: before it is opened, or before it is locked."""
    module = os if step == "open" else fcntl
    original = getattr(module, step)
    removed: list[Path] = []

    def interrupted(*args: object) -> object:
        folders = list(tmp_path.iterdir())
        if folders and not removed:
            folders[0].rmdir()
            removed.append(folders[0])
        return original(*args)

    with monkeypatch.context() as patch:
        patch.setattr(module, step, interrupted)
        folder, descriptor = lock.locked_folder(tmp_path, "run-")
    assert removed
    assert list(tmp_path.iterdir()) == [folder]
    with lock.exclusive_now(folder) as abandoned:
        assert not abandoned
    os.close(descriptor)
    with lock.exclusive_now(folder) as abandoned:
        assert abandoned


def test_an_agent_keeps_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two that start at once: one cleans up between the other's making of a folder and its locking."""
    original = os.open
    removed: list[str] = []

    def cleaned_up(path: Path, flags: int, *args: int) -> int:
        if os.path.dirname(path) == str(tmp_path) and not removed:  # noqa: PTH120 - whatever kind of path
            os.rmdir(path)  # noqa: PTH106
            removed.append(str(path))
        return original(path, flags, *args)

    monkeypatch.setattr(os, "open", cleaned_up)
    with own_folder(tmp_path) as folder:
        assert removed
        assert list(tmp_path.iterdir()) == [folder]


def as_nfs(descriptor: int, operation: int) -> None:
    """The lock(2) of a disk of another machine: alone for who may write, and of no folder alone."""
    may_write = fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE != os.O_RDONLY
    if operation & fcntl.LOCK_EX and not may_write:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))


def test_a_file_on_nfs_is_held_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """NFS refuses that for what was opened for reading only."""
    (tmp_path / "apt").touch()
    monkeypatch.setattr(fcntl, "flock", as_nfs)
    with lock.exclusive_now(tmp_path / "apt") as is_ours:
        assert is_ours


@pytest.mark.parametrize("number", [errno.EBADF, errno.ENOLCK])
def test_where_there_is_no_lock_nothing_is_ours(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder on NFS, a disk without locks: nobody can tell that it was left, and it stays."""

    def refused(*_: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refused)
    with lock.exclusive_now(tmp_path) as is_ours:
        assert not is_ours


def test_what_only_others_may_write_is_held_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is opened for reading then, and who else holds it is seen."""
    original = os.open

    def closed(path: Path, flags: int, *args: int) -> int:
        if flags & os.O_ACCMODE != os.O_RDONLY:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return original(path, flags, *args)

    (tmp_path / "entry").touch()
    monkeypatch.setattr(os, "open", closed)
    with lock.exclusive_now(tmp_path / "entry") as is_ours:
        assert is_ours
        with lock.exclusive_now(tmp_path / "entry") as is_also_ours:
            assert not is_also_ours


@pytest.mark.parametrize("when", ["before", "meanwhile", "and made anew"])
def test_what_was_removed_is_not_held(when: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before it is opened, or between that and its lock, which is then one of a file without this name."""
    entry, original = tmp_path / "kernel" / "entry.json", fcntl.flock
    entry.parent.mkdir()
    entry.touch()

    def pruned() -> None:
        entry.parent.rename(tmp_path / ".pruned")
        if when == "and made anew":
            entry.parent.mkdir()
            entry.touch()

    def interrupted(descriptor: int, operation: int) -> None:
        pruned()
        original(descriptor, operation)

    if when == "before":
        pruned()
    else:
        monkeypatch.setattr(fcntl, "flock", interrupted)
    with pytest.raises(LabError, match=r"entry\.json was removed meanwhile") as caught, lock.shared(entry):
        pytest.fail("held")
    assert caught.value.hint == "start it again"
