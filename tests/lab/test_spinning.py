"""Programs that never sleep: each goes at the pace of a CPU of its own, and virtual time goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.lab.rig import Rig

# So many empty polls in a row cost nothing, as many as an event loop makes.
FREE = 90
MANY = 3000
# The clock, 50 ns a reading, and Python's own calls.
SLACK_NS = 1_000_000
# A call that fails costs this in any case.
FAILED_NS = 1_000

SPIN = """
import os, select, socket, sys, time
nothing, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
nothing.setblocking(False)
poll, epoll = select.poll(), select.epoll()
poll.register(nothing, select.POLLIN)
epoll.register(nothing, select.EPOLLIN)
def receive():
    try:
        nothing.recv(1)
    except BlockingIOError:
        pass
ask = {
    "select": lambda: select.select([nothing], [], [], 0),
    "poll": lambda: poll.poll(0),
    "epoll": lambda: epoll.poll(0),
    "receive": receive,
    "yield": os.sched_yield,
}[sys.argv[1]]
begun_ns = time.monotonic_ns()
for polls in map(int, sys.argv[2:]):
    for _ in range(polls):
        ask()
    woken_ns = time.monotonic_ns()
    print(woken_ns - begun_ns)
    time.sleep(0.001)
    begun_ns = time.monotonic_ns()
"""

# A reading of the clock, and how many in a row are free beyond that.
LOOK_NS = 50
FREE_LOOKS = 1000

# How often it looks at the clock until so many ns are over, and how late it then is.
WATCH = """
import sys, time
look = time.monotonic_ns
for wait_ns in map(int, sys.argv[1:]):
    due_ns = look() + wait_ns
    looks = 1
    while (seen_ns := look()) < due_ns:
        looks += 1
    print(looks, seen_ns - due_ns)
    time.sleep(0.001)
"""

# What a call, a thread, a process and a byte take of a CPU (patch 0007), and how far one may be ahead of it.
CALL_NS = 500
SENT_NS = 2_000
THREAD_NS = 50_000
PROCESS_NS = 400_000
BYTE_PS = 190
LEAD_NS = 10_000_000
NAP_NS = 100_000
# What User-Mode Linux lets any call take that fails, at once.
FAILED_NS = 1_000

ASK = """
import os, socket, sys, threading, time
nothing = os.open("/dev/null", os.O_WRONLY)
block = bytes(128 << 10)
server = socket.create_server(("127.0.0.1", 0))
stream = socket.create_connection(server.getsockname())
datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
datagrams.bind(("127.0.0.1", 0))
frames = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
frames.bind(("lo", 0))
pipe, end = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)

def exec_in_vain():
    try:
        os.execv("/absent", ["absent"])
    except FileNotFoundError:
        pass

ask = {
    "call": os.getppid,
    "exec in vain": exec_in_vain,
    "clock": time.monotonic_ns,
    "write": lambda: os.write(nothing, block),
    "send to a process": lambda: (pipe.send(b""), end.recv(1)),
    "send a datagram": lambda: datagrams.sendto(b"", datagrams.getsockname()),
    "send a frame": lambda: frames.send(bytes(60)),
    "write to a connection": lambda: os.write(stream.fileno(), b"a"),
    "thread": lambda: threading.Thread(target=int).start(),
    "fork": lambda: os.waitpid(os.fork() or os._exit(0), 0),
}[sys.argv[1]]
begun_ns = time.monotonic_ns()
for _ in range(int(sys.argv[2])):
    ask()
print(time.monotonic_ns() - begun_ns)
"""

# Nothing on this link takes time: the two ends hand over to each other within one instant.
LINK = """
import json, subprocess
run = lambda *argv: subprocess.run(argv, check=True, capture_output=True, text=True).stdout
for side, address in ("left", "10.0.0.1/24"), ("right", "10.0.0.2/24"):
    run("ip", "netns", "add", side)
run("ip", "link", "add", "left0", "netns", "left", "type", "veth", "peer", "name", "right0", "netns", "right")
for side, address in ("left", "10.0.0.1/24"), ("right", "10.0.0.2/24"):
    run("ip", "-n", side, "address", "add", address, "dev", side + "0")
    run("ip", "-n", side, "link", "set", side + "0", "up")
