"""Tasks side by side, each on a CPU of its own."""

from __future__ import annotations

import threading
from functools import partial
from typing import TYPE_CHECKING

import pytest

from wirelab.runner.cpus import run_on

if TYPE_CHECKING:
    from collections.abc import Callable


def never() -> None:
    """Nothing is to be stopped."""
    pytest.fail("stopped")


def test_results_are_in_the_order_of_the_tasks() -> None:
    """Whichever ends first: here the first one waits for the last."""
    last = threading.Event()

    def slow(_cpu: int) -> str:
        assert last.wait(30)
        return "slow"

    def quick(_cpu: int) -> str:
        last.set()
        return "quick"

    assert run_on((0, 1), [slow, quick], never) == ["slow", "quick"]


def test_what_a_task_raises_ends_the_others() -> None:
    """Those that run are stopped, no other begins, and the error comes out."""
    stopped, begun = threading.Event(), []

    def hang(number: int, _cpu: int) -> None:
        begun.append(number)
        assert stopped.wait(30)

    def broken(_cpu: int) -> None:
        raise ZeroDivisionError

    tasks: list[Callable[[int], None]] = [
        partial(hang, 0),
        broken,
        *(partial(hang, number) for number in range(1, 50)),
    ]
    with pytest.raises(ZeroDivisionError):
        run_on((0, 1), tasks, stopped.set)
    assert stopped.is_set()
    # The CPU that the broken one had may have taken the next before it was noticed.
    assert len(begun) < 50


def test_nothing_to_do() -> None:
    """No task, no result."""
    assert run_on((0,), [], never) == []
