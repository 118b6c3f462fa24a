"""The root's tree: alike wherever it is made, readable by all."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

import pytest

from wirelab.errors import LabError
from wirelab.lab import tree

NEWEST_S = 1_700_000_000


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A little root with what a Debian has: a shadow file, a set-user-id program, a link, a closed folder."""
    made = tmp_path / "root"
    (made / "etc").mkdir(parents=True)
    (made / "etc" / "shadow").write_text("root:*:")
    (made / "etc" / "shadow").chmod(0o640)
    (made / "usr" / "bin").mkdir(parents=True)
    (made / "usr" / "bin" / "su").write_text("#!")
    (made / "usr" / "bin" / "su").chmod(0o4755)
    (made / "bin").symlink_to("usr/bin")
    (made / "root").mkdir(mode=0o700)
    os.utime(made / "usr" / "bin" / "su", (1, 1_000_000_000))
    return made


def mode(path: Path) -> int:
    """Permission bits."""
    return stat.S_IMODE(path.lstat().st_mode)


def test_everybody_can_read_and_nobody_becomes_another(root: Path) -> None:
    """The lab runs as an ordinary user who must read everything; set-user-id has no place on the host."""
    tree.normalize(root, NEWEST_S)
    assert mode(root / "etc" / "shadow") == 0o644
    assert mode(root / "usr" / "bin" / "su") == 0o755
    assert mode(root / "root") == 0o755


def test_nothing_is_newer_than_its_packages(root: Path) -> None:
    """What installing made gets one time; what came in a package keeps its own, for Python's caches."""
    tree.normalize(root, NEWEST_S)
    assert (root / "etc" / "shadow").stat().st_mtime == NEWEST_S
    assert (root / "usr" / "bin" / "su").stat().st_mtime == 1_000_000_000
    assert (root / "bin").lstat().st_mtime == NEWEST_S
    assert all(path.lstat().st_mtime <= NEWEST_S for path in root.rglob("*"))


def test_a_copy_has_the_same_manifest(root: Path, tmp_path: Path) -> None:
    """The manifest is of what a lab sees, not of where or when the tree was made."""
    tree.normalize(root, NEWEST_S)
    copy = tmp_path / "elsewhere"
    shutil.copytree(root, copy, symlinks=True)
    tree.normalize(copy, NEWEST_S)
    assert tree.manifest(copy) == tree.manifest(root)


@pytest.mark.parametrize(
    "change",
    [
        lambda root: (root / "etc" / "shadow").write_text("root:!:"),
        lambda root: (root / "etc" / "shadow").chmod(0o755),
        lambda root: (root / "etc" / "shadow").rename(root / "etc" / "passwd"),
        lambda root: (root / "etc" / "new").touch(),
        lambda root: (root / "root").rmdir(),
        lambda root: ((root / "bin").unlink(), (root / "bin").symlink_to("usr/sbin")),
        lambda root: os.utime(root / "etc" / "shadow", (0, 0)),
    ],
    ids=["content", "mode", "name", "file", "folder", "link", "time"],
)
def test_any_change_shows_in_the_manifest(root: Path, change: object) -> None:
    """Whatever a program in the lab could notice."""
    tree.normalize(root, NEWEST_S)
    before = tree.manifest(root)
    assert callable(change)
    change(root)
    assert tree.manifest(root) != before


def test_unwanted_files_go(root: Path) -> None:
    """Files by pattern, folders with all that is in them, links without what they point to."""
    (root / "usr" / "dangling").symlink_to("nowhere")
    tree.remove(root, ("etc/*", "bin", "root", "no/such", "usr/dangling"))
    assert sorted(path.name for path in root.rglob("*")) == ["bin", "etc", "su", "usr"]


def test_an_overlay_replaces_what_is_there(root: Path, tmp_path: Path) -> None:
    """Files and links of ours stand in for Debian's; what a replaced link pointed to stays as it is."""
    overlay = tmp_path / "overlay"
    (root / "etc" / "mtab").symlink_to("shadow")
    (overlay / "etc").mkdir(parents=True)
    (overlay / "etc" / "mtab").write_text("ours")
    os.utime(overlay / "etc" / "mtab", (1, 1_000_000_000))
    (root / "etc" / "hosts").write_text("theirs")
    tree.lay_over(root, overlay, [overlay / "etc" / "mtab"], NEWEST_S)
    tree.link(root, {"etc/hosts": "shadow", "run/new/link": "../etc"})
    assert (root / "etc" / "mtab").read_text() == "ours"
    assert (root / "etc" / "mtab").stat().st_mtime == NEWEST_S
    assert not (root / "etc" / "mtab").is_symlink()
    assert (root / "etc" / "hosts").readlink() == Path("shadow")
    assert (root / "run" / "new" / "link").readlink() == Path("../etc")
    assert (root / "etc" / "shadow").read_text() == "root:*:"