server = subprocess.Popen(["ip", "netns", "exec", "right", "iperf3", "-s", "-1"], stdout=subprocess.DEVNULL)
told = json.loads(run("ip", "netns", "exec", "left", "iperf3", "-c", "10.0.0.2", "-t", "1", "-J"))
print(told["end"]["sum_received"]["bits_per_second"])
"""

# A second that nobody can take from the sleeper, whoever computes meanwhile.
RUNAWAY = """
import subprocess, time
process = subprocess.Popen(["python3", "-c", "while True: pass"])
print(process.wait())
"""

# How often a shell gets round that asks for the time, by others, until a second is over.
SHELL = """
begun=$(date +%s%N)
while (( $(date +%s%N) - begun < 1000000000 )); do (( ++rounds )); done
echo $rounds
"""

# A child that is ahead of its CPU by 2 ms when it ends, again and again.
WAIT = """
import os, time
begun_ns = time.monotonic_ns()
for _ in range(50):
    child = os.fork()
    if not child:
        for _ in range(4000):
            os.getppid()
        os._exit(0)
    os.waitpid(child, 0)
print(time.monotonic_ns() - begun_ns)
"""

# Both ask without an end, by turns, until a second has gone by.
TWO = """
import os, sys, time
begun_s = time.monotonic()
child = os.fork()
while time.monotonic() - begun_s < 1:
    os.sched_yield()
if child:
    os.waitpid(child, 0)
    print(round(time.monotonic() - begun_s, 2))
