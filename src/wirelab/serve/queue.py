"""The queue of runs: one for all, fair between people, as many labs at once as it has CPUs."""

import hashlib
import json
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from wirelab.errors import InputError, LabError, WirelabError
from wirelab.runner.shards import expected_s
from wirelab.serve import pictures
from wirelab.serve.carrier import Carrier, Task
from wirelab.serve.runs import Run, Runs, Spec, State
from wirelab.serve.schedule import Schedule
from wirelab.serve.trimming import Trimming

MOST_WAITING_EACH: Final = 4
MOST_WAITING: Final = 2_000
ROOM_WAIT_S: Final = 10.0
"""How long a CPU rests when there is no room for what came of a run."""

_LOG: Final = logging.getLogger(__name__)

Planner = Callable[[Spec], Task]
"""What a spec is to be run as. Raises InputError for one that makes no sense."""


@dataclass(frozen=True, slots=True)
class Status:
    """How far a run is: ``ahead`` runs come before it, and it begins in about ``wait_s``.

    ``done_s`` of ``whole_s`` virtual seconds are over.
    """

    state: State
    ahead: int = 0
    wait_s: float = 0.0
    done_s: float = 0.0
    whole_s: float = 0.0
    message: str = ""


@dataclass(slots=True)
class RunQueue:
    """Runs jobs on ``cpus``, each in a thread of its own. May be asked from any thread.

    ``planners`` make tasks of specs, by their kind; ``lab_id`` says which lab measures: with
    another one the answers are others. What was asked for is in the database before `ask` returns: it is run
    after a crash, too. Pictures of what was answered come when nobody waits for an answer.
    """

    runs: Runs
    carrier: Carrier
    planners: Mapping[str, Planner]
    cpus: Sequence[int]
    lab_id: str
    trimming: Trimming | None = None
    _schedule: Schedule = field(default_factory=Schedule)
    _later: Schedule = field(default_factory=Schedule)
    _running: dict[str, tuple[float, float]] = field(default_factory=dict)
    _expected_s: dict[str, float] = field(default_factory=dict)
    _order: list[str] | None = None
    _each_s: float | None = None
    _news: threading.Condition = field(default_factory=threading.Condition)
    _is_stopped: bool = False
    _threads: list[threading.Thread] = field(default_factory=list)

    def start(self) -> None:
        """Take up what was left, and whatever is asked for from now on."""
        if self.trimming is not None:
            self.trimming.begin()
        for run, people in self.runs.unfinished():
            for person in people:
                self._of(run.spec).add(run.id, person)
            self._expected_s[run.id] = run.expected_s
        for cpu in self.cpus:
            thread = threading.Thread(target=self._work, args=(cpu,), name=f"lab-{cpu}", daemon=True)
            self._threads.append(thread)
            thread.start()

    def stop(self) -> None:
        """Switch the labs off. What was under way is run again by the next server on this database."""
        with self._news:
            self._is_stopped = True
            self._news.notify_all()
        self.carrier.runner.testbed.stop()
        for thread in self._threads:
            thread.join()

    def ask(self, spec: Spec, person: str, *, is_needed: bool = False) -> Run:
        """Somebody wants to know what comes of ``spec``: the run that tells, which may be done already.

        Raises InputError for a spec that makes no sense, and, but for what ``is_needed``, where somebody
        waits for enough already.
        """
        task = self.planners[spec["kind"]](spec)
        run_id = self.id_of(spec)
        virtual_s = sum(expected_s(trial.plan) for trial in task.job.trials)
        with self._news:
            known = self.runs.get(run_id)
            if (known is None or known.state is State.BROKEN or known.is_trimmed) and not is_needed:
                if self._schedule.waiting_of(person) >= MOST_WAITING_EACH:
                    raise InputError("run.enough")
                if len(self._schedule) >= MOST_WAITING:
                    raise InputError("run.full")
            run = self.runs.ask(run_id, spec, virtual_s, person)
            # One that was taken a moment ago may still say that it waits.
            if run.state is State.WAITING and run_id not in self._running:
                self._of(spec).add(run.id, person)
                self._expected_s[run.id] = virtual_s
                self._order = None
                self._news.notify()
        return run

    def id_of(self, spec: Spec) -> str:
        """The id of the run that tells what comes of ``spec``, be there one or not."""
        text = json.dumps(spec, sort_keys=True)
        return hashlib.sha256(f"{self.lab_id}\0{text}".encode()).hexdigest()[:24]

    def _of(self, spec: Spec) -> Schedule:
        return self._later if spec["kind"] == pictures.KIND else self._schedule

    def status(self, run_id: str) -> Status | None:
        """How far a run is, None if there is none."""
        with self._news:
            if run_id in self._running:
                done_s, whole_s = self._running[run_id]
                return Status(State.RUNNING, done_s=min(done_s, whole_s), whole_s=whole_s)
            if self._order is None:
                self._order = [*self._schedule.order(), *self._later.order()]
            if run_id in self._order:
                ahead = self._order.index(run_id)
                return Status(
                    State.WAITING, ahead, self._wait_s(self._order[:ahead]), whole_s=self._expected_s[run_id]
                )
        run = self.runs.get(run_id)
        return None if run is None else Status(run.state, whole_s=run.expected_s, message=run.message or "")

    def is_repeatable(self, run: Run) -> bool:
        """Whether the same comes of a run again from what was measured: its Plans, the lab, the exercise."""
        try:
            task = self.planners[run.spec["kind"]](run.spec)
        except WirelabError:
            return False
        measurements = self.carrier.runner.measurements
        if measurements is None or run.id != self.id_of(run.spec):
            return False
        return all(measurements.has(trial.plan) for trial in task.job.trials)

    def again(self, run: Run, person: str) -> None:
        """Somebody looks at a run whose files were trimmed: it is carried out again, if it can be.

        It cannot where the exercise is another one now: then there is nothing to be seen of it.
        """
        if run.is_trimmed:
            with suppress(InputError):
                self.ask(run.spec, person, is_needed=True)

    def counts(self) -> tuple[int, int]:
        """How many runs wait, and how many are under way."""
        with self._news:
            return len(self._schedule) + len(self._later), len(self._running)

    def _wait_s(self, ahead: Sequence[str]) -> float:
        if self._each_s is None:
            self._each_s = self.runs.wall_s_each()
        left_s = sum(whole_s - min(done_s, whole_s) for done_s, whole_s in self._running.values())
        virtual_s = left_s + sum(self._expected_s[run] for run in ahead)
        return virtual_s * self._each_s / len(self.cpus)

    def _work(self, cpu: int) -> None:
        while (run_id := self._next()) is not None:
            is_noted = self._carry_out_and_note(run_id, cpu)
            with self._news:
                self._running.pop(run_id, None)
                if not is_noted:
                    self._put_back(run_id)
                    self._news.wait(ROOM_WAIT_S)

    def _carry_out_and_note(self, run_id: str, cpu: int) -> bool:
        """False: not even that the run broke could be noted, for there is no room on the disk."""
        try:
            self._carry_out(run_id, cpu)
        except Exception:  # noqa: BLE001 - whatever it was, the others wait
            _LOG.exception("run %s", run_id)
            try:
                self.runs.broke(run_id, "the server could not carry it out; its log says why")
            except LabError:
                return False
        return True

    def _put_back(self, run_id: str) -> None:
        run = self.runs.get(run_id)
        if run is not None:
            for person in self.runs.people(run_id):
                self._of(run.spec).add(run_id, person)
            self._expected_s[run_id] = run.expected_s
            self._order = None

    def _next(self) -> str | None:
        """The run that is due, None when the queue has been stopped."""
        with self._news:
            while not self._is_stopped:
                if (run_id := self._schedule.take() or self._later.take()) is not None:
                    self._running[run_id] = 0.0, self._expected_s.pop(run_id)
                    self._order = None
                    return run_id
                self._news.wait()
        return None

    def _carry_out(self, run_id: str, cpu: int) -> None:
        run = self.runs.get(run_id)
        if run is None:
            return
        self.runs.begin(run_id)

        def on_progress(done_s: float) -> None:
            self._running[run_id] = done_s, run.expected_s

        try:
            task = self.planners[run.spec["kind"]](run.spec)
            carried = self.carrier.carry_out(task, cpu, on_progress)
        except WirelabError as error:
            self._broke(run_id, error.message)
            return
        if carried.folder is None:
            self._broke(run_id, carried.message)
        else:
            with self._news, self.runs.database.transaction():
                self.runs.end(run_id, carried.folder.name, carried.wall_s, is_cached=carried.run.cached)
                if carried.has_more:
                    for person in self.runs.people(run_id):
                        self.ask(pictures.pictures_spec(run.spec), person, is_needed=True)
                self._each_s = None
            if self.trimming is not None:
                self.trimming.trim()

    def _broke(self, run_id: str, message: str) -> None:
        # A lab that was switched off did not break: it waits for the next server.
        if not self._is_stopped:
            _LOG.warning("run %s broke: %s", run_id, message)
            self.runs.broke(run_id, message)
