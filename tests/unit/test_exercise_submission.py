"""Submissions of strangers: what is sound is taken, all else refused with a word, and nothing is lost."""

from __future__ import annotations

import io
import os
import tarfile
import zipfile
from typing import TYPE_CHECKING

import pytest
from classroom import diligent, sample
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wirelab.errors import InputError
from wirelab.exercise.submission import MOST_BYTES, MOST_FILES, Refused, Submission, submissions

if TYPE_CHECKING:
    from pathlib import Path

WORK = diligent(sample()).to_json().encode()


def read(path: Path) -> tuple[list[str], dict[str, str]]:
    """Who handed in, and what is refused, by its place."""
    found = list(submissions(path))
    students = [one.work.student for one in found if isinstance(one, Submission)]
    return students, {one.where: one.why for one in found if isinstance(one, Refused)}


def zipped(path: Path, **files: bytes) -> Path:
    """A zip of files; two underscores stand for a slash, three for a point."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name.replace("___", ".").replace("__", "/"), content)
    return path


def test_works_are_found_wherever_they_are(tmp_path: Path) -> None:
    """In folders, in what Moodle and Canvas pack, in archives in them; results and hidden files are not."""
    student = tmp_path / "in" / "ada"
    student.mkdir(parents=True)
    (student / "work.json").write_bytes(WORK)
    (student / "results").mkdir()
    (student / "results" / "other.json").write_text("{}")
    (student / ".git").mkdir()
    (student / ".git" / "x.json").write_text("{}")
    (student / "notes.txt").write_text("hello")
    moodle = "Grace Hopper_123_assignsubmission_file_/shallow-buffer-grace.json"
    with zipfile.ZipFile(tmp_path / "in" / "moodle.zip", "w") as archive:
        archive.writestr(moodle, WORK)
        archive.writestr("hoppergrace_12_34_shallow-buffer-grace.json", WORK)
    with tarfile.open(tmp_path / "in" / "more.tar.gz", "w:gz") as tar:
        inner = zipped(tmp_path / "inner.zip", a__work___json=WORK).read_bytes()
        member = tarfile.TarInfo("ada/inner.zip")
        member.size = len(inner)
        tar.addfile(member, io.BytesIO(inner))
    found = list(submissions(tmp_path / "in"))
    assert [one for one in found if isinstance(one, Refused)] == []
    assert sorted(one.where for one in found) == [
        "ada/work.json",
        f"moodle.zip/{moodle}",
        "moodle.zip/hoppergrace_12_34_shallow-buffer-grace.json",
        "more.tar.gz/ada/inner.zip/a/work.json",
    ]
    by_moodle = next(one for one in found if isinstance(one, Submission) and one.participant)
    assert (by_moodle.owner, by_moodle.participant) == ("Grace Hopper", "123")


def test_a_zip_bomb_is_not_unpacked(tmp_path: Path) -> None:
    """A member is read no further than a work may be long, and the others are still taken."""
    path = zipped(tmp_path / "a.zip", bomb___json=b"0" * (64 << 20), good___json=WORK)
    assert path.stat().st_size < 1 << 20
    assert read(path) == (["grace"], {"a.zip/bomb.json": "is larger than 256 KiB"})


def test_many_members_have_an_end(tmp_path: Path) -> None:
    """Each as long as it may be, together more than an archive may hold; or too many of them."""
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("good.json", WORK)
        for number in range(MOST_BYTES // (256 << 10) + 2):
            archive.writestr(f"{number}.json", b" " * (256 << 10))
    students, refused = read(tmp_path / "a.zip")
    assert students == ["grace"]
    assert refused["a.zip"] == "holds more than 64 MiB; the others are not read"
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as archive:
        for number in range(MOST_FILES + 5):
            archive.writestr(f"{number}.json", b"")
    students, refused = read(tmp_path / "b.zip")
    assert "has more than 10000 files" in refused["b.zip"]


@pytest.mark.parametrize("kind", [tarfile.REGTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.XHDTYPE])
def test_a_tar_bomb_is_cut_off(kind: bytes, tmp_path: Path) -> None:
    """Also where it is the name of a member that never ends; what came before it counts."""
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz", format=tarfile.USTAR_FORMAT) as tar:
        good = tarfile.TarInfo("good.json")
        good.size = len(WORK)
        tar.addfile(good, io.BytesIO(WORK))
        bomb = tarfile.TarInfo("bomb.bin")
        bomb.type, bomb.size = kind, 80 << 20
        tar.addfile(bomb, io.BytesIO(b"0" * bomb.size) if kind == tarfile.REGTYPE else None)
        if kind != tarfile.REGTYPE and tar.fileobj:
            tar.fileobj.write(b"x" * bomb.size)
        last = tarfile.TarInfo("last.json")
        last.size = len(WORK)
        tar.addfile(last, io.BytesIO(WORK))
    students, refused = read(tmp_path / "a.tar.gz")
    assert students == ["grace"]
    assert "it holds more than 64 MiB" in refused["a.tar.gz"]


@pytest.mark.parametrize("name", ["../evil.json", "/etc/evil.json", "a/../../evil.json"])
def test_a_path_out_of_the_archive_is_refused(name: str, tmp_path: Path) -> None:
    """Nothing is written anywhere at all, and the others are taken."""
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(name, WORK)
        archive.writestr("good.json", WORK)
    with tarfile.open(tmp_path / "a.tar", "w") as tar:
        for member_name in (name, "good.json"):
            member = tarfile.TarInfo(member_name)
            member.size = len(WORK)
            tar.addfile(member, io.BytesIO(WORK))
    before = sorted(path for path in tmp_path.parent.rglob("*.json"))
    for archive_name in ("a.zip", "a.tar"):
        students, refused = read(tmp_path / archive_name)
        assert students == ["grace"]
        assert list(refused.values()) == ["leads out of the archive"]
    assert sorted(path for path in tmp_path.parent.rglob("*.json")) == before


def test_a_member_without_a_name_is_refused(tmp_path: Path) -> None:
    """And the other works are read."""
    with zipfile.ZipFile(zipped(tmp_path / "class.zip"), "a") as archive:
        member = zipfile.ZipInfo("x")
        member.filename = ""
        archive.writestr(member, b"{}")
    assert list(submissions(tmp_path)) == [Refused("class.zip/", "has no name")]


def test_links_and_devices_are_not_followed(tmp_path: Path) -> None:
    """In a folder, in a zip and in a tar: a link to a secret is no work, and a FIFO is not waited for."""
    (tmp_path / "secret.json").write_bytes(WORK)
    handed_in = tmp_path / "in"
    handed_in.mkdir()
    (handed_in / "work.json").symlink_to(tmp_path / "secret.json")
    (handed_in / "folder").symlink_to(tmp_path)
    (handed_in / "good.json").write_bytes(WORK)
    os.mkfifo(handed_in / "pipe.json")
    link = zipfile.ZipInfo("link.json")
    link.external_attr = 0o120777 << 16
    with zipfile.ZipFile(handed_in / "a.zip", "w") as archive:
        archive.writestr(link, "/etc/passwd")
    with tarfile.open(handed_in / "a.tar", "w") as tar:
        for name, kind in (
            ("s.json", tarfile.SYMTYPE),
            ("h.json", tarfile.LNKTYPE),
            ("d.json", tarfile.CHRTYPE),
        ):
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, "/etc/passwd"
            tar.addfile(member)
    students, refused = read(handed_in)
    assert students == ["grace"]
    assert refused == {
        "work.json": "is a link, which is not followed",
        "folder": "is a link, which is not followed",
        "pipe.json": "is no file",
        "a.zip/link.json": "is a link, which is not followed",
        "a.tar/s.json": "is a link, which is not followed",
        "a.tar/h.json": "is a link, which is not followed",
        "a.tar/d.json": "is no file",
    }


def test_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    """No archive, half of one, one in another's clothes, an archive in two others; half a work."""
    whole = zipped(tmp_path / "whole.zip", good___json=WORK).read_bytes()
    (tmp_path / "half.zip").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "text.zip").write_text("hello")
    (tmp_path / "text.tar.gz").write_text("hello")
    (tmp_path / "empty.zip").touch()
    (tmp_path / "half.json").write_bytes(WORK[:500])
    inner = zipped(tmp_path / "two.zip", one___zip=whole).read_bytes()
    zipped(tmp_path / "three.zip", two___zip=inner)
    bzipped = tmp_path / "bz.zip"
    with zipfile.ZipFile(bzipped, "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("a.json", WORK)
    students, refused = read(tmp_path)
    assert students == ["grace", "grace"]  # whole.zip, and the one in two.zip
    assert {where.partition("/")[0] for where in refused} == {
        "half.zip",
        "text.zip",
        "text.tar.gz",
        "empty.zip",
        "half.json",
        "three.zip",
        "bz.zip",
    }
    assert refused["three.zip/two.zip/one.zip"] == "is an archive in an archive in an archive"


def test_names_are_shown_as_text(tmp_path: Path) -> None:
    """Whatever bytes they have: no terminal obeys them."""
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("\x1b[2J\u202eevil" + "x" * 300 + ".json", b"{")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / os.fsdecode(b"\xff\x1b[31m.json")).write_bytes(b"{")
    for place in ("a.zip", "b"):
        _, refused = read(tmp_path / place)
        [(where, why)] = refused.items()
        assert not any(char in where + why for char in "\x1b\u202e\x07")
        assert len(where) < 140


def test_what_is_not_there_is_bad_input(tmp_path: Path) -> None:
    """The teacher mistyped a name."""
    with pytest.raises(InputError, match="there is no such file or folder"):
        list(submissions(tmp_path / "none"))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300)
@given(at=st.integers(0, 10_000), bits=st.integers(1, 255), packed=st.booleans())
def test_a_damaged_archive_never_ends_the_grading(
    at: int, bits: int, tmp_path: Path, *, packed: bool
) -> None:
    """Whatever byte of it is another: works, or reasons."""
    name = "a.tar.gz" if packed else "a.zip"
    original = tmp_path / f"sound-{name}"
    if not original.exists():
        if packed:
            with tarfile.open(original, "w:gz") as tar:
                member = tarfile.TarInfo("good.json")
                member.size = len(WORK)
                tar.addfile(member, io.BytesIO(WORK))
        else:
            zipped(original, good___json=WORK)
    raw = bytearray(original.read_bytes())
    raw[at % len(raw)] ^= bits
    (tmp_path / name).write_bytes(raw)
    assert all(isinstance(one, Submission | Refused) for one in submissions(tmp_path / name))
