"""Result folders: whole or not there."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import subprocess
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest
from standin import results_in

from wirelab.errors import LabError
from wirelab.runner.store import Store

WHEN = datetime(2026, 7, 22, 10, 15, 30, tzinfo=UTC)
UNWRITABLE = Path("/proc/wirelab-results")


def keep(store: Store, text: str = "{}", when: datetime = WHEN) -> Path:
    """Keep a result with that text."""
    with store.begin("sfp-mismatch", when) as draft:
        (draft.variant("main", "{}") / "raw").mkdir()
        return draft.commit(text)


def test_a_result_is_named_by_time_and_scenario(tmp_path: Path) -> None:
    """The name sorts by time; plan and raw files are in a folder for each variant."""
    folder = keep(Store(tmp_path), '{"verdict": "pass"}')
    assert folder == tmp_path / "20260722T101530Z-sfp-mismatch"
    assert (folder / "result.json").read_text(encoding="utf-8") == '{"verdict": "pass"}'
    assert (folder / "main" / "plan.json").is_file()
    assert (folder / "main" / "raw").is_dir()
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_a_folder_of_results_is_made(tmp_path: Path) -> None:
    """--out may name a folder that is not there yet."""
    assert keep(Store(tmp_path / "deep" / "results")).is_dir()


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    """Two runs in the same second get two names, in the order in which they were kept."""
    store = Store(tmp_path)
    folders = [keep(store, str(number)) for number in range(3)]
    assert [folder.name for folder in folders] == [
        "20260722T101530Z-sfp-mismatch",
        "20260722T101530Z.2-sfp-mismatch",
        "20260722T101530Z.3-sfp-mismatch",
    ]
    assert [(folder / "result.json").read_text(encoding="utf-8") for folder in folders] == ["0", "1", "2"]
    assert results_in(store.root) == folders


def test_runs_at_once_do_not_meet(tmp_path: Path) -> None:
    """Runs that begin and end side by side, over and over, keep all their results."""
    store, barrier = Store(tmp_path), threading.Barrier(8)

    def some() -> None:
        barrier.wait()
        for _ in range(20):
            keep(store)

    threads = [threading.Thread(target=some) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results_in(store.root)) == 160
    assert (tmp_path / "latest" / "sfp-mismatch" / "result.json").is_file()


def test_latest_points_to_the_newest(tmp_path: Path) -> None:
    """The link is relative, so that the folder of results may be moved."""
    store = Store(tmp_path)
    keep(store, "old")
    keep(store, "new", WHEN.replace(second=31))
    link = tmp_path / "latest" / "sfp-mismatch"
    assert link.readlink() == Path("../20260722T101531Z-sfp-mismatch")
    assert (link / "result.json").read_text(encoding="utf-8") == "new"
    assert [path.name for path in link.parent.iterdir()] == ["sfp-mismatch"]


def test_a_folder_in_the_place_of_the_link_is_not_touched(tmp_path: Path) -> None:
    """Somebody's folder is not replaced: the result is whole, and the message names the link."""
    obstacle = tmp_path / "latest" / "sfp-mismatch"
    obstacle.mkdir(parents=True)
    (obstacle / "mine").write_text("x", encoding="utf-8")
    with pytest.raises(LabError, match="latest/sfp-mismatch"):
        keep(Store(tmp_path))
    assert (obstacle / "mine").is_file()
    assert len(results_in(tmp_path)) == 1
    assert [path.name for path in obstacle.parent.iterdir()] == ["sfp-mismatch"]


@pytest.mark.parametrize("reason", [None, KeyboardInterrupt, LabError])
def test_what_is_not_committed_leaves_nothing(reason: type[BaseException] | None, tmp_path: Path) -> None:
    """A run that ends in the middle, however it ends, leaves neither a result nor a link."""

    def begin() -> None:
        with Store(tmp_path).begin("sfp-mismatch", WHEN) as draft:
            draft.variant("main", "{}")
            if reason is not None:
                raise reason("stop")

    if reason is None:
        begin()
    else:
        with pytest.raises(reason):
            begin()
    assert list(tmp_path.iterdir()) == []


