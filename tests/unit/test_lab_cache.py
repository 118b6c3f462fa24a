"""The cache: an entry is whole or it is not there, whoever builds it and whatever interrupts them."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from wirelab.errors import LabError
from wirelab.lab import apt, mirror
from wirelab.lab.cache import Cache
from wirelab.lab.recipe import BuildContext, Recipe
from wirelab.lab.reporter import Reporter

if TYPE_CHECKING:
    from collections.abc import Callable

    from wirelab.lab.entry import Entry

KEY = "0123456789abcdef0123"
TOLD_WITHIN_S = 20.0


class RecordingReporter(Reporter):
    """A Reporter that keeps what it hears."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, text: str) -> None:
        """Keep it."""
        self.lines.append(text)


def fill(folder: Path) -> dict[str, Any]:
    """A build: one file."""
    (folder / "linux").write_text("a kernel")
    return {"title": "Linux", "series": "7.2", "objects": 1}


def build(cache: Cache, key: str = KEY, make: Callable[[Path], dict[str, Any]] = fill) -> Entry:
    """Build an entry that nobody listens to."""
    return cache.build("kernel", key, make, Reporter())


def wait_for(path: Path) -> None:
    """Wait until a file is there."""
    deadline_s = time.monotonic() + TOLD_WITHIN_S
    while not path.exists():
        assert time.monotonic() < deadline_s, f"{path} did not come to be"
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("environ", "root"),
    [
        ({"WIRELAB_CACHE": "/a", "XDG_CACHE_HOME": "/b"}, Path("/a")),
        ({"XDG_CACHE_HOME": "/b"}, Path("/b/wirelab")),
        ({"XDG_CACHE_HOME": "relative"}, Path.home() / ".cache/wirelab"),
        ({"WIRELAB_CACHE": ""}, Path.home() / ".cache/wirelab"),
    ],
)
def test_the_environment_says_where_it_is(environ: dict[str, str], root: Path) -> None:
    """WIRELAB_CACHE before XDG_CACHE_HOME (absolute, as its specification demands) before ~/.cache."""
    assert Cache.at(environ).root == root


def test_what_is_built_is_found(tmp_path: Path) -> None:
    """An entry has its files, what its maker said of it, its time and its size."""
    entry = build(Cache(tmp_path))
    assert (entry.path / "linux").read_text() == "a kernel"
    assert entry.facts["title"] == "Linux"
    assert entry.facts["size_bytes"] == len("a kernel")
    assert Cache(tmp_path).find("kernel", KEY) == entry
    assert Cache(tmp_path).entries() == (entry,)
    assert entry.id == f"kernel-{KEY}"


def test_others_may_read_it(tmp_path: Path) -> None:
    """A lab built by one user can be run by another."""
    assert build(Cache(tmp_path)).path.stat().st_mode & 0o777 == 0o755


def test_it_is_built_once(tmp_path: Path) -> None:
    """A second request for the same key makes nothing."""

    def never(_: Path) -> dict[str, Any]:
        pytest.fail("built twice")

    build(Cache(tmp_path))
    assert build(Cache(tmp_path), make=never).facts["title"] == "Linux"


@pytest.mark.parametrize("error", [LabError("no compiler"), KeyboardInterrupt()])
def test_a_build_that_fails_leaves_nothing(tmp_path: Path, error: BaseException) -> None:
    """Neither an entry nor half of one, and the next build makes it."""

    def broken(folder: Path) -> dict[str, Any]:
        fill(folder)
        raise error

    cache = Cache(tmp_path)
    with pytest.raises(type(error)):
        build(cache, make=broken)
    assert cache.find("kernel", KEY) is None
    assert list((tmp_path / "kernel").iterdir()) == []
    assert build(cache).facts["title"] == "Linux"


KILLED = """
import sys, time
from pathlib import Path
from wirelab.lab.cache import Cache
from wirelab.lab.reporter import Reporter

def make(folder):
    (folder / "linux").write_text("half a kernel")
    (Path(sys.argv[1]) / "begun").touch()
    time.sleep(600)

Cache(Path(sys.argv[1])).build("kernel", sys.argv[2], make, Reporter())
"""


def test_a_build_that_is_killed_leaves_nothing_that_counts(tmp_path: Path) -> None:
    """After SIGKILL its half entry is not found, its lock is free, and the next build clears it away."""
    argv = [sys.executable, "-c", KILLED, str(tmp_path), KEY]
    with subprocess.Popen(argv) as builder:  # noqa: S603 - our own Python
        wait_for(tmp_path / "begun")
        builder.send_signal(signal.SIGKILL)
    (left,) = (tmp_path / "kernel").iterdir()
    cache = Cache(tmp_path)
    assert cache.find("kernel", KEY) is None
    assert cache.entries() == ()
    entry = build(cache)
    assert (entry.path / "linux").read_text() == "a kernel"
    assert not left.exists()


def test_two_builds_at_once_make_one_entry(tmp_path: Path) -> None:
    """The second says that it waits, then takes what the first has made."""
    begun, go_on, heard = threading.Event(), threading.Event(), RecordingReporter()
    made, got = [], []

    def slow(folder: Path) -> dict[str, Any]:
        made.append(folder)
        begun.set()
        assert go_on.wait(TOLD_WITHIN_S)
        return fill(folder)

    def request(reporter: Reporter) -> None:
        got.append(Cache(tmp_path).build("kernel", KEY, slow, reporter))

    class LetsGo(RecordingReporter):
        def say(self, text: str) -> None:
            heard.say(text)
            go_on.set()

    first = threading.Thread(target=request, args=(Reporter(),))
    first.start()
    assert begun.wait(TOLD_WITHIN_S)
    second = threading.Thread(target=request, args=(LetsGo(),))
    second.start()
    first.join()
    second.join()
    assert len(made) == 1
    assert got[0].facts == got[1].facts
    assert heard.lines == ["another process is building this kernel: waiting for it"]


