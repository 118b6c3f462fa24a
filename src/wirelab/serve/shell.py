"""A shell: a network whose clock is stopped, at somebody's prompt, in a thread of its own."""

import logging
import queue
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from wirelab.errors import InputError, WirelabError
from wirelab.lab.scratch import scratch_folder
from wirelab.model.cases import Case
from wirelab.model.experiment import Experiment
from wirelab.shell.around import Around
from wirelab.shell.command import Again, Command, Set
from wirelab.shell.save import save
from wirelab.shell.session import PICTURES_PER_S, Picture, Session

IDLE_S: Final = 15 * 60.0
"""Without a line for so long it ends: its memory is wanted."""
COMMAND_S: Final = 60.0
"""A line that takes longer is interrupted."""
COMMAND_LETTERS: Final = 200_000
"""So does one that says more."""
LINE_LETTERS: Final = 2_000
LINES_AHEAD: Final = 100
"""Lines that may wait, as of something that was pasted."""
RECORD_BYTES: Final = 256 << 20

_STUCK_S: Final = 30.0
_AGAIN_S: Final = 1.0
_PART_S: Final = 0.2
_LOG: Final = logging.getLogger(__name__)

Message = Mapping[str, Any]
"""What is told to the page, as JSON values."""
Tell = Callable[[Message, float], bool]
"""Tells it within so many seconds; False: there is no room yet."""


@dataclass(frozen=True, slots=True)
class ShellSetup:
    """What stands still: a case of a scenario with ``settings`` on top. ``is_fixed``: they may not change."""

    experiment: Experiment
    case: Case
    settings: tuple[tuple[str, str], ...]
    seed: int
    written: Mapping[str, Any]
    is_fixed: bool = False


class _EndedError(Exception):
    """It is to end, whatever it is at."""


