"""``wirelab shell``: time stands still at its prompt, all is repeatable, and nothing is left behind."""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.lab.processes import children, processes_in
from tests.lab.sessions import SCENARIO, switched_on, told
from wirelab.errors import InputError
from wirelab.model.experiment import load
from wirelab.shell.session import Picture, Session

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from wirelab.lab.select import Lab

MOST_S = 120
SCRIPT = """\
# the first frame that the module drops
server ping -c 1 client
start download
run until module.line drops
show module
step 2
server ss -tin
run 150 us
back 100 us
show
"""


@pytest.fixture
def session(lab: Lab) -> Iterator[Session]:
    """A session that stands at 0."""
    with switched_on(lab) as one:
        yield one


def at_ns(session: Session) -> int:
    """Where it stands."""
    return session.now_ns


def test_time_passes_only_while_something_is_done(session: Session) -> None:
    """None while one looks or thinks; as much as was said, to the nanosecond; for a command what it takes."""
    assert at_ns(session) == 0
    assert (
        told(session, "show")
        == "nothing waits at server, switch.p1, switch.p2, module.host, module.line, client\n"
    )
    with pytest.raises(InputError, match="did you mean `client`"):
        told(session, "clinet ping server")
    told(session, "", "# a remark", "help", "start")
    time.sleep(0.2)
    begun_ns = at_ns(session)
    assert begun_ns < 100_000
    told(session, "run 10 ms")
    assert at_ns(session) == begun_ns + 10_000_000
    assert "2 received, 0% packet loss" in told(session, "server ping -c 2 -i 0.5 client")
    assert 500_000_000 < at_ns(session) - begun_ns - 10_000_000 < 600_000_000
    assert told(session, "server false") == "exit 1\n"
    with pytest.raises(InputError, match="no such program"):
        told(session, "server nosuch")


@pytest.mark.parametrize(
    "queue",
    [
        ("root pfifo_fast",),
        ("root fq_codel",),
        ("root fq",),
        ("root netem delay 1ms",),
        ("root cake bandwidth 1gbit",),
        ("root handle 1: tbf rate 1gbit burst 10k limit 10k", "parent 1:1 bfifo limit 1000000"),
        ("root handle 1: prio", "parent 1:1 fq_codel", "parent 1:2 fq", "parent 1:3 fq"),
    ],
    ids=lambda queue: queue[-1].split()[-1] if len(queue) > 1 else queue[0].split()[1],
)
def test_each_frame_of_a_queue_is_shown(session: Session, queue: tuple[str, ...]) -> None:
    """Whatever the queue keeps them in, and those of its classes, too."""
    told(session, *(f"module tc qdisc replace dev module-line {words}" for words in queue))
    told(session, "start download", "run until module.line.queue > 8 KiB")
    shown = told(session, "show module.line")
    waiting = re.search(r"egress queue: .* in (\d+) frames?\n((?: {4}.*\n)+)", shown)
    assert waiting is not None, shown
    count, frames = int(waiting[1]), waiting[2].splitlines()
    more = re.search(r"and (\d+) more$", frames[-1])
    assert count == (len(frames) - 1 + int(more[1]) if more else len(frames)), shown


@pytest.mark.parametrize(
    ("queue", "room"),
    [
        (("root handle 1: tbf rate 1gbit burst 10k limit 10k", "parent 1:1 bfifo limit 1000000"), "1 MB"),
        (("root handle 1: htb default 1", "parent 1:1 bfifo limit 500000"), "500 kB"),
        (("root handle 1: prio", "parent 1:1 bfifo limit 100000", "parent 1:2 bfifo limit 100000"), None),
        (("root handle 1: netem delay 1ms", "parent 1:1 bfifo limit 100000"), None),
    ],
    ids=["tbf", "htb", "prio", "netem"],
)
def test_the_room_of_a_shaper_is_its_queues(
    session: Session, queue: tuple[str, ...], room: str | None
) -> None:
    """It keeps its frames in the one queue below; of several, or where some wait elsewhere, none is told."""
    made, *below = (f"module tc qdisc replace dev module-line {words}" for words in queue)
    if "htb" in made:
        below.insert(0, "module tc class add dev module-line parent 1: classid 1:1 htb rate 1gbit")
    told(session, made, *below)
    told(session, "start download", "run until module.line.queue > 8 KiB")
    shown = re.search(r"egress queue: .*", told(session, "show module.line"))
    assert shown is not None
    has_room = room is not None
    assert ("of " in shown[0], f"of {room} " in shown[0]) == (has_room, has_room), shown[0]


