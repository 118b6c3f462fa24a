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

# As scripts log pings, and read what a node is told.
LOGGED = """
from mininet.net import Mininet
net = Mininet(controller=None)
host, other = net.addHost("h1"), net.addHost("h2")
net.addLink(host, other)
net.start()
host.popen("echo logged > /tmp/log", shell=True).wait()
print(open("/tmp/log").read(), host.cmd("ip route"), host.cmd("tc qdisc show dev h1-eth0"))
net.stop()
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


def test_a_letter_may_have_more_than_a_byte(ask: Ask) -> None:
    """And a sort goes by bytes all the same."""
    command = "printf 'ä' | wc -m; printf 'b\\nA\\na\\n' | sort | tr -d '\\n'"
    assert ask("bash", "-c", command) == "1\nAab"


def test_what_tools_print_has_no_colours(ask: Ask) -> None:
    """A script reads what ip and tc tell it, whether it is a terminal that they tell it or a pipe."""
    assert "\x1b" not in ask("script", "-qc", "ip address; tc qdisc", "/dev/null")


def test_a_nodes_programs_have_a_shell_and_no_colours(rig: Rig) -> None:
    """`popen(shell=True)` of Mininet starts that of the environment; `cmd` is a terminal."""
    output = rig.execute("python3", "-c", LOGGED)
    assert output.stdout.startswith("logged\n 10.0.0.0/8 dev h1-eth0"), both(output)
    assert "\x1b" not in output.stdout


def test_a_nodes_command_in_a_file_takes_its_own_time(rig: Rig) -> None:
    """Mininet's command line waits for it and not, again and again, for keys of nobody."""
    script = "echo 'h1 sleep 5' >/tmp/script; begun=$(date +%s%N); mn --pre /tmp/script --test none"
    output = rig.execute("bash", "-c", f"{script}; echo $(($(date +%s%N) - begun))", wall_limit_s=60)
    assert output.code == 0
    assert 5e9 < int(output.stdout) < 20e9


def test_mininets_nat_is_made_from_the_command_line(rig: Rig) -> None:
    """It looks for name servers, of which there are none."""
    output = rig.execute("mn", "--nat", "--test", "pingall")
    assert output.code == 0, both(output)
    assert "0% dropped" in both(output)


def test_the_service_of_open_vswitch_starts_anew(rig: Rig) -> None:
    """What it ends is gone at once, and what it begins serves whoever comes."""
    service = "service openvswitch-switch"
    output = rig.execute("bash", "-c", f"{service} start && {service} restart && ovs-vsctl add-br br0")
    assert output.code == 0, both(output)
    assert "failed" not in both(output)


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