"""


def spin(rig: Rig, call: str, *polls: int) -> list[int]:
    """What each round of so many empty polls takes, in ns of virtual time; it sleeps in between."""
    done = rig.execute("python3", "-c", SPIN, call, *map(str, polls))
    assert done.code == 0, done.stderr
    return [int(line) for line in done.stdout.split()]


def cost_ns(polls: int) -> int:
    """What so many polls cost beyond the first hundred: a sixteenth of what they have cost, 1 to 100 us."""
    cost_us = 0
    for _ in range(polls - 100):
        cost_us += min(max(cost_us // 16, 1), 100)
    return cost_us * 1000


@pytest.mark.parametrize("call", ["select", "poll", "epoll", "receive", "yield"])
def test_a_process_that_spins_pays_for_it(rig: Rig, call: str) -> None:
    """After a hundred polls without a sleep each further one takes more, or it would wait for ever."""
    (taken_ns,) = spin(rig, call, MANY)
    expected_ns = cost_ns(MANY) + (FAILED_NS * MANY if call == "receive" else 0)
    assert expected_ns - SLACK_NS < taken_ns < expected_ns + SLACK_NS


def test_a_process_that_sleeps_in_between_does_not(rig: Rig) -> None:
    """What an event loop does costs nothing, however often it comes back."""
    assert max(spin(rig, "poll", FREE, FREE, FREE)) < SLACK_NS


def test_a_look_at_the_clock_takes_50_ns_at_once(rig: Rig) -> None:
    """So long as there are no more than a thousand in a row; the last of them is the one that is told."""
    done = rig.execute("python3", "-c", ASK, "clock", str(FREE_LOOKS - 100))
    assert (done.code, done.stdout) == (0, f"{(FREE_LOOKS - 99) * LOOK_NS}\n"), done.stderr


def watch(rig: Rig, *waits_ns: int) -> list[tuple[int, int]]:
    """For each wait: how many looks at the clock it took, and by how many ns they missed its end."""
    done = rig.execute("python3", "-c", WATCH, *map(str, waits_ns), wall_limit_s=60)
    assert done.code == 0, done.stderr
    looks_and_late = [line.split() for line in done.stdout.splitlines()]
    return [(int(looks), int(late_ns)) for looks, late_ns in looks_and_late]


def test_a_process_that_waits_by_the_clock_gets_there(rig: Rig) -> None:
    """Each further look takes longer, up to 100 us: a minute is 600 000 of them, not 1.2 billion."""
    ((looks, late_ns),) = watch(rig, 60_000_000_000)
    assert looks < 610_000
    assert late_ns <= 100_000 + LOOK_NS


def test_a_process_that_waits_for_a_near_instant_meets_it(rig: Rig) -> None:
    """It keeps a pace by the clock: 20 us to the look, a millisecond to 2 %; a sleep forgives all."""
    for looks, late_ns in watch(rig, 20_000, 20_000, 20_000):
        assert looks >= 20_000 // LOOK_NS - 1
        assert late_ns <= LOOK_NS
    for _, late_ns in watch(rig, 1_000_000, 1_000_000):
        assert late_ns <= 20_000


def test_two_that_spin_do_not_hold_each_other(rig: Rig) -> None:
    """Each pays for itself, whoever asks in between."""
    done = rig.execute("python3", "-c", TWO, wall_limit_s=30)
    assert (done.code, done.stdout) == (0, "1.0\n"), done.stderr


@pytest.mark.parametrize(
    ("call", "calls", "each_ns"),
    [
        ("call", 100_000, CALL_NS),
        ("exec in vain", 10_000, FAILED_NS),
        ("write", 4_000, CALL_NS + BYTE_PS * (128 << 10) // 1000),
        ("send to a process", 20_000, 2 * CALL_NS),
        # and asks for its address
        ("send a datagram", 20_000, 2 * CALL_NS + SENT_NS),
        ("send a frame", 20_000, CALL_NS + SENT_NS),
        ("write to a connection", 20_000, CALL_NS + SENT_NS),
        # what Python does around them is in `own_ns`
        ("thread", 600, THREAD_NS),
        ("fork", 600, PROCESS_NS + CALL_NS),
    ],
)
def test_what_a_process_asks_for_takes_a_cpu_time(rig: Rig, call: str, calls: int, each_ns: int) -> None:
    """It may be 10 ms ahead of its CPU, and then goes at its pace; what fails is charged at once."""
    done = rig.execute("python3", "-c", ASK, call, str(calls))
    assert done.code == 0, done.stderr
    lead_ns = 0 if call == "exec in vain" else LEAD_NS
    own_ns = calls * {"fork": 4, "thread": 12}.get(call, 0) * CALL_NS
    assert calls * each_ns - lead_ns - NAP_NS <= int(done.stdout) <= calls * each_ns + own_ns + NAP_NS


def test_who_waits_for_a_process_waits_for_its_cpu(rig: Rig) -> None:
    """Else whoever has all done by others would be ahead of any CPU."""
    done = rig.execute("python3", "-c", WAIT)
    assert done.code == 0, done.stderr
    taken_ns = 50 * (PROCESS_NS + 4000 * CALL_NS)
    assert taken_ns - LEAD_NS <= int(done.stdout) <= taken_ns + 50 * 20 * CALL_NS + NAP_NS


def test_a_shell_that_asks_again_and_again_gets_there(rig: Rig) -> None:
    """A round is two processes and a program: in a second there are no more than on a real machine."""
    done = rig.execute("bash", "-c", SHELL, wall_limit_s=300)
    assert done.code == 0, done.stderr
    assert 400 < int(done.stdout) < 1e9 / (2 * PROCESS_NS)


def test_a_process_that_asks_for_less_is_not_delayed(rig: Rig) -> None:
    """Not by a nanosecond: 10 ms of a CPU are 20 000 calls at once."""
    done = rig.execute("python3", "-c", ASK, "call", "5000")
    assert done.code == 0, done.stderr
    assert int(done.stdout) < 1000


def test_a_link_without_a_rate_is_as_fast_as_two_cpus(rig: Rig) -> None:
    """A benchmark ends there, at what one core sends, and the 10 ms that each end is ahead."""
    done = rig.execute("python3", "-c", LINK, wall_limit_s=120)
    assert done.code == 0, done.stderr
    block_bytes = 128 << 10
    bits_per_second = 8e9 * block_bytes / (CALL_NS + SENT_NS + BYTE_PS * block_bytes / 1000)
    assert float(done.stdout) == pytest.approx(bits_per_second, rel=0.02)


def test_a_process_that_computes_for_ever_is_ended_and_named(rig: Rig) -> None:
    """As by a limit of processor time (SIGXCPU, 24): with its name and place, and the rest goes on."""
    done = rig.execute("python3", "-c", RUNAWAY, wall_limit_s=50)
    assert (done.code, done.stdout) == (0, "-24\n"), done.stderr
    first, *places = done.stderr.splitlines()
    assert "stopped virtual time: python3 (pid " in first
    assert any(place.startswith("python3.13+0x") for place in places)