def test_what_was_shown_is_shown_again_after_going_back(session: Session) -> None:
    """A run goes on until something comes true; stepping and going back come to the same network.

    What has been set since is not in force any more.
    """
    told(session, "start download")
    seen = told(session, "run until module.line drops")
    assert re.search(r"module\.line: frame \d+ is dropped: FIFO 16 KiB full, [\d ]+ B waiting", seen)
    at_drop_ns, shown = at_ns(session), told(session, "show")
    frames = [int(number) for number in re.findall(r"^ +(\d+)  tcp of download", shown, re.MULTILINE)]
    assert len(frames) > 10
    way = told(session, f"where {frames[-1]}")
    assert "server: frame" in way
    stepped = told(session, "step 3")
    after_ns, after = at_ns(session), told(session, "show")
    assert after != shown
    assert told(session, "set module.fifo 32 KiB") == ""
    assert "32 KiB" not in shown
    told(session, "run until module.line.queue > 20 KiB", "run 1 ms")
    assert "of 32 KiB" in told(session, "show module.line")
    told(session, f"back {at_ns(session) - at_drop_ns} ns")
    assert (at_ns(session), told(session, "show")) == (at_drop_ns, shown)
    assert told(session, f"where {frames[-1]}") == way
    assert told(session, "step 3") == stepped
    assert (at_ns(session), told(session, "show")) == (after_ns, after)
    with pytest.raises(InputError, match="the network has been ready for"):
        told(session, "back 10 s")


def test_settings_change_while_the_network_is_up_or_say_that_they_cannot(
    session: Session, tmp_path: Path
) -> None:
    """Those that can hold from then on; with `again` the network begins anew with them; `save` writes all."""
    told(session, "set module.fifo 32 KiB", "run 1 ms")
    with pytest.raises(
        InputError, match=r"server\.rx_ring 64 frames cannot change while the network is up: a card"
    ):
        told(session, "set server.rx_ring 64 frames")
    with pytest.raises(InputError, match="it is so already"):
        told(session, "set module.fifo 32 KiB")
    told(session, "again module.fifo 64 KiB")
    assert at_ns(session) == 0
    told(session, "start download", "run until module.line drops")
    assert "of 64 KiB" in told(session, "show module.line")
    file = tmp_path / "mine.yaml"
    told(session, f"save {file}")
    assert load(str(file), tmp_path).scenario.settings["module.fifo"] == "64 KiB"
    with pytest.raises(InputError, match="is there already"):
        told(session, f"save {file}")
    pictures = [part for part in session.tell("watch 300 us at 1 ms") if isinstance(part, Picture)]
    assert len(pictures) == 4
    assert all(len(picture.lines) == 7 for picture in pictures)


def test_what_runs_is_interrupted_and_the_network_stays(session: Session) -> None:
    """A run and a command end soon when somebody says so, and the session goes on."""

    def interrupted(line: str) -> str:
        parts = []
        for part in session.tell(line):
            assert isinstance(part, str)
            parts.append(part)
            if len(parts) == 1:
                session.interrupt()
        return "".join(parts)

    told(session, "server sh -c 'while sleep 1; do echo tick; done' &")
    assert "interrupted at" in interrupted("run 1000 s")
    assert "packets transmitted" in interrupted("server ping -i 1 client")
    # Nobody waits for anything now: it has no effect.
    session.interrupt()
    told(session, "run 1 ms")
    with pytest.raises(InputError, match="cannot be run again as it was"):
        told(session, "back 100 us")


def shell(lab: Lab, *options: str) -> list[str]:
    """The command line of a shell with sfp-mismatch."""
    of_lab = ["--kernel", str(lab.kernel), "--root", str(lab.root)]
    return [sys.executable, "-m", "wirelab", "shell", str(SCENARIO), *of_lab, *options]


