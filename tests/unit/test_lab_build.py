"""Building a lab: its parts at once, told apart, ended together; and what "from source" means."""

from __future__ import annotations

import io
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from labs import build, exported, imported
from rich.console import Console
from rich.progress import Progress

from wirelab.cli.screen import Lane
from wirelab.errors import LabError
from wirelab.lab import debian, kernel, packages, rootfs
from wirelab.lab.build import ensure, found, side_by_side
from wirelab.lab.packages import Need
from wirelab.lab.process import run
from wirelab.lab.recipe import lines
from wirelab.lab.reporter import Reporter, counter

if TYPE_CHECKING:
    from wirelab.lab.entry import Entry
    from wirelab.lab.recipe import BuildContext

PATIENCE_S = 20.0


def entry_of(context: BuildContext) -> Entry:
    """Any entry."""
    entry = kernel.find(context)
    assert entry
    return entry


def test_the_parts_are_built_at_once(here: BuildContext) -> None:
    """Each waits for the other to be under way, which one after the other would do for ever."""
    both = threading.Barrier(2, timeout=PATIENCE_S)

    def job(context: BuildContext) -> Entry:
        both.wait()
        return entry_of(context)

    assert side_by_side(here, {"kernel": job, "root image": job}) == dict.fromkeys(
        ("kernel", "root image"), entry_of(here)
    )


def test_a_part_that_fails_ends_the_other(here: BuildContext, tmp_path: Path) -> None:
    """Nobody compiles for minutes to be told of what went wrong in the first second; no program goes on."""
    begun = threading.Event()

    def fails(_: BuildContext) -> Entry:
        assert begun.wait(PATIENCE_S)
        raise LabError("no user namespaces here")

    def goes_on(context: BuildContext) -> Entry:
        count = counter(context.reporter, "compiling", 10**6, "  CC ")
        begun.set()
        argv = ["sh", "-c", "echo $$ >pid; while echo other; do sleep 0.05; done"]
        run(argv, log=tmp_path / "log", cwd=tmp_path, on_line=count)
        return entry_of(context)

    with pytest.raises(LabError, match="no user namespaces here"):
        side_by_side(here, {"kernel": goes_on, "root image": fails})
    assert not Path("/proc", (tmp_path / "pid").read_text().strip()).exists()


INTERRUPTED = """
import sys
from dataclasses import replace
from pathlib import Path
from wirelab.lab.build import side_by_side
from wirelab.lab.cache import Cache
from wirelab.lab.process import run
from wirelab.lab.recipe import BuildContext, Recipe
from wirelab.lab.reporter import Reporter, counter

folder = Path(sys.argv[1])

def job(name):
    def make(context):
        argv = ["sh", "-c", f"echo $$ >{name}; while echo other; do sleep 0.05; done"]
        run(argv, log=folder / f"{name}.log", cwd=folder, on_line=counter(context.reporter, name, 9, "  CC "))
    return make

side_by_side(BuildContext(Recipe.find(), Cache(folder), {}, Reporter()), {name: job(name) for name in "ab"})
"""


def test_an_interrupt_ends_both(tmp_path: Path) -> None:
    """Ctrl-C reaches us alone, for what a build starts has a session of its own: no program of it goes on."""
    argv = [sys.executable, "-c", INTERRUPTED, str(tmp_path)]
    with subprocess.Popen(argv, stderr=subprocess.DEVNULL) as process:  # noqa: S603 - our own Python
        deadline_s = time.monotonic() + PATIENCE_S
        files = [tmp_path / name for name in "ab"]
        while not all(file.exists() and file.read_text().endswith("\n") for file in files):
            assert time.monotonic() < deadline_s
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE_S) != 0
    assert not any(Path("/proc", file.read_text().strip()).exists() for file in files)


def test_a_part_alone_has_no_lane(here: BuildContext) -> None:
    """What it says needs no name before it."""
    reporters: list[Reporter] = []

    def job(context: BuildContext) -> Entry:
        reporters.append(context.reporter)
        return entry_of(context)

    side_by_side(here, {"kernel": job})
    assert reporters == [here.reporter]


def test_a_log_tells_the_parts_apart() -> None:
    """Each line names the part; a tenth of a step is told once, and each part has its own."""
    printed = io.StringIO()
    console = Console(file=printed, width=200)
    bar = Progress(console=console, disable=True)
    one, other = Lane(console, bar, "kernel"), Lane(console, bar, "root image")
    one.step("compiling Linux 7.2", 100)
    other.step("installing Debian", 10)
    for done in (5, 10, 11, 20):
        one.advance(done)
    other.advance(2)
    other.step("packing it")
    one.advance(30)
    assert printed.getvalue().splitlines() == [
        "kernel: compiling Linux 7.2",
        "root image: installing Debian",
        "kernel: compiling Linux 7.2: 10 %",
        "kernel: compiling Linux 7.2: 20 %",
        "root image: installing Debian: 20 %",
        "root image: packing it",
        "kernel: compiling Linux 7.2: 30 %",
    ]


def test_what_is_imported_is_not_built_here(here: BuildContext, there: BuildContext) -> None:
    """Whoever insists on the source is not content with it; whoever does not, is."""
    imported(there, exported(here))
    assert all(found(there))
    assert found(there, from_source=True) == (None, None)
    assert all(found(here, from_source=True))
    assert exported(there) == exported(here)


def test_insisting_replaces_what_was_imported(here: BuildContext, there: BuildContext) -> None:
    """Under the same key, too, as a build of the same source has it: then it counts as built here."""
    imported(there, exported(here))
    before = kernel.find(there)
    assert before
    assert before.is_imported
    build(there, b"#!/bin/sh\n# ours\n")
    assert kernel.find(there) == before, "a build that nobody insists on makes nothing twice"

    def make(folder: Path) -> dict[str, object]:
        (folder / "linux").write_bytes(b"#!/bin/sh\n# ours\n")
        (folder / "linux").chmod(0o755)
        return {"title": "Linux 7.2.12", "series": "7.2", "objects": 1}

    there.cache.build("kernel", before.key, make, Reporter(), from_source=True)
    after = kernel.find(there)
    assert after
    assert not after.is_imported
    assert after.product.read_bytes() == b"#!/bin/sh\n# ours\n"
    base = debian.find(there)
    assert base
    ours = replace(base, facts={**base.facts, "imported": False})
    assert not rootfs.build_on(there, ours, from_source=True).is_imported


def test_what_is_missing_is_told_before_anything_is_built(
    there: BuildContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of both parts at once, in one line to paste."""
    for group in ("KERNEL", "ROOT_IMAGE"):
        need = Need(f"no-such-package-of-{group}", "show what is missing", command="no-such-program")
        monkeypatch.setattr(packages, group, (need,))
    with pytest.raises(LabError, match=r"of-KERNEL .*, no-such-package-of-ROOT_IMAGE") as caught:
        ensure(there)
    assert "apt-get install" in (caught.value.hint or "")
    assert there.cache.entries() == ()


def test_what_is_made_at_random_is_in_no_root_image() -> None:
    """A packed Debian is without it, to be the same archive everywhere; with it, the image is the same."""
    unwanted = list(lines(Path(debian.__file__).with_name("unwanted.txt")))
    for pattern in debian.RANDOM:
        assert any(fnmatchcase(pattern, line) for line in unwanted), pattern
