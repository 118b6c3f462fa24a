"""A session at the prompt of a network whose clock stands still between two commands.

It is told lines and yields text, and knows nothing of terminals: a page that talks to it over a socket tells
it the same lines.
"""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from wirelab.errors import InputError, LabError
from wirelab.lab.select import Lab
from wirelab.model.assignment import case_with
from wirelab.model.cases import Case, fixed
from wirelab.model.experiment import Experiment
from wirelab.plan.build import build_plan
from wirelab.plan.jsonform import to_values
from wirelab.plan.types import Plan
from wirelab.results.record import Event, Kind, RecordReader
from wirelab.results.told import told_at_ports
from wirelab.shell.around import ALONE, Around
from wirelab.shell.booted import Booted, Told
from wirelab.shell.change import by_now, change, from_the_start
from wirelab.shell.command import (
    Again,
    Back,
    Help,
    Program,
    Quit,
    Run,
    Save,
    Set,
    Show,
    Start,
    Step,
    Watch,
    Where,
    read_command,
)
from wirelab.shell.completion import completions
from wirelab.shell.condition import ANYTHING, NEVER, Condition, ports_named
from wirelab.shell.help import help_text
from wirelab.shell.instant import shown
from wirelab.shell.picture import bars, described
from wirelab.shell.places import PortPlaces, read_places
from wirelab.shell.save import scenario_text
from wirelab.shell.sentence import Words, heard
from wirelab.units import PS_PER_NS

_STEP_WITHIN_NS: Final = 60_000_000_000
COLUMNS: Final = 120
PICTURES_PER_S: Final = 10


@dataclass(frozen=True, slots=True)
class Picture:
    """What `watch` draws, again and again: one takes the place of the one before."""

    lines: list[str]


