"""`wirelab lab export` and `import` as a user meets them: files, pipes, devices, full disks, exit codes."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from labs import ids
from typer.testing import CliRunner

from wirelab.cli.lab import app as lab_app
from wirelab.errors import InputError, LabError
from wirelab.lab import export

if TYPE_CHECKING:
    from pathlib import Path

    from wirelab.lab.recipe import BuildContext


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    """An interrupted export leaves the file that was there, and nothing beside it."""
    path = tmp_path / "labs" / "lab.tar"
    with export.written(path) as out:
        out.write(b"first")

    def interrupted() -> None:
        with export.written(path) as out:
            out.write(b"half of the second")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_bytes() == b"first"
    assert list(path.parent.iterdir()) == [path]


def test_a_full_disk_is_told_with_the_path(tmp_path: Path) -> None:
    """And nothing half stays on it."""
    with (
        pytest.raises(LabError, match=r"lab\.tar: cannot be written: No space left") as caught,
        export.written(tmp_path / "lab.tar"),
    ):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert "make room" in (caught.value.hint or "")
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_file_is_left_alone(tmp_path: Path) -> None:
    """Renaming would replace a device by a file: for root, /dev/null of the whole machine."""
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path / "pipe", tmp_path):
        with pytest.raises(InputError, match="is there and is no file"), export.written(place):
            pytest.fail("opened")
    assert (tmp_path / "pipe").is_fifo()


def test_a_folder_that_is_a_file_is_told(tmp_path: Path) -> None:
    """Not a traceback."""
    (tmp_path / "file").touch()
    with (
        pytest.raises(LabError, match=r"file/lab\.tar: cannot be written"),
        export.written(tmp_path / "file" / "lab.tar"),
    ):
        pytest.fail("opened")


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    """What it points to is written."""
    (tmp_path / "link").symlink_to("lab.tar")
    with export.written(tmp_path / "link") as out:
        out.write(b"a lab")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "lab.tar").read_bytes() == b"a lab"


def lab(command: list[str], context: BuildContext, content: bytes = b"") -> tuple[int, str]:
    """The exit code and the output of `wirelab lab`."""
    environ = {"WIRELAB_CACHE": str(context.cache.root)}
    result = CliRunner().invoke(
        lab_app, command, env=environ, input=content, catch_exceptions=True, color=False
    )
    if isinstance(result.exception, InputError | LabError):
        return result.exception.exit_code, result.exception.message
    return result.exit_code, result.output


def test_lab_commands(here: BuildContext, there: BuildContext, tmp_path: Path) -> None:
    """`id` names the lab; after export and import it is the same, and a second import says so."""
    code, line = lab(["id"], here)
    assert code == 0
    assert line.split() == [f"kernel-{'k' * 20}", ids(here)[2]]
    assert lab(["id"], there) == (4, f"{there.cache.root} has no lab kernel built from these sources")
    file = str(tmp_path / "lab.tar")
    assert lab(["export", file], here)[0] == 0
    code, told = lab(["import", file], there)
    assert code == 0
    assert "is there already" not in told
    assert "Linux 7.2.12" in told
    assert lab(["id"], there) == (0, line)
    code, told = lab(["import", file], there)
    assert (code, told.splitlines()[0]) == (0, "is there already:")


def test_it_goes_through_a_pipe(here: BuildContext, there: BuildContext) -> None:
    """`wirelab lab export - | ssh HOST wirelab lab import -`."""
    exporter, importer = (
        [sys.executable, "-m", "wirelab", "lab", command, "-"] for command in ("export", "import")
    )

    def environ(context: BuildContext) -> dict[str, str]:
        return {**os.environ, "WIRELAB_CACHE": str(context.cache.root)}

    with subprocess.Popen(  # noqa: S603 - our own Python
        exporter, env=environ(here), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as source:
        done = subprocess.run(  # noqa: S603 - our own Python
            importer, env=environ(there), stdin=source.stdout, capture_output=True, text=True, check=False
        )
    assert (source.returncode, done.returncode) == (0, 0), done.stderr
    assert ids(there) == ids(here)
    assert not [path for path in there.cache.root.iterdir() if path.is_file()]


@pytest.mark.parametrize(
    ("name", "message"),
    [("nowhere.tar", "cannot be read: No such file"), ("", "cannot be read: Is a directory")],
)
def test_a_file_that_is_not_there_is_bad_input(
    name: str, message: str, there: BuildContext, tmp_path: Path
) -> None:
    """Exit code 2, with its name."""
    code, told = lab(["import", str(tmp_path / name)], there)
    assert code == 2
    assert told.startswith(f"{tmp_path / name}: {message}")
