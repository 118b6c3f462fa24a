"""Unpacking a Debian by hand: what comes out is what is in it, and nothing gets out of its folder."""

from __future__ import annotations

import io
import os
import stat
import tarfile
from typing import TYPE_CHECKING

import pytest

from wirelab.errors import LabError
from wirelab.lab.untar import unpack

if TYPE_CHECKING:
    from pathlib import Path

TIME_S = 900_000_000


def member(name: str, kind: bytes = tarfile.REGTYPE, *, to: str = "", mode: int = 0o644) -> tarfile.TarInfo:
    """One of a tar, of that time."""
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.mode, info.mtime = kind, to, mode, TIME_S
    return info


def packed(folder: Path, *members: tarfile.TarInfo) -> Path:
    """A tar with these; a file holds its name."""
    path = folder / "debian.tar.gz"
    with tarfile.open(path, "w:gz") as tar:
        for info in members:
            content = info.name.encode() if info.isreg() else b""
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return path


def test_files_folders_and_links_come_out(tmp_path: Path) -> None:
    """With their times, and of modes only who may execute; links of both kinds, wherever they stand."""
    archive = packed(
        tmp_path,
        member("./bin", tarfile.SYMTYPE, to="usr/bin"),
        member("./usr/bin", tarfile.DIRTYPE, mode=0o700),
        member("./usr/bin/su", mode=0o4755),
        member("./usr/bin/su2", tarfile.LNKTYPE, to="./usr/bin/su"),
        member("./etc/shadow", mode=0o600),
        member("./etc/mtab", tarfile.SYMTYPE, to="/proc/mounts"),
    )
    root = tmp_path / "root"
    unpack(archive, root)
    program = root / "usr" / "bin" / "su"
    assert program.read_text() == "./usr/bin/su"
    assert stat.S_IMODE(program.stat().st_mode) == 0o755
    assert int(program.stat().st_mtime) == TIME_S
    assert program.samefile(root / "usr" / "bin" / "su2")
    assert stat.S_IMODE((root / "etc" / "shadow").stat().st_mode) == 0o644
    assert (root / "bin").readlink().as_posix() == "usr/bin"
    assert (root / "etc" / "mtab").readlink().as_posix() == "/proc/mounts"


def test_devices_are_left_out(tmp_path: Path) -> None:
    """And all that is in dev/: nobody but root could make them, and a lab has its own."""
    archive = packed(
        tmp_path,
        member("./dev", tarfile.DIRTYPE),
        member("./dev/null", tarfile.CHRTYPE),
        member("./dev/shm", tarfile.DIRTYPE),
        member("./dev/fd", tarfile.SYMTYPE, to="/proc/self/fd"),
        member("./var/pipe", tarfile.FIFOTYPE),
    )
    unpack(archive, tmp_path / "root")
    assert [path.name for path in (tmp_path / "root").rglob("*")] == ["dev"]


@pytest.mark.parametrize(
    "members",
    [
        [member("../stolen")],
        [member("/etc/stolen")],
        [member("a/../../stolen")],
        [member("a", tarfile.LNKTYPE, to="../secret")],
        [member("a", tarfile.LNKTYPE, to="nothing")],
        [member("a"), member("a")],
        [member("a"), member("a/b")],
    ],
    ids=["above", "absolute", "around", "link-above", "link-nowhere", "twice", "below-a-file"],
)
def test_what_leads_out_or_makes_no_sense_is_refused(members: list[tarfile.TarInfo], tmp_path: Path) -> None:
    """With the archive and what removes it; nothing is written beside the folder."""
    (tmp_path / "secret").write_text("a secret")
    (tmp_path / "cache").mkdir()
    archive = packed(tmp_path / "cache", *members)
    with pytest.raises(LabError, match=r"debian\.tar\.gz cannot be unpacked") as caught:
        unpack(archive, tmp_path / "cache" / "root")
    assert f"rm -r {tmp_path / 'cache'}" in (caught.value.hint or "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cache", "secret"]


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    """A link to elsewhere and a file below its name: the file stays within, or there is none."""
    (tmp_path / "elsewhere").mkdir()
    archive = packed(
        tmp_path, member("a", tarfile.SYMTYPE, to=str(tmp_path / "elsewhere")), member("a/stolen")
    )
    with pytest.raises(LabError, match="cannot be unpacked"):
        unpack(archive, tmp_path / "root")
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.parametrize("below", ["planted", "new/planted"])
@pytest.mark.parametrize("link", ["a", "deep/a"])
def test_no_link_is_made_through_a_link(link: str, below: str, tmp_path: Path) -> None:
    """Neither a link nor its folder: where it leads, nothing comes to be."""
    (tmp_path / "elsewhere").mkdir()
    archive = packed(
        tmp_path,
        member(link, tarfile.SYMTYPE, to=str(tmp_path / "elsewhere")),
        member(f"{link}/{below}", tarfile.SYMTYPE, to="/etc/passwd"),
    )
    with pytest.raises(LabError, match=f"cannot be unpacked: '{link}/{below}' is below a link"):
        unpack(archive, tmp_path / "root")
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.parametrize("content", [b"", b"no tar", b"\x1f\x8b\x08" + bytes(50)])
def test_what_is_no_tar_is_told(content: bytes, tmp_path: Path) -> None:
    """Never a traceback."""
    path = tmp_path / "debian.tar.gz"
    path.write_bytes(content)
    with pytest.raises(LabError, match="cannot be unpacked"):
        unpack(path, tmp_path / "root")


def test_a_tar_that_is_cut_short_is_told(tmp_path: Path) -> None:
    """In the middle of its content."""
    path = packed(tmp_path, *(member(f"file-{number}-{os.urandom(40).hex()}") for number in range(200)))
    path.write_bytes(path.read_bytes()[:-600])
    with pytest.raises(LabError, match="cannot be unpacked"):
        unpack(path, tmp_path / "root")
