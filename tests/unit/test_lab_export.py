"""A lab travels: exported, imported, found, the same; and what goes wrong leaves what was there."""

from __future__ import annotations

import io
import shutil
import signal
import subprocess
import sys
import tarfile
import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from labs import SHIPPED, exported, ids, imported

from wirelab.errors import InputError, LabError
from wirelab.lab import archive, debian, export, kernel, rootfs
from wirelab.lab.archive import Archive
from wirelab.lab.recipe import Recipe
from wirelab.lab.reporter import Reporter

if TYPE_CHECKING:
    from pathlib import Path

    from wirelab.lab.recipe import BuildContext

PATIENCE_S = 20.0


def test_an_imported_lab_is_the_lab(here: BuildContext, there: BuildContext) -> None:
    """Found by the same names, with the same files; every user may run it."""
    assert imported(there, exported(here))
    assert ids(there) == ids(here)
    ours, theirs = kernel.find(here), kernel.find(there)
    assert ours
    assert theirs
    assert theirs.product.read_bytes() == ours.product.read_bytes()
    assert theirs.product.stat().st_mode & 0o777 == 0o755
    assert (theirs.path / "config").read_text() == "CONFIG_UML=y\n"
    assert kernel.find(there, "7.2") == theirs
    mine, yours = rootfs.find(here), rootfs.find(there)
    assert mine
    assert yours
    assert yours.facts["manifest"] == mine.facts["manifest"]


def test_the_same_lab_is_the_same_file(here: BuildContext, there: BuildContext) -> None:
    """Exported twice, or by a machine that has imported it."""
    content = exported(here)
    assert exported(here) == content
    imported(there, content)
    assert exported(there) == content


def test_nothing_of_the_building_machine_travels(here: BuildContext) -> None:
    """No log, no time, no path."""
    with tarfile.open(fileobj=io.BytesIO(exported(here))) as tar:
        assert {member.name for member in tar} == {
            f"wirelab-lab/{name}" for name in ("lab.json", "SHA256SUMS", *archive.CONTENTS)
        }
        head = tar.extractfile("wirelab-lab/lab.json")
        assert head
        text = head.read().decode()
    assert "made_at_s" not in text
    assert "build_s" not in text
    assert str(here.cache.root) not in text


def test_a_second_import_does_nothing(here: BuildContext, there: BuildContext) -> None:
    """No file of the cache is written, so one that is read-only will do."""
    content = exported(here)
    imported(there, content)
    before = {path: path.lstat().st_mtime_ns for path in there.cache.root.rglob("*")}
    assert not imported(there, content)
    assert {path: path.lstat().st_mtime_ns for path in there.cache.root.rglob("*")} == before


def test_the_imported_lab_takes_the_place_of_another(here: BuildContext, there: BuildContext) -> None:
    """As `lab build --update` does: what is imported is what runs use from now on."""

    def other(folder: Path) -> dict[str, Any]:
        (folder / "linux").touch(mode=0o755)
        return {"title": "Linux 7.2.11", "series": "7.2", "objects": 1}

    kernel.take(there, there.cache.build("kernel", "o" * 20, other, Reporter()))
    assert imported(there, exported(here))
    assert ids(there) == ids(here)


def test_it_may_have_been_there_without_being_used(here: BuildContext, there: BuildContext) -> None:
    """What is there is not unpacked again, but found again."""
    imported(there, exported(here))
    shutil.rmtree(there.cache.root / "refs")
    built = there.cache.entries()[0].product.stat().st_ino
    assert imported(there, exported(here))
    entry = kernel.find(there)
    assert entry
    assert entry.product.stat().st_ino == built


@pytest.mark.parametrize(
    ("file", "what"),
    [
        ("kernel/driver/main.c", "kernel/"),
        ("kernel/lab.config", "kernel/"),
        ("rootfs/packages.txt", "rootfs/"),
        ("rootfs/overlay/usr/sbin/wirelab-init", "rootfs/"),
    ],
)
def test_a_lab_of_another_recipe_is_refused(
    file: str, what: str, here: BuildContext, there: BuildContext, tmp_path: Path
) -> None:
    """An older or a newer wirelab with another driver would not find it: the message says what differs."""
    for name in ("kernel", "rootfs"):
        shutil.copytree(SHIPPED.home / name, tmp_path / "recipe" / name, symlinks=True)
    with (tmp_path / "recipe" / file).open("a") as text:
        text.write("another\n")
    with pytest.raises(InputError, match=rf"lab\.tar: a lab of wirelab .*, whose {what} differs") as caught:
        imported(replace(there, recipe=Recipe(tmp_path / "recipe")), exported(here))
    assert "export it again" in (caught.value.hint or "")
    assert not there.cache.root.exists()


