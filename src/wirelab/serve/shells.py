"""The shells of a classroom: one for each person, and so many in all."""

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Final

from wirelab.errors import InputError
from wirelab.lab.select import Lab
from wirelab.serve.shell import Shell, ShellSetup, Tell
from wirelab.shell.around import Around
from wirelab.shell.session import Session

Sessions = Callable[[ShellSetup, int, Around], AbstractContextManager[Session]]
"""Makes the session of a setup on a CPU."""

NICENESS: Final = 10
"""Of a server's labs: pages come first."""
_LEAVE_S: Final = 10.0


def sessions_in(lab: Lab) -> Sessions:
    """Sessions in the labs of a server."""

    def made(setup: ShellSetup, cpu: int, around: Around) -> Session:
        return Session(
            lab,
            setup.experiment,
            setup.case,
            seed=setup.seed,
            cpu=cpu,
            written=setup.written,
            settings=setup.settings,
            around=replace(around, niceness=NICENESS),
        )

    return made


def _none(_setup: ShellSetup, _cpu: int, _around: Around) -> Session:
    raise InputError("shell.none")


@dataclass(slots=True)
class Shells:
    """At most ``most`` of them on ``cpus``; each holds a lab's memory. May be asked from any thread."""

    sessions: Sessions = _none
    cpus: Sequence[int] = ()
    most: int = 0
    clock: Callable[[], float] = time.monotonic
    _open: dict[str, tuple[Shell, int]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _is_stopped: bool = False

    def require_room(self, person: str) -> None:
        """Raise InputError where there would be none free for somebody."""
        with self._lock:
            self._require_room(person)

    def open(self, person: str, setup: ShellSetup, tell: Tell) -> Shell:
        """A shell for somebody; an older one of theirs ends: a page that is gone may not have said so.

        Raises InputError where there is none free.
        """
        with self._lock:
            older = self._open.get(person)
        if older:
            older[0].end("shell.ended.elsewhere")
            older[0].join(_LEAVE_S)
        with self._lock:
            self._require_room(person)
            if person in self._open:
                # The older one has not ended in all that time.
                raise InputError("shell.full")
            cpu = self._idlest()
            shell = Shell(person, setup, lambda around: self.sessions(setup, cpu, around), tell, self.clock)
            self._open[person] = shell, cpu
            shell.start()
            return shell

    def count(self) -> int:
        """How many there are."""
        with self._lock:
            return sum(not shell.has_ended.is_set() for shell, _ in self._open.values())

    def stop(self) -> None:
        """Switch all of them off, and open none any more."""
        with self._lock:
            self._is_stopped = True
            shells = [shell for shell, _ in self._open.values()]
        for shell in shells:
            shell.end("shell.ended.closing")
        for shell in shells:
            shell.join(_LEAVE_S)

    def _require_room(self, person: str) -> None:
        self._open = {who: one for who, one in self._open.items() if not one[0].has_ended.is_set()}
        if self._is_stopped or not self.most:
            raise InputError("shell.none")
        if len(self._open.keys() - {person}) >= self.most:
            raise InputError("shell.full")

    def _idlest(self) -> int:
        taken = [cpu for _, cpu in self._open.values()]
        return min(self.cpus, key=taken.count)
