"""Ctrl-C at the wrong instant: nothing stays locked, and nothing is left that was just being started."""

from __future__ import annotations

import signal
import subprocess
import threading
from typing import TYPE_CHECKING, Any

import pytest
from test_cli_run import gone, wait_for
from test_lab_machine import PATIENCE_S, machine_of

from wirelab.lab.interrupts import interrupts_held
from wirelab.lab.jail import Confinement, Jail
from wirelab.lab.kernel_process import KernelProcess

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class CtrlCError(Exception):
    """What Ctrl-C raises here: KeyboardInterrupt would end all tests."""


def interrupt(*_: object) -> None:
    """Stand for Python's own handler."""
    raise CtrlCError


@pytest.fixture(autouse=True)
def handler() -> Iterator[None]:
    """Have SIGINT raise."""
    before = signal.signal(signal.SIGINT, interrupt)
    yield
    signal.signal(signal.SIGINT, before)


class InterruptedLock:
    """A lock; the signal comes when it was taken just now."""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def acquire(self, *arguments: Any) -> bool:  # noqa: ANN401 - those of a lock
        """Take it."""
        is_taken = self._lock.acquire(*arguments)
        signal.raise_signal(signal.SIGINT)
        return is_taken

    def release(self) -> None:
        """Let it go."""
        self._lock.release()

    def __enter__(self) -> bool:
        return self._lock.__enter__()

    def __exit__(self, *exception: object) -> None:
        self._lock.release()


def test_an_interrupt_comes_when_it_may() -> None:
    """Not before the context ends, once for all that came, and from then on at once again."""
    reached = []

    def held() -> None:
        with interrupts_held():
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
            reached.append("the end")

    with pytest.raises(CtrlCError):
        held()
    assert reached == ["the end"]
    assert signal.getsignal(signal.SIGINT) is interrupt
    with pytest.raises(CtrlCError):
        signal.raise_signal(signal.SIGINT)


def test_what_raises_no_exception_is_left_alone() -> None:
    """A signal that ends the process ends it at once, and one that is ignored stays so."""
    actions = {signal.SIGHUP: signal.SIG_IGN, signal.SIGTERM: signal.SIG_DFL}
    before = {number: signal.signal(number, action) for number, action in actions.items()}
    try:
        with interrupts_held():
            assert {number: signal.getsignal(number) for number in actions} == actions
    finally:
        for number, action in before.items():
            signal.signal(number, action)


def test_other_threads_may_hold_them_too() -> None:
    """Nothing is raised in them, and only the main thread could say who handles a signal."""
    held: list[bool] = []

    def hold() -> None:
        with interrupts_held():
            held.append(signal.getsignal(signal.SIGINT) is interrupt)

    thread = threading.Thread(target=hold)
    thread.start()
    thread.join(PATIENCE_S)
    assert held == [True]


def test_a_lab_can_be_ended_after_an_interrupt_at_any_step_of_a_look_at_it() -> None:
    """``Popen.wait`` takes a lock; left locked, who ends the lab would wait for it for ever."""
    # No context: its end would wait for the lock as well.
    sleep = subprocess.Popen(["/bin/sleep", "60"], start_new_session=True)
    sleep._waitpid_lock = InterruptedLock()  # type: ignore[attr-defined]  # noqa: SLF001
    process = KernelProcess(sleep)
    with pytest.raises(CtrlCError):
        process.has_ended()
    ended = threading.Thread(target=process.end, daemon=True)
    ended.start()
    ended.join(PATIENCE_S)
    assert not ended.is_alive()


@pytest.mark.parametrize("attempt", range(5))
@pytest.mark.parametrize("confinement", [Confinement.NONE, Confinement.AS_FAR_AS_THE_HOST_CAN])
def test_a_lab_that_is_just_being_started_is_ended(
    confinement: Confinement,
    attempt: int,  # noqa: ARG001 - how far it is differs
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """However far its start is: the lab itself interrupts who started it, as its first step.

    Without a jail the main thread starts it, with one a thread of its own does.
    """
    monkeypatch.setattr(Jail, "enter", lambda *_: None)
    pid_file = tmp_path / "pid"
    script = f'echo $$ > "{pid_file}"; kill -INT "$PPID"; exec sleep 60'
    machine = machine_of(tmp_path, script, confinement=confinement)
    with pytest.raises(CtrlCError), machine:
        machine.wait(PATIENCE_S)
    assert gone(wait_for(pid_file))