def test_a_root_image_that_comes_out_differently_is_no_lab(here: BuildContext, there: BuildContext) -> None:
    """What a run would measure with it is not what is measured elsewhere; the lab before stays in use."""
    file = Archive(io.BytesIO(exported(here)), "lab.tar")
    rootfs_about = file.about.rootfs.model_copy(update={"manifest": "f" * 64})
    file.about = file.about.model_copy(update={"rootfs": rootfs_about})
    with pytest.raises(LabError, match="comes out here as another") as caught:
        export.unpack(there, file)
    assert "WIRELAB_CACHE" in (caught.value.hint or "")
    assert ids(there) == [None, None, None]
    with pytest.raises(LabError, match="is another root image than the one that was exported") as caught:
        export.unpack(here, file)
    assert "rm -r" in (caught.value.hint or "")


@pytest.mark.parametrize("kernel_gz", [b"no gzip", archive.CONTENTS[0].encode()])
def test_a_kernel_that_cannot_be_unpacked_is_refused(
    kernel_gz: bytes, here: BuildContext, there: BuildContext
) -> None:
    """Forged with the right checksum: it is bad input, and nothing of it stays."""
    out, sound = io.BytesIO(), Archive(io.BytesIO(exported(here)), "lab.tar")
    content = {name: io.BytesIO(b"".join(sound.chunks(name))) for name in archive.CONTENTS}
    archive.write(out, sound.about, {**content, archive.KERNEL: io.BytesIO(kernel_gz)})
    with pytest.raises(InputError, match=r"lab\.tar: its kernel cannot be unpacked"):
        imported(there, out.getvalue())
    assert there.cache.entries() == ()
    assert list((there.cache.root / "kernel").iterdir()) == []


def test_without_a_lab_there_is_nothing_to_export(there: BuildContext, tmp_path: Path) -> None:
    """The usual message, and no file."""
    with (
        pytest.raises(LabError, match="has no lab kernel built from these sources") as caught,
        export.written(tmp_path / "lab.tar") as out,
    ):
        export.pack(there, out)
    assert caught.value.hint == "wirelab lab build"
    assert list(tmp_path.iterdir()) == []


def test_a_cache_without_the_packed_debian_says_so(here: BuildContext) -> None:
    """A container image may leave it out: its lab runs, but it cannot be made anew elsewhere."""
    base = debian.find(here)
    assert base
    (base.path / debian.ARCHIVE).unlink()
    with pytest.raises(LabError, match=r"debian\.tar\.gz: No such file") as caught:
        exported(here)
    assert f"rm -r {base.path}; wirelab lab build" in (caught.value.hint or "")


KILLED = """
import sys, time
from pathlib import Path
from wirelab.lab import rootfs, export
from wirelab.lab.cache import Cache
from wirelab.lab.archive import Archive
from wirelab.lab.recipe import BuildContext
from wirelab.lab.recipe import Recipe
from wirelab.lab.reporter import Reporter

class Stops(Reporter):
    def step(self, title, total=None):
        if title == sys.argv[3]:
            Path(sys.argv[1], "begun").touch()
            time.sleep(600)

context = BuildContext(Recipe.find(), Cache(Path(sys.argv[1])), {}, Stops())
export.unpack(context, Archive(open(sys.argv[2], "rb"), sys.argv[2]))
"""


@pytest.mark.parametrize("step", ["unpacking the kernel", "unpacking the root image"])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_an_interrupted_import_is_no_lab(
    step: str, number: signal.Signals, here: BuildContext, there: BuildContext, tmp_path: Path
) -> None:
    """Wherever it is interrupted, the next one makes it whole."""
    (tmp_path / "lab.tar").write_bytes(exported(here))
    argv = [sys.executable, "-c", KILLED, str(there.cache.root), str(tmp_path / "lab.tar"), step]
    there.cache.folder()
    with subprocess.Popen(argv, stderr=subprocess.DEVNULL) as process:  # noqa: S603 - our own Python
        deadline_s = time.monotonic() + PATIENCE_S
        while not (there.cache.root / "begun").exists():
            assert time.monotonic() < deadline_s
            time.sleep(0.01)
        process.send_signal(number)
    assert ids(there) == [None, None, None]
    assert imported(there, exported(here))
    assert ids(there) == ids(here)
    assert not list(there.cache.root.glob("*/.*.*"))


def test_two_imports_at_once_make_one_lab(here: BuildContext, there: BuildContext) -> None:
    """Both end well."""
    content = exported(here)
    done: list[bool] = []
    threads = [threading.Thread(target=lambda: done.append(imported(there, content))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(done) == len(threads)
    assert ids(there) == ids(here)
    assert len(there.cache.entries()) == 3