class Shell:
    """Somebody's shell, from `start` to when ``has_ended`` is set. May be told things from any thread.

    ``session`` makes the session, ``tell`` is how the page hears of it. Reasons and notes are names in the
    catalogue of words.
    """

    def __init__(
        self,
        person: str,
        setup: ShellSetup,
        session: Callable[[Around], AbstractContextManager[Session]],
        tell: Tell,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.person = person
        self.has_ended = threading.Event()
        self._setup = setup
        self._make = session
        self._tell_page = tell
        self._clock = clock
        self._inbox: queue.Queue[Message] = queue.Queue(LINES_AHEAD)
        self._why = ""
        self._is_wanted = True
        self._is_cut = threading.Event()
        self._late_s: float | None = None
        self._stuck_s = 0.0
        self._session: Session | None = None
        self._thread = threading.Thread(target=self._work, name=f"shell of {person}", daemon=True)

    def start(self) -> None:
        """Switch the lab on, in its own thread."""
        self._thread.start()

    def hear(self, message: Message) -> None:
        """The page says something: a line, one to be completed, or that what runs is to be interrupted."""
        if "stop" in message:
            self._is_cut.set()
            return
        try:
            self._inbox.put_nowait(message)
        except queue.Full:
            self.end("shell.ended.too-much")

    def end(self, why: str) -> None:
        """Switch the lab off soon; the first reason counts."""
        self._why = self._why or why
        self._is_wanted = False

    def join(self, seconds: float) -> bool:
        """Wait until it has ended. Returns whether it has."""
        return self.has_ended.wait(seconds)

    def _work(self) -> None:
        said = ""
        try:
            around = Around(self._keep, self._permit, self._look, RECORD_BYTES, is_fixed=self._setup.is_fixed)
            with self._make(around) as session:
                self._session = session
                self._converse(session)
            self.end("shell.ended.over")
        except _EndedError:
            pass
        except WirelabError as error:
            self.end("shell.ended.broke")
            said = error.message
        except Exception:  # noqa: BLE001 - whatever it was, the page is told that it is over
            _LOG.exception("the shell of %s", self.person)
            self.end("shell.ended.failed")
        finally:
            self._session = None
            self.has_ended.set()
            self._tell_page({"ended": self._why, "message": said}, _STUCK_S)

    def _converse(self, session: Session) -> None:
        self._tell({"prompt": session.now})
        while not session.is_over:
            message = self._next()
            if "complete" in message:
                self._tell({"words": session.completions(str(message["complete"]))})
            elif "columns" in message:
                session.columns = int(message["columns"])
            elif "line" in message:
                self._do(session, str(message["line"]))
                if not session.is_over:
                    self._tell({"prompt": session.now})

    def _next(self) -> Message:
        until_s = self._clock() + IDLE_S
        while True:
            self._require_wanted()
            try:
                return self._inbox.get(timeout=_PART_S)
            except queue.Empty:
                if self._clock() > until_s:
                    self.end("shell.ended.idle")

    def _do(self, session: Session, line: str) -> None:
        """What a line says, within limits."""
        self._is_cut.clear()
        self._late_s = self._clock() + COMMAND_S
        self._stuck_s = self._late_s + _STUCK_S
        try:
            self._show(session, session.tell(line))
        except InputError as error:
            self._tell({"refused": [str(problem) for problem in error.problems], "hint": error.hint or ""})
        finally:
            self._late_s = None

    def _permit(self, said: Command) -> None:
        changes = isinstance(said, Set) or (isinstance(said, Again) and said.key is not None)
        if changes and self._setup.is_fixed:
            raise InputError("shell.fixed")

    def _keep(self, path: Path, text: str) -> None:
        """A scenario goes to the page, as a file: nothing is written on the server."""
        with scratch_folder() as folder:
            try:
                save(folder / path.name, text)
            except InputError as error:
                # Where the server has its files is nobody's business.
                said, hint = (text.replace(f"{folder}/", "") for text in (error.message, error.hint or ""))
                raise InputError(said, hint=hint) from error
        self._tell({"file": path.name, "content": text})

    def _show(self, session: Session, said: Iterator[str | Picture]) -> None:
        letters, begun_s, count = 0, self._clock(), 0
        for part in said:
            self._look()
            if isinstance(part, Picture):
                count += 1
                self._tell({"picture": part.lines})
                if self._waits_until(begun_s + count / PICTURES_PER_S):
                    # It stands: nothing has to be read to its end.
                    self._tell({"text": f"interrupted at {session.now}\n"})
                    return
            elif letters <= COMMAND_LETTERS:
                letters += len(part)
                self._tell({"text": part[:COMMAND_LETTERS]})
                if letters > COMMAND_LETTERS:
                    self._tell({"note": "shell.much"})
                    session.interrupt()

    def _waits_until(self, at_s: float) -> bool:
        """Wait between two pictures. Returns whether somebody has had enough of them."""
        while (left_s := at_s - self._clock()) > 0:
            self._require_wanted()
            if self._is_cut.wait(min(left_s, _PART_S)):
                return True
        return self._is_late()

    def _is_late(self) -> bool:
        """Whether the line has taken too long, which is told once."""
        if self._late_s is None or self._clock() < self._late_s:
            return False
        if self._late_s + _STUCK_S == self._stuck_s:
            self._tell({"note": "shell.long"})
        self._late_s = self._clock() + _AGAIN_S
        return True

    def _look(self) -> None:
        """Called while the lab does something, in this thread: interrupt it if it is to be, or raise."""
        self._require_wanted()
        if self._session is None or self._late_s is None:
            return
        if self._clock() > self._stuck_s:
            self.end("shell.ended.stuck")
        if self._is_cut.is_set() or self._is_late():
            self._is_cut.clear()
            self._session.interrupt()

    def _tell(self, message: Message) -> None:
        while not self._tell_page(message, _PART_S):
            self._require_wanted()

    def _require_wanted(self) -> None:
        if not self._is_wanted:
            raise _EndedError
