"""What a program expects of any machine, in `wirelab exec` and at the prompt of `wirelab shell`."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import pytest

from tests.lab.sessions import switched_on, told

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.lab.rig import Output, Rig
    from wirelab.lab.select import Lab

    Ask = Callable[..., str]

SHARE = """
from multiprocessing import Pool, Queue, shared_memory
with Pool(2) as pool:
    print(pool.map(abs, [-1]))
queue = Queue()
queue.put(2)
print(queue.get())
memory = shared_memory.SharedMemory(create=True, size=1)
print(memory.buf[0])
memory.unlink()
"""

# One link of 10 Mbit/s, one server, and clients one after the other; how each ends, and after how long.
CLIENTS = """
ip netns add left
ip netns add right
ip link add left0 netns left type veth peer name right0 netns right
for side in left right; do
    ip -n $side link set ${side}0 up
    tc -n $side qdisc add dev ${side}0 root tbf rate 10mbit burst 3k latency 50ms
done
ip -n left address add 10.0.0.1/24 dev left0
ip -n right address add 10.0.0.2/24 dev right0
ip netns exec right iperf3 -s >/dev/null &
sleep 0.1
for words; do
    begun=$(date +%s)
    ip netns exec left iperf3 -c 10.0.0.2 $words | tail -n 1
    test $(($(date +%s) - begun)) -le 3 || echo too late
done
"""


@pytest.fixture(params=["exec", "shell"])
def ask(request: pytest.FixtureRequest, lab: Lab, rig: Rig) -> Iterator[Ask]:
    """Runs a program and returns all that it prints."""
    if request.param == "exec":
        yield lambda *argv: both(rig.execute(*argv))
        return
    with switched_on(lab) as session:
        yield lambda *argv: told(session, f"client {shlex.join(argv)}")


def both(output: Output) -> str:
    """What a command printed."""
    return output.stdout + output.stderr


def test_processes_share_memory_and_semaphores(ask: Ask) -> None:
    """As Python's multiprocessing does: both have names in /dev/shm."""
    assert ask("python3", "-c", SHARE) == "[1]\n2\n0\n"


def test_a_lock_is_taken_where_locks_are(ask: Ask) -> None:
    """/var/lock is a link to a folder that anybody can write to."""
    assert ask("flock", "/var/lock/mine", "stat", "-L", "-c", "%a", "/var/lock") == "1777\n"


def test_a_shell_reads_what_a_command_prints_as_a_file(ask: Ask) -> None:
    """`<(...)` is a name in /dev/fd."""
    assert ask("bash", "-c", "cat <(echo here)") == "here\n"


def test_what_is_written_to_an_output_by_its_name_is_seen(ask: Ask) -> None:
    """Whoever opens /dev/stdout and /dev/stderr writes where the others write, and empties nothing."""
    assert ask("sh", "-c", "echo one; echo two >/dev/stdout; echo three >/dev/stderr") == "one\ntwo\nthree\n"


@pytest.mark.parametrize(
    "words", [("-n 1M", "-k 10"), ("-R --bytes 1M", "-Rn 1M"), ("-u -n 100K", "-t 1")], ids=" ".join
)
def test_iperf3_ends_when_an_amount_is_sent(rig: Rig, words: tuple[str, str]) -> None:
    """However it is asked for, and its server is there for the next one."""
    output = rig.execute("sh", "-c", CLIENTS, "sh", *words, wall_limit_s=40)
    assert output.stdout == "iperf Done.\niperf Done.\n", output.stderr


def test_iperf3_at_the_prompt_ends_when_an_amount_is_sent(lab: Lab) -> None:
    """As it does in `wirelab exec`."""
    with switched_on(lab) as session:
        told(session, "server iperf3 -s &")
        assert told(session, "client iperf3 -n 1M -c server").splitlines()[-1] == "iperf Done."