class Session:
    """The network of a case at a prompt: a context manager, from switching the lab on to switching it off."""

    def __init__(  # noqa: PLR0913 - all by name but what it is made of
        self,
        lab: Lab,
        experiment: Experiment,
        case: Case,
        *,
        seed: int,
        cpu: int,
        written: Mapping[str, Any],
        settings: Sequence[tuple[str, str]] = (),
        columns: int = COLUMNS,
        around: Around = ALONE,
    ) -> None:
        """``written`` is the scenario's file as a tree, for `save`; ``cpu`` is the one host CPU of the lab.

        ``settings`` are on top of the case as it is written. ``columns`` is how wide the lines of programs
        may be. Raises InputError for settings that cannot be.
        """
        self.written = written
        self.experiment = experiment
        self.case = case
        self.seed = seed
        self.columns = columns
        self.is_over = False
        """Whether somebody has said that this is the end."""
        self._lab = lab
        self._cpu = cpu
        self._around = around
        self._booted: Booted | None = None
        # What it was switched on with, all that was set on top of the case, and what was set since.
        self._settings = list(settings)
        self._first = self._case = case_with(case, dict(self._settings))
        self._since: list[tuple[str, str]] = []
        self._plan = build_plan(experiment, self._case, seed)

    def __enter__(self) -> Self:
        """Switch the lab on. Raises LabError."""
        self._boot()
        return self

    def __exit__(self, *exception: object) -> None:
        """Switch it off, whatever it is at."""
        booted, self._booted = self._booted, None
        if booted:
            booted.__exit__(*exception)

    def _boot(self) -> None:
        self._booted = Booted(self._lab, self._plan, self._cpu, self._around).__enter__()

    @property
    def plan(self) -> Plan:
        """The network as it is set by now, after the events that have happened."""
        return by_now(self._plan, self._booted.happened if self._booted else ())

    @property
    def now_ns(self) -> int:
        """The instant at which it stands, from when the network was ready on."""
        return self._up.at_ns - self._up.ready_ns

    @property
    def now(self) -> str:
        """The same as text."""
        return shown(self.now_ns)

    @property
    def _up(self) -> Booted:
        if self._booted is None:
            raise LabError("the lab is switched off")
        return self._booted

    @property
    def _words(self) -> Words:
        return Words(self._plan, self._up.ready_ns)

    def tell(self, line: str) -> Iterator[str | Picture]:
        """Do what a line says; what comes of that, as it comes. Time passes meanwhile, and only then.

        Whoever begins to read has to read to the end; `interrupt` makes it come soon. Raises InputError for a
        line that makes no sense: nothing is done then.
        """
        said = read_command(line, self._plan)
        if said:
            self._around.permit(said)
        does: Mapping[type, Callable[[Any], Iterator[str | Picture]]] = {
            Help: self._help,
            Quit: self._quit,
            Run: self._run,
            Step: self._step,
            Show: self._show,
            Where: self._where,
            Start: self._start,
            Back: self._back,
            Set: self._set,
            Again: self._again,
            Save: self._save,
            Watch: self._watch,
            Program: self._program,
        }
        return does[type(said)](said) if said else iter(())

    def completions(self, line: str) -> list[str]:
        """The words that may come at the end of a line, in place of the one that is begun."""
        return completions(line, self._plan, self._case, is_fixed=self._around.is_fixed)

    def interrupt(self) -> None:
        """End what is being done, from a signal handler or another thread; the lab lives on."""
        if self._booted:
            self._booted.interrupt()

    def _help(self, said: Help) -> Iterator[str]:
        yield help_text(said.word, self._plan, self.columns, is_fixed=self._around.is_fixed)

    def _quit(self, _: Quit) -> Iterator[str]:
        self.is_over = True
        yield ""

    def _run(self, said: Run) -> Iterator[str]:
        reader = RecordReader(self._up.record)
        until = said.until
        if until:
            reader.skip()
        why = yield from self._pass(said.length_ns, until or NEVER)
        match why:
            case "stopped":
                yield f"interrupted at {self.now}\n"
            case "seen" if until:
                yield from self._seen(reader, until)
            case "time" if until:
                yield f"`{said.text}` has not come true in {shown(said.length_ns)}\n"

    def _pass(self, length_ns: int, until: Condition) -> Generator[str, None, str]:
        """Let time pass; returns why it stands."""
        why = ""
        for said in self._up.run(self._up.at_ns + length_ns, until.words):
            if isinstance(said, str):
                why = said
            else:
                yield from heard(said, self._plan.events)
        return why

    def _seen(self, reader: RecordReader, until: Condition) -> Iterator[str]:
        """What has come true."""
        for entry in reader.more({until.kind} if until.kind else frozenset(Kind)):
            if isinstance(entry, Event) and until.holds(entry):
                yield f"{self._words.line(entry)}\n"
                return

    def _step(self, said: Step) -> Iterator[str]:
        reader = RecordReader(self._up.record)
        reader.skip()
        for _ in range(said.count):
            why = yield from self._pass(_STEP_WITHIN_NS, ANYTHING)
            if why == "stopped":
                yield f"interrupted at {self.now}\n"
                return
            if why == "time":
                yield f"nothing happens to any frame before {self.now}\n"
                return
            yield from self._words.lines(reader.more())

    def _places(self) -> list[PortPlaces]:
        order = [port.name for port in self._plan.ports]
        told = {port.name: port for port in read_places(self._up.show())}
        return [told[name] for name in order if name in told]

    def _show(self, said: Show) -> Iterator[str]:
        chosen = ports_named(self._plan, said.of)
        ports = [port for port in self._places() if port.name in chosen]
        for line in described(ports, self._words, self._up.at_ns * PS_PER_NS):
            yield f"{line}\n"

    def _where(self, said: Where) -> Iterator[str]:
        record = RecordReader(self._up.record).more(only={said.frame})
        lines = list(self._words.lines(told_at_ports(record, self._plan.cables), of_one=True))
        yield from lines
        if not lines:
            raise InputError(f"there is no frame {said.frame} so far: `show` has their numbers, and `step`")

    def _start(self, said: Start) -> Iterator[str]:
        items = said.items
        every = [item.name for item in self._plan.timetable]
        yield from self._told({"do": "start", "items": list(items or every), "now": bool(items)})
        for item in self._plan.timetable:
            if items and item.name in items:
                yield f"{item.name} from {item.sender} to {item.receiver} begins\n"
            elif not items:
                begins = self.now_ns + item.start_ns
                yield f"{item.name} from {item.sender} to {item.receiver} begins at {shown(begins)}\n"

    def _program(self, said: Program) -> Iterator[str]:
        yield from self._told(
            {
                "do": "run",
                "node": said.node,
                "argv": list(said.argv),
                "background": said.in_background,
                "columns": self.columns,
            }
        )

    def _told(self, what: dict[str, Any]) -> Iterator[str]:
        """Have something done. Raises InputError with what the lab says if it cannot be."""
        failed = ""
        for said in self._up.tell(what):
            done = said.get("done")
            if isinstance(done, dict) and done.get("failed"):
                failed = str(done["failed"])
            yield from heard(said, self._plan.events)
        if failed:
            raise InputError(failed)

    def _back(self, said: Back) -> Iterator[str]:
        up = self._up
        target_ns = up.at_ns - said.length_ns
        if target_ns < up.ready_ns:
            raise InputError(
                f"the network has been ready for {self.now}, and not for {shown(said.length_ns)}"
            )
        journal, is_within = up.until(target_ns)
        if is_within:
            yield "that is in the middle of a command: to where it began\n"
        self._anew()
        self._up.repeat(journal)
        told = [done.what for done in journal if isinstance(done, Told)]
        self._now_set([(what["set"][0], what["set"][1]) for what in told if "set" in what])
        yield f"{self.now}\n"

    def _anew(self) -> None:
        """Switch the lab off, and on again as it was switched on."""
        self.__exit__()
        self._now_set([])
        self._boot()

    def _now_set(self, settings: list[tuple[str, str]]) -> None:
        """The network is one in which these were set since it was switched on."""
        self._since = settings
        self._case = case_with(self._first, dict(settings))
        self._plan = build_plan(self.experiment, self._case, self.seed)

    def _set(self, said: Set) -> Iterator[str]:
        key, value = said.key, said.value
        what, settings = f"{key} {value}", [*self._since, (key, value)]
        if why := fixed(self._case, key):
            raise from_the_start(what, why)
        becomes = build_plan(self.experiment, case_with(self._first, dict(settings)), self.seed)
        event = to_values(change(self._plan, becomes, what, self._up.happened))
        asked = {"do": "change", "event": event, "events": to_values(becomes.events)}
        yield from self._told({**asked, "set": [key, value]})
        self._now_set(settings)

    def _again(self, said: Again) -> Iterator[str]:
        settings = [(said.key, said.value)] if said.key else []
        # Whatever is wrong with it is said before anything is lost.
        case = case_with(self._case, dict(settings))
        build_plan(self.experiment, case, self.seed)
        self._settings += [*self._since, *settings]
        self._first = case
        self._anew()
        yield f"{self.now}\n"

    def _save(self, said: Save) -> Iterator[str]:
        path = Path(said.file)
        self._around.keep(
            path, scenario_text(self.written, path.stem, self.case, [*self._settings, *self._since])
        )
        yield f"{path}: the network as it is set by now; wirelab run {path}\n"

    def _watch(self, said: Watch) -> Iterator[str | Picture]:
        """Some pictures a second of the watcher's, who waits between them."""
        end_ns = self._up.at_ns + said.length_ns
        step_ns = max(1, said.pace_ns // PICTURES_PER_S)
        while True:
            at_ps = self._up.at_ns * PS_PER_NS
            yield Picture(bars(self._places(), self._words, self.now_ns, at_ps, self.columns))
            if self._up.at_ns >= end_ns:
                return
            why = yield from self._pass(min(step_ns, end_ns - self._up.at_ns), NEVER)
            if why == "stopped":
                yield f"interrupted at {self.now}\n"
                return