@pytest.mark.parametrize(
    ("number", "hint"),
    [(errno.ENOSPC, "wirelab lab prune"), (errno.EACCES, "chown"), (errno.EROFS, "WIRELAB_CACHE")],
)
def test_what_the_system_refuses_is_explained(tmp_path: Path, number: int, hint: str) -> None:
    """A full disk, a missing right: a LabError with the path and what to do, and nothing left behind."""

    def refused(folder: Path) -> dict[str, Any]:
        raise OSError(number, os.strerror(number), str(folder / "linux"))

    with pytest.raises(LabError, match=os.strerror(number)) as caught:
        build(Cache(tmp_path), make=refused)
    assert str(tmp_path) in caught.value.message
    assert hint in (caught.value.hint or "")
    assert list((tmp_path / "kernel").iterdir()) == []


def test_a_folder_that_cannot_be_made_is_explained() -> None:
    """A cache in a place where nobody may write is a LabError, not a traceback."""
    with pytest.raises(LabError, match="/proc/wirelab"):
        build(Cache(Path("/proc/wirelab")))


def test_answers_are_remembered(tmp_path: Path) -> None:
    """What was remembered is recalled, also by another process; what is damaged was never there."""
    cache = Cache(tmp_path)
    assert cache.remembered("kernel-newest") is None
    cache.remember("kernel-newest", "a")
    cache.remember("kernel-newest", "b")
    assert Cache(tmp_path).remembered("kernel-newest") == "b"
    (tmp_path / "refs" / "kernel-newest.json").write_text("{")
    assert cache.remembered("kernel-newest") is None


def test_prune_keeps_what_it_is_told(tmp_path: Path) -> None:
    """Other entries go, as do half entries, downloads, logs and answers that lead nowhere."""
    cache = Cache(tmp_path)
    kept, other = build(cache), build(cache, "f" * 20)
    cache.remember("kernel-a", kept.key)
    cache.remember("kernel-b", other.key)
    half = cache.folder("kernel", ".eee.x1")
    (cache.folder("downloads") / "big.deb").write_bytes(bytes(1 << 20))
    cache.log("kernel-1")
    assert cache.prune([kept], Reporter()) > 1 << 20
    assert cache.entries() == (kept,)
    assert not half.exists()
    assert not (tmp_path / "downloads").exists()
    assert sorted(path.name for path in (tmp_path / "refs").iterdir()) == ["kernel-a.json"]


def test_prune_leaves_what_is_in_use(tmp_path: Path) -> None:
    """A running lab keeps its entry, and prune says so; when it ends the entry can go."""
    cache, heard = Cache(tmp_path), RecordingReporter()
    entry = build(cache)
    with entry.in_use(), entry.in_use():
        cache.prune([], heard)
        assert cache.entries() == (entry,)
        assert str(entry.path) in heard.lines[0]
    cache.prune([], heard)
    assert cache.entries() == ()


def test_prune_leaves_what_is_being_built(tmp_path: Path) -> None:
    """An entry in the making is not pulled away from under its maker."""

    def prunes(folder: Path) -> dict[str, Any]:
        cache.prune([], Reporter())
        return fill(folder)

    cache = Cache(tmp_path)
    assert build(cache, make=prunes).facts["title"] == "Linux"


def test_prune_leaves_what_a_build_needs(tmp_path: Path) -> None:
    """Its downloads, its log and apt's folder, which prune says; when it is over they can go."""
    cache, heard = Cache(tmp_path), RecordingReporter()
    kept = [cache.folder(name) for name in ("downloads", "apt", "logs")]

    def prunes(folder: Path) -> dict[str, Any]:
        cache.prune([], heard)
        assert [path for path in kept if not path.is_dir()] == []
        return fill(folder)

    build(cache, make=prunes)
    assert heard.lines[-1] == f"a build is under way: downloads, apt, logs of {tmp_path} stay"
    cache.prune([], heard)
    assert [path for path in kept if path.exists()] == []


@pytest.mark.skipif(shutil.which("apt-get") is None, reason="there is no apt")
def test_prune_leaves_what_apt_has_fetched(tmp_path: Path) -> None:
    """From its indexes to what is fetched with them, also for `wirelab lab source`, which builds nothing."""
    cache, heard = Cache(tmp_path), RecordingReporter()
    context = BuildContext(Recipe.find(), cache, {}, heard)
    # Of no suite: nobody is asked.
    with apt.querying(context, mirror.find({}), []) as query:
        cache.prune([], heard)
        assert query.folder.is_dir()
        assert query.log.is_file()
    assert heard.lines == [f"a build is under way: downloads, apt, logs of {tmp_path} stay"]


def test_prune_removes_folders_that_may_not_be_written(tmp_path: Path) -> None:
    """A root image may hold folders its owner cannot write to."""

    def guarded(folder: Path) -> dict[str, Any]:
        (folder / "root").mkdir()
        (folder / "root" / "file").touch()
        (folder / "root").chmod(0o555)
        return {"title": "Linux", "series": "7.2", "objects": 1}

    cache = Cache(tmp_path)
    build(cache, make=guarded)
    cache.prune([], Reporter())
    assert list((tmp_path / "kernel").iterdir()) == []


def test_facts_are_plain_json(tmp_path: Path) -> None:
    """A person, or another program, can read what an entry is."""
    entry = build(Cache(tmp_path))
    assert json.loads((entry.path / "entry.json").read_text()).items() >= entry.facts.items()