def killed_run(results: Path) -> Path:
    """A run in another process, killed with SIGKILL half way; the folder it leaves."""
    script = (
        "import sys; from datetime import datetime; from pathlib import Path\n"
        "from wirelab.runner.store import Store\n"
        f"with Store(Path({str(results)!r})).begin('sfp-mismatch', datetime(2026, 7, 22)) as draft:\n"
        "    draft.variant('main', '{}'); (draft.folder / 'result.json').write_text('half')\n"
        "    print(draft.folder, flush=True); sys.stdin.read()\n"
    )
    process = subprocess.Popen(  # noqa: S603 - the script above
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    folder = Path(process.stdout.readline().strip())
    assert list(Store(results).leftovers()) == []
    process.send_signal(signal.SIGKILL)
    process.communicate()
    return folder


def test_what_a_killed_run_left_is_no_result(tmp_path: Path) -> None:
    """Not even with a result.json in it; the next run removes it and works, and the others stay."""
    store = Store(tmp_path)
    earlier = keep(store, "earlier")
    left = killed_run(tmp_path)
    assert left.is_dir()
    assert results_in(store.root) == [earlier]
    assert list(store.leftovers()) == [left]
    later = keep(Store(tmp_path), "later")
    assert not left.exists()
    assert results_in(store.root) == [earlier, later]
    assert (earlier / "result.json").read_text(encoding="utf-8") == "earlier"


def test_what_was_left_is_looked_for_once(tmp_path: Path) -> None:
    """Not by every run of a matrix: there may be thousands, and theirs are locked."""
    store = Store(tmp_path)
    keep(store)
    left = killed_run(tmp_path)
    keep(store)
    assert left.is_dir()


def test_a_sweep_is_kept_apart(tmp_path: Path) -> None:
    """It has a document, a folder and a link of its own, and is no result of its scenario."""
    run = keep(Store(tmp_path))
    with Store.of_sweeps(tmp_path).begin("sfp-mismatch", WHEN.replace(second=59)) as draft:
        folder = draft.commit("{}")
    assert folder == tmp_path / "sweeps" / "20260722T101559Z-sfp-mismatch"
    assert [path.name for path in folder.iterdir()] == ["sweep.json"]
    assert results_in(tmp_path / "sweeps") == [folder]
    assert results_in(tmp_path) == [run]
    assert (tmp_path / "latest" / "sfp-mismatch").resolve() == run


def test_a_run_under_way_is_not_swept_away(tmp_path: Path) -> None:
    """Another run that begins meanwhile leaves it alone."""
    store = Store(tmp_path)
    with store.begin("sfp-mismatch", WHEN) as draft:
        keep(Store(tmp_path))
        assert draft.folder.is_dir()
        assert list(store.leftovers()) == []


def test_results_that_cannot_be_written_are_named() -> None:
    """The message says which path and why, the hint what to do."""
    with pytest.raises(LabError, match=r"^/proc/wirelab-results: cannot write results: ") as caught:
        keep(Store(UNWRITABLE))
    assert caught.value.exit_code == 4


def test_a_file_in_the_place_of_the_folder(tmp_path: Path) -> None:
    """--out may not be a file."""
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(LabError, match="cannot write results: File exists") as caught:
        keep(Store(tmp_path / "file"))
    assert caught.value.hint == "choose a folder with --out"


def test_a_full_disk_leaves_no_result(tmp_path: Path) -> None:
    """ENOSPC while result.json is written: an error with the path, and nothing that looks like a result."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    previous = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        with pytest.raises(LabError, match=f"result.json: cannot write results: {os.strerror(errno.EFBIG)}"):
            keep(Store(tmp_path), "x" * 10_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, previous)
    assert list(tmp_path.iterdir()) == []


def test_the_lock_of_a_run_is_not_inherited(tmp_path: Path) -> None:
    """A lab that outlives its run must not keep its folder from being swept."""
    with Store(tmp_path).begin("sfp-mismatch", WHEN) as draft:
        inherited = [
            fd
            for fd in (int(path.name) for path in Path("/proc/self/fd").iterdir())
            if fd > 2 and inheritable_folder(fd, draft.folder)
        ]
    assert inherited == []


def inheritable_folder(descriptor: int, folder: Path) -> bool:
    """Whether a program started now would get ``folder`` as an open descriptor."""
    try:
        flags = fcntl.fcntl(descriptor, fcntl.F_GETFD)
        return not flags & fcntl.FD_CLOEXEC and os.path.samestat(os.fstat(descriptor), folder.stat())
    except OSError:
        return False
