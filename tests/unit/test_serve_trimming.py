"""The results of a class have a bound: what nobody needs goes first, and is made again where it is wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from students import HERE, kept, ready

from wirelab.serve.room import RESULTS
from wirelab.serve.trimming import Trimming

if TYPE_CHECKING:
    from pathlib import Path

    from served import Served


def trimming(served: Served, tmp_path: Path, *, repeatable: bool = False, limit_bytes: int = 0) -> Trimming:
    """What keeps its results within so much."""
    folder = tmp_path / "class" / RESULTS
    return Trimming(served.room.runs, folder, lambda _: repeatable, limit_bytes, least_kept=0)


def results(tmp_path: Path) -> list[str]:
    """The folders of results."""
    return sorted(path.name for path in (tmp_path / "class" / RESULTS).glob("2*"))


def on_the_bench(served: Served) -> list[str]:
    """Two runs of a student there, the older first."""
    bob = served.student("Bob")
    runs = []
    for fifo in ("16 KiB", "32 KiB"):
        answer = bob.post("/bench/sfp-mismatch", with__module__fifo=fifo)
        runs.append(answer.url.rpartition("/")[2])
        served.wait_for_runs()
    return runs


def test_the_oldest_goes_first_and_comes_again(served: Served, tmp_path: Path) -> None:
    """As far as is needed; who opens it again waits for it as for a new one, and sees the same."""
    older, newer = on_the_bench(served)
    sizes = trimming(served, tmp_path)
    whole = sum(path.stat().st_blocks * 512 for path in (tmp_path / "class" / RESULTS).glob("2*/**/*"))
    sizes.limit_bytes = whole
    sizes.trim()
    assert len(results(tmp_path)) == 2
    sizes.limit_bytes = whole - 1
    sizes.trim()
    found = {run: served.room.runs.get(run) for run in (older, newer)}
    assert [run.is_trimmed for run in found.values() if run] == [True, False]
    assert len(results(tmp_path)) == 1
    teacher = served.teacher()
    teacher.get(f"/runs/{older}")
    served.wait_for_runs()
    assert "What bounds them" in teacher.get(f"/runs/{older}").text
    assert len(results(tmp_path)) == 2


def test_what_a_work_refers_to_stays(served: Served, tmp_path: Path) -> None:
    """Unless the same comes of it again: then the page asks for it, and the work is as it was."""
    ada = ready(served)
    before = kept(served).work
    trimming(served, tmp_path).trim()
    assert len(results(tmp_path)) == 1
    assert "Over virtual time" in ada.get(HERE).text
    trimming(served, tmp_path, repeatable=True).trim()
    assert results(tmp_path) == []
    ada.get(HERE)
    served.wait_for_runs()
    assert "Over virtual time" in ada.get(HERE).text
    assert kept(served).work == before


def test_what_no_run_has_is_removed_when_a_server_begins(served: Served, tmp_path: Path) -> None:
    """A killed one left it; the others stay, and so does what is none of them."""
    on_the_bench(served)
    folder = tmp_path / "class" / RESULTS
    (folder / "20200101T000000Z-left").mkdir()
    (folder / "mine").mkdir()
    trimming(served, tmp_path, limit_bytes=1 << 40).begin()
    assert len(results(tmp_path)) == 2
    assert (folder / "mine").is_dir()


def test_nothing_is_repeatable_that_was_measured_elsewhere(served: Served) -> None:
    """Without what was measured, or with another lab, nobody knows whether the same would come of it."""
    run = served.room.runs.get(on_the_bench(served)[0])
    assert run is not None
    assert not served.room.queue.is_repeatable(run)
