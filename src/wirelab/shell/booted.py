"""A lab that has been switched on, and stands still at its prompt; and what it has been told so far."""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any, Final, Self

from wirelab.errors import InputError, LabError, refusals
from wirelab.lab.machine import Machine, guest_folder
from wirelab.lab.prompt import Prompt, Says, Stands
from wirelab.lab.recording import RECORD, Recording
from wirelab.lab.scratch import SHELL, discard, own_folder, temporary_folder
from wirelab.lab.select import Lab
from wirelab.plan.types import Plan
from wirelab.runner.store import PLAN
from wirelab.shell.around import Around
from wirelab.shell.instant import shown
from wirelab.shell.sentence import event_number

_ALWAYS: Final = ((0, (1 << 64) // 1000 - 1),)
# A process that computes so long without asking anything of its kernel is ended: virtual time stands still.
_RUNAWAY_S: Final = 30.0
_DISK_PART: Final = 2
_AT_A_PROMPT: Final = "command.json"


@dataclass(frozen=True, slots=True)
class Ran:
    """Time has passed until an instant of the kernel's clock."""

    until_ns: int


@dataclass(frozen=True, slots=True)
class Told:
    """Something was done in the lab from one instant to another; ``cut``: it was interrupted."""

    what: dict[str, Any]
    from_ns: int
    until_ns: int
    cut: bool


class Booted:
    """A network that is up, from switching on to switching off: a context manager.

    ``at_ns`` is the kernel's clock, ``ready_ns`` of it when the network was ready.
    """

    def __init__(self, lab: Lab, plan: Plan, cpu: int, around: Around) -> None:
        self._lab = lab
        self._plan = plan
        self._cpu = cpu
        self._around = around
        self._prompt = Prompt()
        self._open = ExitStack()
        self._cut = False
        self.journal: list[Ran | Told] = []
        self.at_ns = self.ready_ns = 0
        self.happened: list[int] = []
        """The events of its Plan that have happened, by their numbers, in their order."""

    def __enter__(self) -> Self:
        """Switch it on, and wait until the network is ready."""
        with self._open:
            home = guest_folder(self._folder(), "lab")
            self.record = home / "results" / RECORD
            with refusals(home):
                (home / "plan" / PLAN).write_text(self._plan.physical_json(), encoding="utf-8")
                (home / "plan" / _AT_A_PROMPT).write_text("{}\n", encoding="utf-8")
            self._open.callback(self._prompt.close)
            machine = self._open.enter_context(self._machine(home))
            self._prompt.started()
            self._look_after(machine)
            for said in self._prompt.until_it_stands():
                if isinstance(said, Stands):
                    self.at_ns = self.ready_ns = said.at_ns
            # All is well: it stays open.
            self._open = self._open.pop_all()
        return self

    def _folder(self) -> Path:
        """A folder of its own. What a killed session leaves may be large: the next lab clears it away."""
        place = temporary_folder()
        with refusals(place):
            folder, lock = own_folder(place, SHELL)
        self._open.callback(os.close, lock)
        self._open.callback(discard, folder)
        return folder.absolute()

    def _machine(self, home: Path) -> Machine:
        free_bytes = os.statvfs(home).f_bavail * os.statvfs(home).f_frsize
        return Machine(
            self._lab.kernel,
            self._lab.root,
            home,
            seed=self._plan.seed,
            cpu=self._cpu,
            memory_bytes=self._plan.memory_bytes,
            recording=Recording(_ALWAYS, min(self._around.record_bytes, free_bytes // _DISK_PART)),
            prompt=self._prompt,
            niceness=self._around.niceness,
        )

    def _look_after(self, machine: Machine) -> None:
        """See to it that a lab that ends is noticed, and that nothing in it computes for ever."""
        runaways = machine.runaways(_RUNAWAY_S)
        begun_s = monotonic()

        def look() -> None:
            self._around.on_look()
            machine.require_running()
            runaways.end(monotonic() - begun_s)

        self._prompt.on_look = look

    def __exit__(self, *exception: object) -> None:
        """Switch it off, whatever it is at."""
        self._open.close()

    def run(self, until_ns: int, condition: str) -> Iterator[dict[str, Any] | str]:
        """Let time pass; what is said meanwhile, and at last why it stands: time, seen or stopped."""
        for said in self._prompt.run(until_ns, condition):
            if isinstance(said, Says):
                self._note(said.what)
                yield said.what
            else:
                self.at_ns = said.at_ns
                self.journal.append(Ran(said.at_ns))
                yield said.why

    def tell(self, what: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Have something done, and let time pass until it is; what is said meanwhile."""
        from_ns, self._cut = self.at_ns, False
        for said in self._prompt.tell(what):
            if isinstance(said, Says):
                self._note(said.what)
                yield said.what
            else:
                self.at_ns = said.at_ns
        self.journal.append(Told(what, from_ns, self.at_ns, self._cut))

    def _note(self, said: dict[str, Any]) -> None:
        if (number := event_number(said, self._plan.events)) is not None:
            self.happened.append(number)

    def interrupt(self) -> None:
        """End what is being done."""
        self._cut = True
        self._prompt.interrupt()

    def show(self) -> str:
        """Where each frame is, as the driver tells it."""
        return self._prompt.show()

    def until(self, target_ns: int) -> tuple[list[Ran | Told], bool]:
        """What has to be done again to be at an instant, and whether that is within something that was told.

        Then it ends before that. Raises InputError where something was interrupted, which nobody can repeat.
        """
        again: list[Ran | Told] = []
        for done in self.journal:
            if done.until_ns > target_ns:
                if isinstance(done, Ran):
                    return [*again, Ran(target_ns)], False
                return again, done.from_ns < target_ns
            if isinstance(done, Told) and done.cut:
                cut, begun = (shown(at_ns - self.ready_ns) for at_ns in (done.until_ns, done.from_ns))
                raise InputError(
                    f"the command that was interrupted at {cut} cannot be run again as it was:"
                    f" go back to {begun} or before"
                )
            again.append(done)
        return again, False

    def repeat(self, journal: list[Ran | Told]) -> None:
        """Do again what was done in another lab of this Plan. Raises LabError if it comes out otherwise."""
        for done in journal:
            if isinstance(done, Ran):
                for _ in self.run(done.until_ns, "none"):
                    pass
            else:
                for _ in self.tell(done.what):
                    pass
            if self.at_ns != done.until_ns:
                raise LabError(
                    f"this is another run: it is at {self.at_ns} ns, and not at {done.until_ns} ns"
                )
