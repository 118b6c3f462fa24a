"""A session at the prompt of a network whose clock stands still between two commands.

It is told lines and yields text, and knows nothing of terminals: a page that talks to it over a socket tells it
the same lines.
"""

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Self

from wirelab.errors import InputError, LabError, unknown
from wirelab.lab.select import Lab
from wirelab.model.cases import Case, fixed, varied
from wirelab.model.experiment import Experiment
from wirelab.plan.build import build_plan
from wirelab.plan.jsonform import to_values
from wirelab.plan.types import Plan
from wirelab.results.record import Event, Frame, Kind, RecordReader
from wirelab.shell import command as words_of
from wirelab.shell.booted import Booted, Ran, Told
from wirelab.shell.change import change
from wirelab.shell.command import read_command
from wirelab.shell.completion import completions
from wirelab.shell.condition import ANYTHING, NEVER, Condition
from wirelab.shell.help import help_text
from wirelab.shell.instant import shown
from wirelab.shell.picture import bars, described
from wirelab.shell.places import PortPlaces, read_places
from wirelab.shell.save import save, scenario_text
from wirelab.shell.sentence import Words
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
        columns: int = COLUMNS,
    ) -> None:
        """``written`` is the scenario's file as a tree, for `save`; ``cpu`` is the one host CPU of the lab.

        ``columns`` is how wide the lines of programs may be.
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
        self._booted: Booted | None = None
        # What it was switched on with, all that was set at the prompt, and of that what was set since.
        self._first = self._case = case
        self._settings: list[tuple[str, str]] = []
        self._since: list[tuple[str, str]] = []
        self._plan = build_plan(experiment, case, seed)

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
        self._booted = Booted(self._lab, self._plan, self._cpu).__enter__()

    @property
    def plan(self) -> Plan:
        """The network as it is set by now."""
        return self._plan

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
        """Do what a line says; what comes of that, as it comes. Time passes while this goes on, and only then.

        Raises InputError for a line that makes no sense: nothing is done then.
        """
        said = read_command(line, self._plan)
        match said:
            case None:
                return
            case words_of.Help(word):
                yield help_text(word, self._plan)
            case words_of.Quit():
                self.is_over = True
            case words_of.Run(length_ns, until, text):
                yield from self._run(length_ns, until, text)
            case words_of.Step(count):
                yield from self._step(count)
            case words_of.Show(of):
                yield from self._show(of)
            case words_of.Where(frame):
                yield from self._where(frame)
            case words_of.Start(items):
                yield from self._start(items)
            case words_of.Back(length_ns):
                yield from self._back(length_ns)
            case words_of.Set(key, value):
                yield from self._set(key, value)
            case words_of.Again(key, value):
                yield from self._again(key, value)
            case words_of.Save(file):
                yield self._save(file)
            case words_of.Watch(length_ns, pace_ns):
                yield from self._watch(length_ns, pace_ns)
            case words_of.Program():
                yield from self._program(said)

    def completions(self, line: str) -> list[str]:
        """The words that may come at the end of a line, in place of the one that is begun."""
        return completions(line, self._plan, self._case)

    def interrupt(self) -> None:
        """End what is being done, from a signal handler or another thread; the lab lives on."""
        if self._booted:
            self._booted.interrupt()

    def _run(self, length_ns: int, until: Condition | None, text: str) -> Iterator[str]:
        reader = RecordReader(self._up.record)
        if until:
            _skip(reader)
        why = yield from self._pass(length_ns, until or NEVER)
        match why:
            case "stopped":
                yield f"interrupted at {self.now}\n"
            case "seen" if until:
                yield from self._seen(reader, until)
            case "time" if until:
                yield f"`{text}` has not come true in {shown(length_ns)}\n"

    def _pass(self, length_ns: int, until: Condition) -> Generator[str, None, str]:
        """Let time pass; returns why it stands."""
        why = ""
        for said in self._up.run(self._up.at_ns + length_ns, until.words):
            if isinstance(said, str):
                why = said
            else:
                yield from self._heard(said)
        return why

    def _seen(self, reader: RecordReader, until: Condition) -> Iterator[str]:
        """What has come true: the last that was recorded of it."""
        last: Event | None = None
        for entry in reader.more({until.kind} if until.kind else frozenset(Kind)):
            if isinstance(entry, Event) and until.port in {"", entry.port}:
                last = entry
        if last:
            yield f"{self._words.line(last)}\n"

    def _step(self, count: int) -> Iterator[str]:
        reader = RecordReader(self._up.record)
        _skip(reader)
        for _ in range(count):
            why = yield from self._pass(_STEP_WITHIN_NS, ANYTHING)
            if why == "stopped":
                yield f"interrupted at {self.now}\n"
                return
            if why == "time":
                yield f"nothing happens to any frame before {self.now}\n"
                return
            words = self._words
            for entry in reader.more():
                if isinstance(entry, Frame):
                    yield f"{words.instant(entry.at_ps)}  {words.headline(entry)}\n"
                else:
                    yield f"{words.line(entry)}\n"

    def _places(self) -> list[PortPlaces]:
        order = [port.name for port in self._plan.ports]
        told = {port.name: port for port in read_places(self._up.show())}
        return [told[name] for name in order if name in told]

    def _show(self, of: tuple[str, ...]) -> Iterator[str]:
        chosen = set()
        for name in of:
            found = {port.name for port in self._plan.ports if name in {port.label, port.node}}
            if not found:
                known = dict.fromkeys(each for port in self._plan.ports for each in (port.node, port.label))
                raise InputError(unknown("node or port", name, known))
            chosen |= found
        ports = [port for port in self._places() if not of or port.name in chosen]
        for line in described(ports, self._words, self._up.at_ns * PS_PER_NS):
            yield f"{line}\n"

    def _where(self, frame: int) -> Iterator[str]:
        words, found = self._words, False
        for entry in RecordReader(self._up.record).more(only={frame}):
            found = True
            yield f"{words.headline(entry) if isinstance(entry, Frame) else words.line(entry)}\n"
        if not found:
            raise InputError(f"there is no frame {frame} so far: `show` has their numbers, and `step`")

    def _start(self, items: tuple[str, ...]) -> Iterator[str]:
        every = [item.name for item in self._plan.timetable]
        yield from self._told({"do": "start", "items": list(items or every), "now": bool(items)})
        for item in self._plan.timetable:
            if items and item.name in items:
                yield f"{item.name} from {item.sender} to {item.receiver} begins\n"
            elif not items:
                begins = self.now_ns + item.start_ns
                yield f"{item.name} from {item.sender} to {item.receiver} begins at {shown(begins)}\n"

    def _program(self, said: words_of.Program) -> Iterator[str]:
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
            yield from self._heard(said)
        if failed:
            raise InputError(failed)

    def _heard(self, said: dict[str, Any]) -> Iterator[str]:
        """What the process in the lab says, as text. Root of the lab can have it say anything."""
        if isinstance(out := said.get("out"), str):
            yield out.encode("latin-1", errors="replace").decode(errors="replace")
        elif isinstance(note := said.get("note"), str):
            yield f"{note}\n"
        elif isinstance(done := said.get("done"), dict) and (code := done.get("code")):
            yield f"exit {code}\n"

    def _back(self, length_ns: int) -> Iterator[str]:
        up = self._up
        target_ns = up.at_ns - length_ns
        if target_ns < up.ready_ns:
            raise InputError(f"the network has been ready for {self.now}, and not for {shown(length_ns)}")
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
        self._case = _with(self._first, settings)
        self._plan = build_plan(self.experiment, self._case, self.seed)

    def _set(self, key: str, value: str) -> Iterator[str]:
        settings = [*self._since, (key, value)]
        plan = build_plan(self.experiment, _with(self._first, settings), self.seed)
        event = change(self._plan, plan, f"{key} {value}", fixed(self._case, key))
        yield from self._told({"do": "change", "event": to_values(event), "set": [key, value]})
        self._now_set(settings)

    def _again(self, key: str | None, value: str) -> Iterator[str]:
        # Whatever is wrong with it is said before anything is lost.
        case = _with(self._case, [(key, value)] if key else [])
        build_plan(self.experiment, case, self.seed)
        self._settings += [*self._since, *([(key, value)] if key else [])]
        self._first = case
        self._anew()
        yield f"{self.now}\n"

    def _save(self, file: str) -> str:
        path = Path(file)
        save(path, scenario_text(self.written, path.stem, self.case, [*self._settings, *self._since]))
        return f"{file}: the network as it is set by now; wirelab run {file}\n"

    def _watch(self, length_ns: int, pace_ns: int) -> Iterator[str | Picture]:
        """Some pictures a second of the watcher's, who waits between them."""
        end_ns = self._up.at_ns + length_ns
        step_ns = max(1, pace_ns // PICTURES_PER_S)
        while True:
            at_ps = self._up.at_ns * PS_PER_NS
            yield Picture(bars(self._places(), self._words, self.now_ns, at_ps, self.columns))
            if self._up.at_ns >= end_ns:
                return
            why = yield from self._pass(min(step_ns, end_ns - self._up.at_ns), NEVER)
            if why == "stopped":
                yield f"interrupted at {self.now}\n"
                return


def _with(case: Case, settings: list[tuple[str, str]]) -> Case:
    """The case with settings on top, the later ones of the same in force. Raises InputError."""
    return varied(case, dict(settings)) if settings else case


def _skip(reader: RecordReader) -> None:
    """What was recorded so far has been said before."""
    for _ in reader.more(frozenset()):
        pass
