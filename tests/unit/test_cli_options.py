"""Files that a command writes besides its output."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

import pytest

from wirelab.cli.options import write_file
from wirelab.errors import LabError

if TYPE_CHECKING:
    from pathlib import Path


def test_a_file_stays_until_the_next_one_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the new one cannot take its place the old one is as it was, and nothing is left behind."""
    file = tmp_path / "report.xml"
    write_file(file, str, "good")
    file.chmod(0o640)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("pathlib.Path.replace", full)
        with pytest.raises(LabError, match=r"report\.xml: cannot be written: No space left"):
            write_file(file, str, "new")
    assert file.read_text(encoding="utf-8") == "good"
    write_file(file, str, "new")
    assert file.read_text(encoding="utf-8") == "new"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert list(tmp_path.iterdir()) == [file]


def test_what_is_no_file_is_written_to(tmp_path: Path) -> None:
    """A link stays one, and a pipe too."""
    link, pipe = tmp_path / "link", tmp_path / "pipe"
    link.symlink_to("target")
    write_file(link, str, "text")
    assert link.is_symlink()
    assert (tmp_path / "target").read_text(encoding="utf-8") == "text"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_file(pipe, str, "text")
    assert os.read(reader, 10) == b"text"
    os.close(reader)
