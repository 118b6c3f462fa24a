"""Locks that end with their holder, and folders that nobody takes for left behind."""

from __future__ import annotations

import fcntl
import os
from typing import TYPE_CHECKING

import pytest

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
