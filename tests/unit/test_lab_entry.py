"""An entry of the cache that was damaged is named, set aside and made anew, whatever is in it."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest
from labs import exported, ids, imported
from test_lab_cache import RecordingReporter
from typer.testing import CliRunner

from wirelab.cli.lab import app as lab_app
from wirelab.cli.version import print_version
from wirelab.errors import LabError
from wirelab.lab import debian, doctor, kernel, rootfs
from wirelab.lab.entry import CONTENTS, DamagedEntryError, Entry, is_suspicious, record
from wirelab.lab.select import select

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from wirelab.lab.recipe import BuildContext

PARTS = {"kernel": kernel.find, "debian": debian.find, "rootfs": rootfs.find}


def entry_of(context: BuildContext, kind: str) -> Entry:
    """That of the lab."""
    entry = PARTS[kind](context)
    assert entry
    return entry


def environ(context: BuildContext) -> dict[str, str]:
    """With its cache."""
    return {"WIRELAB_CACHE": str(context.cache.root)}


def replace_by_folder(path: Path) -> None:
    """A folder in place of the file."""
    path.unlink()
    (path / "inner").mkdir(parents=True)


def replace_by_loop(path: Path) -> None:
    """A link to itself in place of the file."""
    path.unlink()
    path.symlink_to(path)


def change(old: bytes, new: bytes) -> Callable[[Path], None]:
    """Other content."""

    def write(path: Path) -> None:
        content = path.read_bytes()
        assert old in content
        path.write_bytes(content.replace(old, new, 1))

    return write


DAMAGES: dict[str, Callable[[Path], object]] = {
    "empty": lambda path: path.write_bytes(b""),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:60]),
    "nulls": lambda path: path.write_bytes(bytes(4096)),
    "no-text": lambda path: path.write_bytes(b"\xff\xfe{}"),
    "a-list": lambda path: path.write_bytes(b"[]"),
    "deep": lambda path: path.write_bytes(b"[" * 100_000),
    "no-title": change(b'"title"', b'"entitled"'),
    "a-number-for-a-title": change(b'"title": "', b'"title": 1, "was": "'),
    "a-time-beyond-all": change(b'"made_at_s": ', b'"made_at_s": 9999999999999'),
    "a-folder": replace_by_folder,
    "a-loop": replace_by_loop,
}


@pytest.mark.parametrize("kind", PARTS)
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_what_an_entry_says_is_checked(
    here: BuildContext, there: BuildContext, kind: str, damage: Callable[[Path], object]
) -> None:
    """Every command names the file and the line that mends it; the lab is made anew."""
    imported(there, exported(here))
    path = entry_of(there, kind).path / "entry.json"
    damage(path)
    with pytest.raises(DamagedEntryError, match="is damaged") as caught:
        select(environ=environ(there))
    assert str(path) in caught.value.message
    assert caught.value.hint == "wirelab lab build"
    bad = [finding for finding in doctor.examine(environ(there)) if str(path) in finding.detail]
    assert [finding.fix for finding in bad] == ["wirelab lab build"] * len(bad) != []
    for command in ("list", "prune"):
        result = CliRunner().invoke(lab_app, [command], env=environ(there))
        assert result.exit_code == 0, result.output
        assert (str(path) in result.stderr) == (command == "list")
    assert imported(there, exported(here))
    assert ids(there) == ids(here)


def test_a_damaged_entry_is_set_aside(here: BuildContext, there: BuildContext) -> None:
    """Whoever wants to know what happened to it can look; `prune` removes it."""
    content, heard = exported(here), RecordingReporter()
    imported(there, content)
    path = entry_of(there, "kernel").path
    (path / "entry.json").write_bytes(b"half")
    (path / "linux").write_bytes(b"another")
    entry = there.cache.build("kernel", path.name, lambda _: entry_of(here, "kernel").facts, heard)
    assert [str(path) in line and "made anew" in line for line in heard.lines] == [True]
    aside = path.with_name(f".damaged-{path.name}")
    assert (aside / "linux").read_bytes() == b"another"
    assert entry in there.cache.entries()
    there.cache.prune([entry], heard)
    assert not aside.exists()


def test_a_damaged_entry_in_use_stays(here: BuildContext) -> None:
    """Nothing is pulled away from under a run."""
    entry = entry_of(here, "kernel")
    entry.product.write_bytes(b"another")
    with entry.in_use(), pytest.raises(LabError, match="is to be made anew, and in use by a run"):
        here.cache.build("kernel", entry.key, lambda _: {}, RecordingReporter())


@pytest.mark.skipif(os.geteuid() == 0, reason="root can read everything")
def test_an_entry_of_ours_that_we_cannot_read_is_damaged(here: BuildContext) -> None:
    """The mode of a file is part of it."""
    path = entry_of(here, "kernel").path / "entry.json"
    path.chmod(0)
    with pytest.raises(DamagedEntryError, match="Permission denied"):
        kernel.find(here)


def test_half_an_entry_is_none(here: BuildContext, there: BuildContext) -> None:
    """Without its `entry.json` it does not count, and does not stand in the way."""
    content = exported(here)
    imported(there, content)
    (entry_of(there, "kernel").path / "entry.json").unlink()
    assert imported(there, content)
    assert ids(there) == ids(here)


@pytest.mark.parametrize("ref", [b"", b"[]", b'{"key": 1}', b'{"key": "../../outside"}', b"\xff", None])
def test_a_damaged_answer_was_never_given(here: BuildContext, ref: bytes | None) -> None:
    """None of them is a path, and the next answer takes its place."""
    (path,) = (here.cache.root / "refs").glob("kernel-newest-*.json")
    path.unlink()
    if ref is None:
        path.mkdir()
    else:
        path.write_bytes(ref)
    assert kernel.find(here) is None
    here.cache.remember(path.stem, "k" * 20)
    assert kernel.find(here)


def overwrite(path: Path) -> None:
    """Flip a byte of a file, as an editor of bytes does: in place."""
    content = path.read_bytes()
    path.write_bytes(bytes([content[0] ^ 1]) + content[1:])


@pytest.mark.parametrize(
    ("kind", "name", "damage", "message"),
    [
        ("kernel", "linux", overwrite, "linux was changed"),
        ("rootfs", "root/usr/sbin/wirelab-init", overwrite, "root/usr/sbin/wirelab-init was changed"),
        ("rootfs", "root/usr/bin/su", os.unlink, "root/usr/bin/su is missing"),
        ("rootfs", "root/usr/bin/new", os.mkdir, "root/usr/bin/new was added"),
    ],
)
def test_changed_content_is_named_before_a_run(
    here: BuildContext, kind: str, name: str, damage: Callable[[Path], object], message: str
) -> None:
    """By a look at sizes and times: the file, and the line that mends it."""
    entry = entry_of(here, kind)
    damage(entry.path / name)
    with pytest.raises(DamagedEntryError) as caught:
        select(environ=environ(here))
    assert message in caught.value.message
    assert caught.value.hint == "wirelab lab build"


def hide(path: Path) -> None:
    """Flip a byte as a failing disk does: no time says so."""
    status = path.stat()
    overwrite(path)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


@pytest.mark.parametrize(("kind", "name"), [("kernel", "linux"), ("rootfs", "root/usr/sbin/wirelab-init")])
def test_a_byte_that_flipped_is_found_by_doctor_and_export(here: BuildContext, kind: str, name: str) -> None:
    """What a look misses: all of the content is compared, and nothing of it is exported."""
    entry = entry_of(here, kind)
    hide(entry.path / name)
    select(environ=environ(here))
    assert all(finding.ok for finding in doctor.examine(environ(here)) if str(entry.path) in finding.detail)
    (bad,) = (one for one in doctor.examine(environ(here), verify=True) if str(entry.path) in one.detail)
    assert not bad.ok
    assert f"{name} was changed" in bad.detail
    assert bad.fix == f"rm -r {entry.path}; wirelab lab build"
    with pytest.raises(DamagedEntryError, match=f"{name} was changed"):
        exported(here)


def test_a_packed_debian_that_changed_is_neither_exported_nor_unpacked(here: BuildContext) -> None:
    """A root image is made of it, which would be another."""
    base = entry_of(here, "debian")
    hide(base.path / debian.ARCHIVE)
    with pytest.raises(DamagedEntryError, match=f"{debian.ARCHIVE} was changed"):
        exported(here)
    shutil.rmtree(entry_of(here, "rootfs").path)
    with pytest.raises(DamagedEntryError, match=f"{debian.ARCHIVE} was changed"):
        rootfs.build_on(here, base)


def test_a_copy_with_other_times_is_the_same_kernel(here: BuildContext) -> None:
    """A time alone says nothing of a kernel: its content is compared, and is what it was."""
    path = entry_of(here, "kernel").product
    os.utime(path)
    assert select(environ=environ(here)).kernel == path


def test_an_entry_of_an_older_wirelab_is_taken_as_it_is(here: BuildContext) -> None:
    """It kept no hashes: doctor says that it cannot be verified."""
    entry = entry_of(here, "kernel")
    text = (entry.path / "entry.json").read_text()
    (entry.path / "entry.json").write_text(text[: text.index(',\n  "watched"')] + "\n}\n")
    (entry.path / CONTENTS).unlink()
    assert select(environ=environ(here)).kernel_id == entry.id
    (finding,) = (one for one in doctor.examine(environ(here), verify=True) if str(entry.path) in one.detail)
    assert finding.ok
    assert "not verified" in finding.detail


def test_the_version_is_told_beside_damage(
    here: BuildContext, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`wirelab --version` says what is wrong with the lab, and ends well."""
    (entry_of(here, "kernel").path / "entry.json").write_bytes(b"")
    monkeypatch.setenv("WIRELAB_CACHE", str(here.cache.root))
    with pytest.raises(Exception) as ended:  # noqa: PT011 - typer's own
        print_version(asked=True)
    assert type(ended.value).__name__ == "Exit"
    assert "is damaged" in capsys.readouterr().out


def test_large_files_are_looked_at_before_small_ones(tmp_path: Path) -> None:
    """A root image has thousands of files: the look is at the largest 256 and their folders."""
    root = tmp_path / "entry" / "root"
    root.mkdir(parents=True)
    for number in range(300):
        (root / f"{number}").write_bytes(bytes(number + 1))
    watched = record(root.parent)
    assert len(watched) == 257
    assert watched["root/299"][0] == 300
    assert "root" in watched
    assert "root/10" not in watched
    assert not is_suspicious(root.parent, watched)