def test_what_is_wrong_in_a_file_is_mended(root: Path) -> None:
    """It stands there once. What Python has compiled of it goes; a file that is another is refused."""
    module, compiled = root / "lib.py", root / "__pycache__" / "lib.cpython-313.pyc"
    module.write_text("count = 2\n")
    compiled.parent.mkdir()
    compiled.write_bytes(b"")
    wrong = tree.Mend("lib.py", "count = 2", "count = 1")
    tree.mend(root, [wrong], NEWEST_S)
    assert (module.read_text(), module.stat().st_mtime) == ("count = 1\n", NEWEST_S)
    assert not compiled.exists()
    with pytest.raises(LabError, match=r"lib\.py of the root image is another than was to be mended"):
        tree.mend(root, [wrong], NEWEST_S)


def test_size_is_of_files(root: Path) -> None:
    """What the files hold, whatever their blocks are."""
    assert tree.size_bytes(root) == len("root:*:") + len("#!") + len("usr/bin")


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder beside the root, with what is somebody's; nothing of it may change."""
    made = tmp_path / "outside"
    (made / "deep").mkdir(parents=True)
    for file in (made / "notes", made / "deep" / "notes", made / "lib.py", made / "lib.cpython-313.pyc"):
        file.write_text("mine")
    return made


def told(folder: Path) -> dict[str, str]:
    """What is in a folder, and in what files."""
    return {
        str(path.relative_to(folder)): path.read_text() if path.is_file() else ""
        for path in folder.rglob("*")
    }


@pytest.mark.parametrize("pattern", ["var/log/*", "var/log/notes", "var/log/deep", "var/*/deep", "var/l*/n*"])
def test_nothing_is_removed_through_a_link(pattern: str, root: Path, outside: Path) -> None:
    """An imported Debian may have one where a folder is to be emptied."""
    (root / "var").mkdir()
    (root / "var" / "log").symlink_to(outside)
    before = told(outside)
    with pytest.raises(LabError, match="of the root image is outside of it, by a link"):
        tree.remove(root, (pattern,))
    assert told(outside) == before


@pytest.mark.parametrize("to", ["../../outside", "../..", "../../nowhere", "local"])
def test_nothing_is_laid_or_linked_through_a_link(to: str, root: Path, outside: Path, tmp_path: Path) -> None:
    """Wherever that leads, up, to nothing or in a circle; no folder is made there either."""
    overlay = tmp_path / "overlay"
    (overlay / "usr" / "local" / "bin").mkdir(parents=True)
    ours = overlay / "usr" / "local" / "bin" / "notes"
    ours.write_text("ours")
    (root / "usr" / "local").symlink_to(to)
    before = told(outside)
    with pytest.raises(LabError, match="usr/local/bin/notes of the root image is outside of it"):
        tree.lay_over(root, overlay, [ours], NEWEST_S)
    with pytest.raises(LabError, match="usr/local/bin/notes of the root image is outside of it"):
        tree.link(root, {"usr/local/bin/notes": "passwd"})
    assert told(outside) == before
    assert not (tmp_path / "bin").exists()
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize("what", ["the file", "its folder", "what was compiled"])
def test_nothing_is_mended_through_a_link(what: str, root: Path, outside: Path) -> None:
    """Neither the file nor what Python has compiled of it."""
    wrong = tree.Mend("lib/lib.py", "mine", "ours")
    if what == "its folder":
        (root / "lib").symlink_to(outside)
    else:
        (root / "lib").mkdir()
        if what == "the file":
            (root / "lib" / "lib.py").symlink_to(outside / "lib.py")
        else:
            (root / "lib" / "lib.py").write_text("mine")
            (root / "lib" / "__pycache__").symlink_to(outside)
    before = told(outside)
    with pytest.raises(LabError, match="of the root image is "):
        tree.mend(root, [wrong], NEWEST_S)
    assert told(outside) == before


def test_a_link_within_is_followed(root: Path, tmp_path: Path) -> None:
    """Debian's own `bin` is one to `usr/bin`."""
    overlay = tmp_path / "overlay"
    (overlay / "bin").mkdir(parents=True)
    (overlay / "bin" / "ours").write_text("ours")
    tree.lay_over(root, overlay, [overlay / "bin" / "ours"], NEWEST_S)
    tree.link(root, {"bin/link": "ours"})
    tree.mend(root, [tree.Mend("bin/ours", "ours", "mended")], NEWEST_S)
    tree.remove(root, ("bin/s*",))
    assert sorted(path.name for path in (root / "usr" / "bin").iterdir()) == ["link", "ours"]
    assert (root / "bin").is_symlink()
    assert (root / "usr" / "bin" / "ours").read_text() == "mended"
