"""Folders for the moment: what a killed session at a prompt has left goes with the next one of anything."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING

import pytest

from wirelab.lab.memory import own_memory
from wirelab.lab.scratch import SHELL, own_folder, scratch_folder

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("who", ["a scratch folder", "a lab's memory"])
def test_what_a_killed_session_has_left_goes(
    who: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What another session still holds stays, and so do other folders."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    held, lock = own_folder(tmp_path, SHELL)
    left = tmp_path / f"{SHELL}left"
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
