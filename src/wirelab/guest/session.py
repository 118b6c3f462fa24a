"""A network whose clock somebody has stopped: what is said at the prompt is done here, and then time stands.

Nothing that was not asked for happens: between two commands this sleeps, whatever the network does.
"""

import os
import select
import socket
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from wirelab.guest import clock, events, experiment, substitutes, surroundings
from wirelab.guest.measure import Probe
from wirelab.guest.network import Network
from wirelab.guest.prompt import Prompt
from wirelab.guest.readback import verify
from wirelab.guest.relay import Relay, Relayed
from wirelab.guest.schedule import Schedule
from wirelab.guest.shortcuts import Shortcuts
from wirelab.guest.terminal import Job
from wirelab.guest.traces import Followers
from wirelab.plan.jsonform import from_values
from wirelab.plan.types import Event, Plan

_NOT_FOUND = "there is no such program in the lab"
_NOT_EXECUTABLE = "it cannot be executed"


def run(plan_folder: Path, results: Path) -> dict[str, Any]:
    """Build the network of a Plan, and do what the host says. Ends with the lab."""
    plan = Plan.from_json((plan_folder / "plan.json").read_text())
    (results / "flows").mkdir()
    shortcuts = Shortcuts.of(plan_folder)
    network = experiment.set_up(plan, results)
    surroundings.furnish()
    ready_ns = experiment.next_ready_ns()
    prompt = Prompt()
    clock.sleep_until(ready_ns)
    _Session(network, prompt, results, shortcuts).serve()
    return {"status": "done"}


@dataclass(frozen=True, slots=True)
class _Traffic:
    """A process that goes through a timetable: what tells its end, and who carries out its events."""

    ended: int
    events: Relayed


class _Session:
    """Commands in the foreground one after the other; in the background as many as there are."""

    def __init__(self, network: Network, prompt: Prompt, results: Path, shortcuts: Shortcuts) -> None:
        self._network = network
        self._prompt = prompt
        self._results = results
        self._shortcuts = shortcuts
        self._jobs: list[Job] = []
        self._foreground: Job | None = None
        self._interrupted = False
        self._traffic: dict[int, _Traffic] = {}
        self._starts = 0

    def serve(self) -> None:
        """Do what the host says, for ever."""
        self._prompt.stand()
        while True:
            self._sleep()
            for said in self._prompt.heard():
                self._obey(said)
            self._look_after()

    def _sleep(self) -> None:
        poll = select.poll()
        poll.register(self._prompt, select.POLLIN)
        for job in self._jobs:
            if not job.is_silent:
                poll.register(job.output, select.POLLIN)
            poll.register(job.ended, select.POLLIN)
        for traffic in self._traffic.values():
            poll.register(traffic.ended, select.POLLIN)
            poll.register(traffic.events, select.POLLIN)
        poll.poll()

    def _obey(self, said: dict[str, Any]) -> None:
        match said["do"]:
            case "run":
                self._run(said)
            case "stop":
                if self._foreground is not None:
                    self._foreground.interrupt(again=self._interrupted)
                    self._interrupted = True
            case "start":
                self._start(said["items"], now=said["now"])
            case "change":
                self._change(said["event"], said["events"])

    def _done(self, **how: Any) -> None:  # noqa: ANN401 - JSON of any kind
        self._prompt.say(done=how)
        self._prompt.stand()

    def _run(self, said: dict[str, Any]) -> None:
        """Start a program in a node."""
        env = surroundings.environment(f"{substitutes.FOLDER}:{os.environ['PATH']}") | {"PS1": ""}
        try:
            with self._network.inside(said["node"]):
                job = Job(said["argv"], env, said["columns"])
        except FileNotFoundError:
            self._done(failed=f"{said['argv'][0]}: {_NOT_FOUND}")
            return
        except PermissionError:
            self._done(failed=f"{said['argv'][0]}: {_NOT_EXECUTABLE}")
            return
        self._jobs.append(job)
        if said["background"]:
            self._done()
        else:
            self._foreground, self._interrupted = job, False

    def _start(self, names: list[str], *, now: bool) -> None:
        """Start traffic: a process of its own goes through the timetable, as a run does.

        ``now``: what is named begins at once, all of it, and not when its turn would come. There is one
        network: what happens to it happens once, in the time of the traffic that was started first.
        """
        plan = self._network.plan
        chosen = tuple(item for item in plan.traffic if item.name in names)
        if now:
            chosen = tuple(replace(item, start_ns=0) for item in chosen)
        happens = plan.events
        if self._traffic and happens:
            self._prompt.say(note="events happen once, in the time of the traffic that runs already")
            happens = ()
        self._starts += 1
        results = self._results / f"start-{self._starts}"
        (results / "flows").mkdir(parents=True)
        here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        child = os.fork()
        if not child:
            here.close()
            self._go_through(replace(plan, traffic=chosen), Relay(there, happens), results)
        there.close()
        self._traffic[child] = _Traffic(os.pidfd_open(child), Relayed(here))
        self._done()

    def _go_through(self, plan: Plan, events: Relay, results: Path) -> None:
        """Run the traffic of a plan, say what came of it, and end the process."""
        code = 1
        try:
            self._network.plan = plan
            self._network.forget_tools()
            ready_ns = clock.now_ns()
            followers = Followers(self._network)
            followers.start(ready_ns, results)
            try:
                schedule = Schedule(
                    self._network, Probe(self._network), events, results, self._shortcuts, lambda _: None
                )
                schedule.run(ready_ns)
            finally:
                followers.stop(results)
            self._prompt.say(note="the traffic is over")
            code = 0
        except Exception as error:  # noqa: BLE001 - whatever it is, it must reach the host as a message
            self._prompt.say(note=f"the traffic has ended: {error}")
        finally:
            os._exit(code)

    def _change(self, event: dict[str, Any], later: list[dict[str, Any]]) -> None:
        """Change settings of the network that is up, and of what its events make of it ``later``.

        What failed is not so: whoever tries again has it set.
        """
        before = self._network.plan
        try:
            found = events.change(self._network, from_values(Event, event))
            becomes = tuple(from_values(Event, values) for values in later)
            self._network.plan = replace(self._network.plan, events=becomes)
            verify(found)
        except Exception as error:  # noqa: BLE001 - whatever it is, it must reach the host as a message
            self._network.plan = before
            self._done(failed=f"{error}" or type(error).__name__)
        else:
            self._done()

    def _happen(self, number: int) -> None:
        """Carry out an event of the traffic, and say which: the host has to know what the network is by now.

        As the network's Plan has it now, which what was set meanwhile is part of. Raises
        SettingsMismatchError for what does not hold after it.
        """
        found = events.change(self._network, self._network.plan.events[number])
        self._prompt.say(event=number)
        verify(found)

    def _look_after(self) -> None:
        """Pass on what programs have printed, and say of the one that is waited for that it has ended."""
        for job in tuple(self._jobs):
            self._prompt.print(job.read())
            if not _is_ready(job.ended):
                continue
            self._jobs.remove(job)
            tail, code = job.finish()
            self._prompt.print(tail)
            if job is self._foreground:
                self._foreground = None
                self._done(code=code)
        for child, traffic in tuple(self._traffic.items()):
            if _is_ready(traffic.events):
                traffic.events.carry_out(self._happen)
            if _is_ready(traffic.ended):
                os.waitpid(child, 0)
                os.close(traffic.ended)
                traffic.events.close()
                del self._traffic[child]


def _is_ready(descriptor: int | Relayed) -> bool:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(0))
