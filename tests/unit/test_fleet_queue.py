"""The queue of a matrix: every job is with one worker, and comes back if that is lost."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

import pytest

from tests.apart import CONTEXT
from wirelab.errors import LabError
from wirelab.fleet.queue import JobQueue, QueuedJob

JOBS = tuple(QueuedJob(f"scenario-{number}", 1, labs=number) for number in range(1, 5))


@pytest.fixture
def queue(tmp_path: Path) -> JobQueue:
    """Four jobs."""
    return JobQueue.make(tmp_path / "queue", JOBS)


def test_orders_are_claimed_in_their_order_and_once(queue: JobQueue) -> None:
    """Whoever asks; then there is none, and the queue is finished when each has a result."""
    with queue.present("a"), queue.present("b"):
        claims = [queue.claim("ab"[number % 2]) for number in range(4)]
        assert [claim.title for claim in claims if claim] == [job.title for job in JOBS]
        assert queue.claim("a") is None
        for number, claim in enumerate(claims, 1):
            assert not queue.is_finished()
            assert claim is not None
            assert queue.finish(claim, "a", queue.folder / str(number)) == (number, 4)
        assert queue.is_finished()
    assert [(result.title, result.host) for result in queue.results()] == [(job.title, "a") for job in JOBS]


def test_what_is_given_back_is_the_next(queue: JobQueue) -> None:
    """In its old place before the others, and for everybody."""
    claim = queue.claim("a")
    assert claim is not None
    queue.give_back(claim)
    again = queue.claim("b")
    assert again is not None
    assert again.title == JOBS[0].title


def test_what_broke_on_a_worker_is_for_the_others(queue: JobQueue) -> None:
    """As long as there are others; alone it gets it again."""
    with queue.present("a"):
        with queue.present("b"):
            claim = queue.claim("a")
            assert claim is not None
            queue.give_back(claim, broke_on="a")
            following = queue.claim("a")
            assert following is not None
            assert following.title == JOBS[1].title
        alone = queue.claim("a")
        assert alone is not None
        assert alone.broke_on == ("a",)
        queue.drop(alone, "it broke twice")
    assert queue.dropped() == {"scenario-1": "it broke twice"}


def _claim_and_die(queue: JobQueue) -> None:
    queue.claim("a")
    os._exit(0)


def test_a_dead_process_has_no_claim(queue: JobQueue) -> None:
    """The process of a worker is killed: what it had is the next one's."""
    process = CONTEXT.Process(target=_claim_and_die, args=(queue,))
    process.start()
    process.join()
    assert not queue.is_finished()
    claim = queue.claim("b")
    assert claim is not None
    assert claim.title == JOBS[0].title


def _work(queue: JobQueue, host: str) -> None:
    with queue.present(host):
        while not queue.is_finished():
            if claim := queue.claim(host):
                queue.finish(claim, host, queue.folder)


def test_workers_at_once_do_not_meet(tmp_path: Path) -> None:
    """Four processes and 60 jobs: each job is done by one of them."""
    jobs = [QueuedJob(f"scenario-{number}", 1) for number in range(60)]
    queue = JobQueue.make(tmp_path / "many", jobs)
    processes = [CONTEXT.Process(target=_work, args=(queue, host)) for host in "abcd"]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [result.title for result in queue.results()] == [job.title for job in jobs]


def test_a_host_may_have_any_name(queue: JobQueue) -> None:
    """None of them is a path."""
    name = "../lab/ö: 1"
    with queue.present(name):
        queue.lose(name, "its cable was cut")
    assert queue.lost() == {name: "its cable was cut"}


def test_a_folder_that_cannot_be_made_is_named() -> None:
    """With what the system says of it."""
    with pytest.raises(LabError, match="/proc/queue"):
        JobQueue.make(Path("/proc/queue"), JOBS)


def test_who_waits_writes_nothing(queue: JobQueue) -> None:
    """A worker that asks three times a second for what others have leaves the file alone."""
    matrix = queue.folder / "matrix.json"
    with queue.present("a"), queue.present("b"):
        while queue.claim("a"):
            pass
        before = matrix.stat()
        assert queue.claim("b") is None
        after = matrix.stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_a_full_disk_is_said_and_loses_nothing(queue: JobQueue) -> None:
    """With the file and what helps; what was known before is known afterwards."""
    fresh = queue.folder / ".matrix.json"
    fresh.symlink_to("/dev/full")
    with pytest.raises(LabError, match=r"\.matrix\.json: .*No space left on device") as caught:
        queue.claim("a")
    assert "make room" in (caught.value.hint or "")
    fresh.unlink()
    claim = queue.claim("b")
    assert claim is not None
    assert claim.title == JOBS[0].title


DAY_S = 86_400


@pytest.mark.parametrize("who", ["nobody", "somebody", "nobody any more"])
@pytest.mark.parametrize("age_s", [60, 2 * DAY_S])
def test_queues_that_were_left_go(
    who: str, age_s: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the next one, after a day in which nobody takes part; nobody else knows that it was ended."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    first = JobQueue.make_anew(JOBS, 0)
    if who == "nobody any more":
        with first.present("a"):
            pass
    now_s = (first.folder / "matrix.json").stat().st_mtime + age_s
    with first.present("a") if who == "somebody" else contextlib.nullcontext():
        second = JobQueue.make_anew(JOBS, now_s)
        assert second.claim("b") is not None
    assert first.folder.exists() is (who == "somebody" or age_s < DAY_S)
    assert second.folder.stat().st_mode & 0o777 == 0o700


def test_what_is_called_like_a_queue_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Notes, a folder of somebody's, and a link to a queue."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    queue = JobQueue.make(tmp_path / "wirelab-matrix-of-mine", JOBS)
    (tmp_path / "wirelab-matrix-0123abcd").mkdir()
    (tmp_path / "wirelab-matrix-4567abcd").symlink_to(queue.folder)
    (tmp_path / "wirelab-matrix-89abcdef").touch()
    before = set(tmp_path.iterdir())
    JobQueue.make_anew(JOBS, (queue.folder / "matrix.json").stat().st_mtime + 2 * DAY_S)
    assert before < set(tmp_path.iterdir())