def test_a_script_gives_the_same_bytes_on_either_cpu(lab: Lab) -> None:
    """Also under load: two at once on one CPU, with a third process that computes there."""
    cpus = sorted(os.sched_getaffinity(0))
    chosen = [cpus[0], cpus[-1], cpus[0]]
    with subprocess.Popen(["taskset", "-c", str(cpus[0]), sys.executable, "-c", "while True: pass"]) as load_:
        try:
            running = [
                subprocess.Popen(
                    shell(lab, "--cpu", str(cpu)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
                )
                for cpu in chosen
            ]
            outputs = [process.communicate(SCRIPT, timeout=MOST_S)[0] for process in running]
        finally:
            load_.kill()
    assert [process.returncode for process in running] == [0, 0, 0]
    assert "is dropped" in outputs[0]
    assert outputs[0].count("ms> ") == len(SCRIPT.splitlines())
    assert len(set(outputs)) == 1


def test_a_script_ends_at_a_line_that_makes_no_sense(lab: Lab) -> None:
    """With exit code 2, and the number of the line."""
    done = subprocess.run(
        shell(lab), input="run 1 ms\nrun 1 m\nrun 1 ms\n", capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stdout == "0.000000 ms> run 1 ms\n1.000000 ms> run 1 m\n"
    assert done.stderr.startswith("error: standard input:2: ")


class Terminal:
    """A shell at a terminal of its own, and what it has printed so far."""

    def __init__(self, lab: Lab) -> None:
        self.master, its = os.openpty()
        termios.tcsetwinsize(its, (40, 120))
        env = {**os.environ, "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1"}
        # Buffered as for everyone: of a closed terminal one learns when what was written goes out.
        env.pop("PYTHONUNBUFFERED", None)
        self.process = subprocess.Popen(
            [sys.executable, "-c", _AT_A_TERMINAL, *shell(lab)[1:]],
            stdin=its,
            stdout=its,
            stderr=its,
            env=env,
        )
        os.close(its)
        self.printed = ""
        self.read = 0

    def until(self, what: str) -> None:
        """Read until something is printed after what was waited for before."""
        until_s = time.monotonic() + MOST_S
        while (found := self.printed.find(what, self.read)) < 0:
            assert time.monotonic() < until_s, self.printed
            if select.select([self.master], [], [], 0.1)[0]:
                self.printed += os.read(self.master, 1 << 16).decode(errors="replace")
        self.read = found + len(what)

    def type(self, text: str) -> None:
        """Have a person type it."""
        os.write(self.master, text.encode())


# The terminal is the controlling one, so that its keys send signals and its end does.
_AT_A_TERMINAL = """\
import fcntl, os, sys, termios
os.setsid()
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""


def labs_of(process: int) -> list[int]:
    """The processes of the labs of a wirelab."""
    return [each for child in children(process) for each in processes_in(child)]


def gone(processes: list[int], folders: Callable[[], set[Path]], before: set[Path]) -> None:
    """Wait until no process and no folder of a lab is left."""
    until_s = time.monotonic() + MOST_S
    while any(Path("/proc", str(each)).exists() for each in processes) or folders() - before:
        assert time.monotonic() < until_s
        time.sleep(0.01)


def test_it_can_be_left_in_every_way_and_leaves_nothing_behind(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the prompt and while something runs: signals, the end of the terminal, SIGKILL; no process is left.

    No folder either, but after SIGKILL, where the next lab clears away what that left.
    """
    monkeypatch.setenv("TMPDIR", str(tmp_path))

    def folders() -> set[Path]:
        return set(tmp_path.glob("wirelab-*"))

    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGKILL):
        for line in (b"", b"start\nrun 10000 s\n"):
            with subprocess.Popen(shell(lab), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
                assert process.stdin is not None
                assert process.stdout is not None
                process.stdin.write(b"run 1 ms\n" + line)
                process.stdin.flush()
                while b"run 10000 s" not in (said := process.stdout.readline()) and (
                    line or b"run 1 ms" not in said
                ):
                    assert said
                labs = labs_of(process.pid)
                assert labs
                process.send_signal(number)
                assert process.wait(MOST_S) == (-number if number == signal.SIGKILL else 130)
            gone(labs, set if number == signal.SIGKILL else folders, set())
    left = folders()
    assert left
    with subprocess.Popen(shell(lab), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        process.communicate(b"quit\n", timeout=MOST_S)
    assert folders() == set()


def test_at_a_terminal(lab: Lab) -> None:
    """Ctrl-C ends what runs, and the line that is begun; Tab completes; Ctrl-D ends it all."""
    terminal = Terminal(lab)
    terminal.until("ms>")
    labs = labs_of(terminal.process.pid)
    terminal.type("server ping client\r")
    terminal.until("icmp_seq=2 ")
    terminal.type("\x03")
    terminal.until("packets transmitted")
    terminal.until("ms>")
    terminal.type("run 10000 s\r")
    terminal.until("run 10000 s")
    time.sleep(0.2)
    terminal.type("\x03")
    terminal.until("interrupted at")
    terminal.until("ms>")
    terminal.type("watch 10 s\r")
    terminal.until("module.line")
    terminal.type("\x03")
    terminal.until("interrupted at")
    terminal.until("ms>")
    terminal.type("something\x03")
    terminal.until("ms>")
    terminal.type("sho\t")
    terminal.until("w")
    terminal.type(" module.l\t")
    terminal.until("ine")
    terminal.type("\r")
    terminal.until("nothing waits at module.line")
    terminal.until("ms>")
    terminal.type("nonsense\r")
    terminal.until("unknown command or node")
    terminal.until("ms>")
    terminal.type("save nosuch/mine.yaml\r")
    terminal.until("cannot be written")
    terminal.until("ms>")
    terminal.type("\x04")
    assert terminal.process.wait(MOST_S) == 0
    gone(labs, set, set())


@pytest.mark.parametrize("line", ["", "run 10000 s\r"])
def test_a_terminal_that_is_closed_ends_it(lab: Lab, line: str) -> None:
    """At the prompt, and while something runs."""
    terminal = Terminal(lab)
    terminal.until("ms>")
    labs = labs_of(terminal.process.pid)
    terminal.type(line)
    if line:
        terminal.until(line.strip())
    os.close(terminal.master)
    with contextlib.suppress(subprocess.TimeoutExpired):
        terminal.process.wait(MOST_S)
    assert terminal.process.returncode == 130
    gone(labs, set, set())
