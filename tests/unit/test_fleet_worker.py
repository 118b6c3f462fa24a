"""A worker as its controller sees it, with the other end of the connection in this process."""

from __future__ import annotations

import gzip
import io
import json
import threading
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from wirelab.fleet import agent, bundle
from wirelab.fleet.agent import no_room, own_folder
from wirelab.fleet.identity import Identity, code_id
from wirelab.fleet.queue import JobQueue, QueuedJob
from wirelab.fleet.reasons import explained
from wirelab.fleet.worker import Agent, BrokeError, LostError, Worker
from wirelab.lab import ustar
from wirelab.lab.memory import memory_folder
from wirelab.runner.store import Store

if TYPE_CHECKING:
    from collections.abc import Sequence

WANTED = Identity("1.0", "code", "kernel-1 rootfs-1")


@dataclass
class Machine:
    """A machine that answers at once: what it does with a scenario is said beforehand."""

    cpus: list[int] = field(default_factory=lambda: [0, 1])
    says: dict[str, str] = field(default_factory=dict)
    hello: dict[str, object] = field(default_factory=dict)
    asked: list[tuple[str, ...]] = field(default_factory=list)

    def ask(self, argv: Sequence[str]) -> bytes:
        """Answer a request."""
        request = tuple(argv[argv.index("wirelab.fleet.agent") + 1 :])
        if request[0] == "hello":
            return json.dumps({**asdict(WANTED), "cpus": self.cpus, **self.hello}).encode() + b"\n"
        self.asked.append(request)
        scenario = request[1]
        how = self.says.get(scenario, "pass")
        if how == "cut":
            raise LostError("its cable is cut")
        if how == "full":
            return b'{"full": "the disk of /there is full"}\n'
        if how == "broken":
            return b'{"error": "the lab broke", "hint": null}\n'
        if how == "noise":
            return b"Welcome to this machine!\n"
        content = result(scenario, how)
        facts = {"verdict": how, "size_bytes": len(content), "sha256": bundle.checksum(content)}
        return json.dumps(facts).encode() + b"\n" + (content[:-9] if how == "fail" else content)


def result(scenario: str, verdict: str) -> bytes:
    """A bundle."""
    document = {"scenario": scenario, "verdict": verdict, "seed": 1, "kernel": "7.2", "wall_s": 1.0}
    document |= {"virtual_s": 1.0, "digest": "01" * 32, "variants": []}
    text = json.dumps(document).encode()
    buffer = io.BytesIO()
    with gzip.GzipFile(fileobj=buffer, mode="wb") as tar:
        ustar.write(tar, "result.json", io.BytesIO(text))
        ustar.write_end(tar)
    return buffer.getvalue()


def worker(
    name: str, machine: Machine, queue: JobQueue, results: Path, told: list[str] | None = None
) -> Worker:
    """The controller's end."""
    lines = told if told is not None else []
    agent = Agent(machine.ask, ("python",), "/there")
    return Worker(name, queue, Store(results), agent, WANTED, lines.append)


def kept(results: Path) -> list[str]:
    """The scenarios of which there is a result."""
    names = (json.loads(path.read_text(encoding="utf-8")) for path in results.glob("2*/result.json"))
    return sorted(document["scenario"] for document in names)


def test_each_scenario_gets_as_many_cpus_as_it_has_labs(tmp_path: Path) -> None:
    """And no more than are free: two scenarios on one machine never share a CPU."""
    queue = JobQueue.make(tmp_path / "queue", [QueuedJob("a", 1, labs=3), QueuedJob("b", 1, labs=1)])
    machine = Machine(cpus=[0, 2, 3, 5])
    assert worker("pc", machine, queue, tmp_path / "results").work() == 2
    cpus = {
        request[1]: [request[i + 1] for i, word in enumerate(request) if word == "--cpu"]
        for request in machine.asked
    }
    assert cpus == {"a": ["0", "2", "3"], "b": ["5"]}
    assert kept(tmp_path / "results") == ["a", "b"]


@pytest.mark.parametrize("how", ["cut", "full"])
def test_a_lost_worker_leaves_its_scenario_to_the_others(tmp_path: Path, how: str) -> None:
    """What it had, and what it never began."""
    queue = JobQueue.make(tmp_path / "queue", [QueuedJob("a", 1), QueuedJob("b", 1)])
    results = tmp_path / "results"
    with pytest.raises(LostError, match=r"cable|full"):
        worker("lost", Machine(cpus=[0], says={"a": how}), queue, results).work()
    assert kept(results) == []
    assert worker("good", Machine(), queue, results).work() == 2
    assert kept(results) == ["a", "b"]


def test_a_full_disk_does_not_hide_why_a_worker_was_lost(tmp_path: Path) -> None:
    """The queue cannot note that its job is free, which it is as soon as the worker is gone."""
    queue = JobQueue.make(tmp_path / "queue", [QueuedJob("a", 1)])
    fresh = queue.folder / ".matrix.json"

    def fill_and_cut(argv: Sequence[str]) -> bytes:
        if "run" in argv:
            fresh.symlink_to("/dev/full")
            raise LostError("its cable is cut")
        return Machine().ask(argv)

    lost = worker("lost", Machine(), queue, tmp_path / "results")
    lost.agent = Agent(fill_and_cut, ("python",), "/there")
    with pytest.raises(LostError, match="cable"):
        lost.work()
    fresh.unlink()
    assert queue.claim("good")


