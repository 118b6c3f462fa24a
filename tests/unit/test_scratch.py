"""Folders for the moment: what was killed has left goes with the next one, and nothing else does."""

from __future__ import annotations

import os
import stat
import tempfile
from typing import TYPE_CHECKING

import pytest

from wirelab import __version__
from wirelab.lab.memory import own_memory
from wirelab.lab.scratch import SHELL, own_folder, scratch_folder

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("prefix", [SHELL, "wirelab-scratch-"])
@pytest.mark.parametrize("who", ["a scratch folder", "a lab's memory"])
def test_what_was_killed_has_left_goes(
    who: str, prefix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A session's, or a command's; what another still holds stays, and so do other folders."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    held, lock = own_folder(tmp_path, prefix)
    left = tmp_path / f"{prefix}0123abcd"
    other = tmp_path / "wirelab-other"
    for folder in (left, other):
        folder.mkdir()
    (left / "record").write_bytes(b"gigabytes")
    if who == "a scratch folder":
        with scratch_folder():
            assert not left.exists()
    else:
        _, memory = own_memory(tmp_path)
        os.close(memory)
        assert not left.exists()
    assert held.exists()
    assert other.exists()
    os.close(lock)


def test_a_scratch_folder_is_its_users_alone_and_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever modes what was put there has; while it is used, no other wirelab clears it away."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with scratch_folder() as folder:
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        (folder / "closed").mkdir()
        (folder / "closed" / "file").touch()
        (folder / "closed").chmod(0o500)
        with scratch_folder():
            assert folder.exists()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "name",
    [
        f"wirelab-lab-{__version__}.tar",
        "wirelab-lab-0123abcd",
        f"{SHELL}notes.txt",
        f"{SHELL}notes",
        f"{SHELL}0123abcd.txt",
        "wirelab-memory-0123abcde",
    ],
)
@pytest.mark.parametrize("kind", ["file", "folder"])
def test_what_is_called_alike_stays(
    name: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A release's file that was downloaded, somebody's notes: only folders of ours are cleared away."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    kept = tmp_path / name
    kept.touch() if kind == "file" else kept.mkdir()
    cleared_by_both(tmp_path)
    assert kept.exists()


@pytest.mark.parametrize("kind", ["file", "link"])
def test_what_has_the_name_of_a_folder_and_is_none_stays(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours is no file and no link, wherever that leads."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "work").mkdir()
    for prefix in (SHELL, "wirelab-scratch-", "wirelab-memory-"):
        kept = tmp_path / f"{prefix}0123abcd"
        kept.touch() if kind == "file" else kept.symlink_to("work")
    before = sorted(tmp_path.iterdir())
    cleared_by_both(tmp_path)
    assert sorted(tmp_path.iterdir()) == before


def cleared_by_both(place: Path) -> None:
    """What a lab and a command do before they make a folder there, and that folder's end."""
    folder, memory = own_memory(place)
    folder.rmdir()
    os.close(memory)
    with scratch_folder():
        pass
