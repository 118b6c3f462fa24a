"""The queue of runs: fair between people, each question answered once, and nothing lost."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest
from served import PretendTestbed, made_room

from wirelab.errors import InputError, LabError
from wirelab.serve.bench import Bench
from wirelab.serve.queue import MOST_WAITING_EACH
from wirelab.serve.runs import Runs, State
from wirelab.serve.schedule import Schedule

if TYPE_CHECKING:
    from pathlib import Path

    from wirelab.serve.room import Room


def scheduled(*asked: tuple[str, str]) -> Schedule:
    """A schedule in which people have asked for runs."""
    schedule = Schedule()
    for run, person in asked:
        schedule.add(run, person)
    return schedule


def test_it_goes_round_among_people() -> None:
    """Who asks for four runs is served as often as who asks for one; their others come afterwards."""
    schedule = scheduled(("a1", "ada"), ("a2", "ada"), ("a3", "ada"), ("b1", "bob"), ("c1", "cai"))
    assert schedule.order() == ["a1", "b1", "c1", "a2", "a3"]
    assert [schedule.take() for _ in range(6)] == ["a1", "b1", "c1", "a2", "a3", None]


def test_who_comes_later_is_not_behind_what_others_have_piled_up() -> None:
    """And who has not asked for long has saved up nothing."""
    schedule = scheduled(("a1", "ada"), ("a2", "ada"), ("a3", "ada"))
    assert schedule.take() == "a1"
    schedule.add("b1", "bob")
    schedule.add("b2", "bob")
    assert schedule.order() == ["b1", "a2", "b2", "a3"]


def test_a_run_of_several_is_due_with_the_first_of_them() -> None:
    """And it is nobody's second turn who only joined in."""
    schedule = scheduled(("a1", "ada"), ("a2", "ada"), ("b1", "bob"), ("a2", "bob"))
    assert schedule.order() == ["a1", "a2", "b1"]
    schedule.remove("a1")
    assert schedule.waiting_of("bob") == 2
    assert len(schedule) == 2


def spec(fifo: str) -> dict[str, object]:
    """A run of the bench."""
    return Bench.read("sfp-mismatch", "", {"module.fifo": fifo}).spec


@pytest.fixture
def testbed() -> PretendTestbed:
    """What carries the runs out."""
    return PretendTestbed()


@pytest.fixture
def room(tmp_path: Path, testbed: PretendTestbed) -> Room:
    """A classroom whose queue has not been started."""
    return made_room(tmp_path / "class", testbed, cpus=1)


def finished(room: Room, run: str) -> State:
    """Wait until a run has ended, and tell how."""
    ended = threading.Event()
    for _ in range(1500):
        status = room.queue.status(run)
        assert status is not None
        if status.state.has_ended:
            return status.state
        ended.wait(0.02)
    message = f"{run} does not end"
    raise AssertionError(message)


def test_a_question_is_answered_once(room: Room, testbed: PretendTestbed) -> None:
    """Whoever asks, and however often; another setting is another question."""
    room.queue.start()
    first = room.queue.ask(spec("16 KiB"), "ada")
    assert finished(room, first.id) is State.DONE
    again = room.queue.ask(spec("16 KiB"), "bob")
    assert (again.id, again.state) == (first.id, State.DONE)
    other = room.queue.ask(spec("32 KiB"), "bob")
    assert finished(room, other.id) is State.DONE
    assert len(testbed.plans) == 2
    room.queue.stop()


def test_a_place_and_an_estimate_are_told(room: Room) -> None:
    """Before anything runs: how many come first, and about how long that takes."""
    runs = [
        room.queue.ask(spec(f"{size} KiB"), person)
        for size, person in ((16, "ada"), (20, "ada"), (24, "bob"))
    ]
    told = [room.queue.status(run.id) for run in runs]
    assert [status.ahead for status in told if status] == [0, 2, 1]
    waits = [status.wait_s for status in told if status]
    assert waits[0] == 0 < waits[2] < waits[1]


def test_nobody_fills_the_queue(room: Room) -> None:
    """Somebody who waits for enough is told so, and nobody else is."""
    for number in range(MOST_WAITING_EACH):
        room.queue.ask(spec(f"{number + 16} KiB"), "ada")
    with pytest.raises(InputError, match=r"run\.enough"):
        room.queue.ask(spec("99 KiB"), "ada")
    assert room.queue.ask(spec("99 KiB"), "bob").state is State.WAITING


def test_a_lab_that_breaks_is_told_and_may_be_tried_again(room: Room, testbed: PretendTestbed) -> None:
    """It says nothing about the network: no answer is kept of it."""
    testbed.breaks = True
    room.queue.start()
    run = room.queue.ask(spec("16 KiB"), "ada")
    assert finished(room, run.id) is State.BROKEN
    status = room.queue.status(run.id)
    assert status is not None
    assert "the lab broke in a test" in status.message
    testbed.breaks = False
    assert room.queue.ask(spec("16 KiB"), "ada").id == run.id
    assert finished(room, run.id) is State.DONE
    room.queue.stop()


def test_a_full_disk_costs_no_run(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot be noted, not even that it broke, waits again, and is there as soon as there is room."""
    tried = threading.Semaphore(0)

    def full(*_: object, **__: object) -> None:
        tried.release()
        raise LabError("class.db: nothing can be kept: database or disk is full")

    monkeypatch.setattr("wirelab.serve.queue.ROOM_WAIT_S", 0.05)
    with monkeypatch.context() as disk:
        disk.setattr(Runs, "end", full)
        disk.setattr(Runs, "broke", full)
        room.queue.start()
        run = room.queue.ask(spec("16 KiB"), "ada")
        for _ in range(4):
            assert tried.acquire(timeout=10)
        status = room.queue.status(run.id)
        assert status is not None
        assert not status.state.has_ended
    assert finished(room, run.id) is State.DONE


def test_what_waited_is_run_by_the_next_server(tmp_path: Path, room: Room, testbed: PretendTestbed) -> None:
    """What was under way as well, in the order in which it was asked for."""
    testbed.go.clear()
    room.queue.start()
    runs = [room.queue.ask(spec(f"{size} KiB"), "ada") for size in (16, 20)]
    room.queue.stop()
    room.database.close()
    after = made_room(tmp_path / "class", PretendTestbed(), cpus=1)
    assert [run.id for run, _ in after.runs.unfinished()] == [run.id for run in runs]
    after.queue.start()
    assert [finished(after, run.id) for run in runs] == [State.DONE, State.DONE]
    after.queue.stop()


def test_what_makes_no_sense_is_refused_before_it_waits(room: Room) -> None:
    """With the words that the command line has for it."""
    with pytest.raises(InputError, match="unknown unit `parsec`"):
        room.queue.ask({**spec("16 KiB"), "settings": {"module.fifo": "8 parsec"}}, "ada")
    assert room.queue.counts() == (0, 0)