def test_a_scenario_in_flight_is_waited_for(tmp_path: Path) -> None:
    """A worker with nothing left to do stays, for another may be lost."""
    queue = JobQueue.make(tmp_path / "queue", [QueuedJob("a", 1)])
    results = tmp_path / "results"
    with queue.present("other"):
        claim = queue.claim("other")
        assert claim is not None
        idle = threading.Thread(target=worker("good", Machine(), queue, results).work)
        idle.start()
        idle.join(0.5)
        assert idle.is_alive()
        queue.give_back(claim)
        idle.join()
    assert kept(results) == ["a"]


def test_another_checksum_is_damage() -> None:
    """Even where all bytes came."""
    head = bundle.Answer(size_bytes=1, sha256=bundle.checksum(b"?")).line()
    agent = Agent(lambda _: head + b"!", ("python",), "/there")
    with pytest.raises(BrokeError, match="damaged: 1 of 1 bytes"):
        agent.run(QueuedJob("a", 1), [0], use_cache=True)


@pytest.mark.parametrize("how", ["broken", "noise", "fail", "error"])
def test_what_breaks_is_tried_on_another(tmp_path: Path, how: str) -> None:
    """A lab that broke, an answer that is none, half a bundle: none of them is a verdict on the network."""
    queue = JobQueue.make(tmp_path / "queue", [QueuedJob("a", 1), QueuedJob("b", 1)])
    results = tmp_path / "results"
    told: list[str] = []
    bad = worker("bad", Machine(cpus=[0], says={"a": how}), queue, results, told)
    good = worker("good", Machine(), queue, results, told)
    with queue.present("good"):
        thread = threading.Thread(target=bad.work)
        thread.start()
        while not told:
            thread.join(0.05)
        good.work()
        thread.join()
    assert kept(results) == ["a", "b"]
    assert any(line.startswith("bad: a: ") and "once more" in line for line in told)


def test_an_error_is_kept_the_second_time(tmp_path: Path) -> None:
    """The scenario's own then, and no reason to try for ever; without a result it is dropped."""
    queue = JobQueue.make(tmp_path / "queue", [QueuedJob("a", 1), QueuedJob("b", 1)])
    machine = Machine(cpus=[0], says={"a": "error", "b": "broken"})
    # The fourth break: by then it has been given up, and so has nothing left to take.
    with pytest.raises(LostError, match="3 runs in a row"):
        worker("only", machine, queue, tmp_path / "results").work()
    assert kept(tmp_path / "results") == ["a"]
    assert worker("next", machine, queue, tmp_path / "results").work() == 0
    assert queue.dropped() == {"b": "next: the lab broke"}


@pytest.mark.parametrize(
    ("hello", "message"),
    [
        ({"code": "other", "version": "0.9"}, "it has wirelab 0.9 .*: run provision.yml again"),
        ({"lab": "kernel-2 rootfs-1"}, "it has the lab kernel-2 rootfs-1, .*: run provision.yml again"),
        ({"lab": ""}, "it has no lab: run provision.yml again"),
    ],
)
def test_another_wirelab_gets_nothing_to_do(tmp_path: Path, hello: dict[str, object], message: str) -> None:
    """It would give other digests."""
    queue = JobQueue.make(tmp_path / "queue", [QueuedJob("a", 1)])
    machine = Machine(hello=hello)
    with pytest.raises(LostError, match=message):
        worker("old", machine, queue, tmp_path / "results").work()
    assert machine.asked == []


def test_a_run_removes_what_a_killed_one_left(tmp_path: Path) -> None:
    """Folders that nobody holds any more; its own is gone when it ends."""
    (tmp_path / "left/deep").mkdir(parents=True)
    with own_folder(tmp_path) as first, own_folder(tmp_path) as second:
        assert {path.name for path in tmp_path.iterdir()} == {first.name, second.name}
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_named() -> None:
    """One that has no room by its nature."""
    assert no_room(Path("/proc/there")).startswith("the disk of /proc/there is full: 0 MiB")


def test_a_worker_without_a_folder_in_memory_has_room_before_its_first_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lab's memory is on the disk of the results then, whose folder nobody has made yet."""
    monkeypatch.setattr(agent, "memory_folder", partial(memory_folder, preferred=[]))
    assert no_room(tmp_path / "worker" / "runs") == ""
    assert list(tmp_path.iterdir()) == []


def test_the_code_has_one_name_wherever_it_is() -> None:
    """Two machines with the same files say the same."""
    assert code_id() == code_id()
    assert len(code_id()) == 16


@pytest.mark.parametrize(
    ("told", "line"),
    [
        (
            "ssh: connect to host pc port 22: Connection refused",
            "Connection refused: is its ssh server running? `sudo apt-get install openssh-server` there",
        ),
        (
            "Warning: Permanently added pc\nme@pc: Permission denied (publickey).",
            "Permission denied (publickey): `ssh-copy-id pc`, or correct ansible_user in the inventory",
        ),
        (
            "Timeout, server pc not responding.\r\n",
            "Timeout, server pc not responding: is its cable in, is it on?",
        ),
        ("", "it does not answer any more: is its cable in, is it on?"),
        ("ssh: odd", "ssh: odd: `ssh pc` may say more"),
    ],
)
def test_what_ssh_says_comes_with_the_fix(told: str, line: str) -> None:
    """In one line."""
    explanation = explained(f"Failed to connect to the host via ssh: {told}", "pc")
    assert explanation.endswith(line)
    assert "\n" not in explanation
