"""What a container says of a folder from outside that it cannot write to."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from wirelab.container import hint

INSIDE = {"container": "oci"}
REFUSED = OSError(errno.EACCES, "Permission denied")


def map_of(tmp_path: Path, line: str) -> Path:
    """A file as /proc/self/uid_map is."""
    path = tmp_path / "uid_map"
    path.write_text(line, encoding="ascii")
    return path


def test_outside_a_container_there_is_nothing_to_say(tmp_path: Path) -> None:
    """The general hints hold."""
    assert hint(REFUSED, tmp_path, {}) is None


def test_what_is_not_about_rights_is_not_its_business(tmp_path: Path) -> None:
    """A full disk is one in a container, too."""
    assert hint(OSError(errno.ENOSPC, "No space left on device"), tmp_path, INSIDE) is None


def test_a_read_only_mount_is_named_as_one() -> None:
    """The nearest folder that is there is the one that was mounted."""
    told = hint(OSError(errno.EROFS, "Read-only file system"), Path("/proc/results"), INSIDE)
    assert told == (
        'start the container with a folder of yours at /proc: -v "$PWD/results:/proc", without `:ro`'
    )


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to somebody else")
def test_the_owner_of_the_folder_may_write(tmp_path: Path) -> None:
    """Whoever it belongs to is most likely who started the container."""
    os.chown(tmp_path, 1234, 2345)
    told = hint(REFUSED, tmp_path / "deep" / "results", INSIDE)
    assert told is not None
    assert told.startswith(f"{tmp_path} belongs to user 1234, and this container runs as user 0")
    assert told.endswith("start it with --user 1234:2345")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("         0          0 4294967295\n", 'sudo chown "$(id -u):$(id -g)"'),
        ("         0       1000          1\n         1     100000      65536\n", "--user 0:0"),
    ],
    ids=["an engine of root", "an engine of an ordinary user"],
)
def test_a_folder_of_root_was_made_by_the_engine_or_is_the_callers(
    line: str, words: str, tmp_path: Path
) -> None:
    """Docker makes what is not there, as root. To a user's own engine, its user is root."""
    told = hint(REFUSED, Path("/proc"), INSIDE, map_of(tmp_path, line))
    assert told is not None
    assert words in told
