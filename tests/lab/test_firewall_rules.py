"""Rules of scripts for iptables and nftables: the lab's kernel knows their targets and matches, and obeys."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.lab.rig import Rig

# Two hosts. Who asks a port that nobody listens to is told so by TCP, which a rule can say in another way.
HOSTS = """
import socket, subprocess, sys

def run(*argv):
    done = subprocess.run(argv, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(argv)}: {done.stderr}")
    return done.stdout

def inside(node, *argv):
    return run("ip", "netns", "exec", node, *argv)

for node in "left", "right":
    run("ip", "netns", "add", node)
    run("ip", "-n", node, "link", "set", "lo", "up")
run("ip", "link", "add", "left0", "netns", "left", "type", "veth", "peer", "name", "right0", "netns", "right")
for node, number in ("left", 1), ("right", 2):
    for address in f"10.0.0.{number}/24", f"fd00::{number}/64":
        run("ip", "-n", node, "address", "add", address, "dev", node + "0", *["nodad"] * (":" in address))
    run("ip", "-n", node, "link", "set", node + "0", "up")

CONNECT = '''
import socket, sys
try:
    socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=2)
    print("connected")
except OSError as error:
    print(type(error).__name__, error.errno)
'''

def connect(address, port):
    print(inside("left", "python3", "-c", CONNECT, address, str(port)), end="")
"""

REJECT = """
connect("10.0.0.2", 5001)
inside("right", "iptables", "-A", "INPUT", "-p", "tcp", "--dport", "5001", "-j", "REJECT")
inside("right", "ip6tables", "-A", "INPUT", "-p", "tcp", "--dport", "5001", "-j", "REJECT")
connect("10.0.0.2", 5001)
connect("fd00::2", 5001)
inside("right", "iptables", "-F")
inside("right", "iptables", "-A", "INPUT", "-j", "REJECT", "--reject-with", "icmp-host-prohibited")
connect("10.0.0.2", 5001)
"""

REDIRECT = """
server = subprocess.Popen(["ip", "netns", "exec", "right", "nc", "-l", "-k", "-p", "8080"])
connect("10.0.0.2", 80)
inside("right", "iptables", "-t", "nat", "-A", "PREROUTING", "-p", "tcp", "--dport", "80",
       "-j", "REDIRECT", "--to-ports", "8080")
connect("10.0.0.2", 80)
server.kill()
"""

LOG = """
run("sysctl", "-qw", "net.netfilter.nf_log_all_netns=1")
inside("right", "iptables", "-A", "INPUT", "-p", "icmp", "-j", "LOG", "--log-prefix", "came: ")
inside("left", "ping", "-c", "1", "10.0.0.2")
print(*[line for line in run("dmesg").splitlines() if "came: " in line])
"""

# What marks packets: DSCP and a hop limit of its own, counted by matches on the other side.
MARKS = """
inside("left", "iptables", "-t", "mangle", "-A", "POSTROUTING", "-j", "DSCP", "--set-dscp-class", "EF")
inside("left", "iptables", "-t", "mangle", "-A", "POSTROUTING", "-j", "TTL", "--ttl-set", "9")
for match in "dscp --dscp-class EF", "ttl --ttl-eq 9", "length --length 84", "dscp --dscp-class AF41":
    inside("right", "iptables", "-A", "INPUT", "-p", "icmp", "-m", *match.split())
inside("left", "ping", "-c", "3", "-i", "0.2", "10.0.0.2")
rules = inside("right", "iptables", "-nvxL", "INPUT").splitlines()[2:]
print(*[rule.split()[0] for rule in rules])
"""

MATCHES = (
    "-m addrtype --dst-type LOCAL",
    "-p tcp --syn -m connlimit --connlimit-above 3",
    "-m connmark --mark 1",
    "-p tcp -m ecn --ecn-tcp-cwr",
    "-m hashlimit --hashlimit-above 10/s --hashlimit-name a --hashlimit-mode srcip",
    "-m mac --mac-source 02:00:00:00:00:01",
    "-m pkttype --pkt-type broadcast",
    "-m recent --name seen --set",
    "-m string --algo bm --string secret",
    "-m time --timestart 08:00 --timestop 18:00",
)
TARGETS = (
    "-t mangle -A POSTROUTING -j CLASSIFY --set-class 1:10",
    "-t mangle -A PREROUTING -j CONNMARK --save-mark",
    "-t raw -A PREROUTING -p udp -j CT --notrack",
    "-t nat -A PREROUTING -d 10.1.0.0/24 -j NETMAP --to 10.2.0.0/24",
    "-A OUTPUT -m owner --uid-owner 0 -j ACCEPT",
)
RULESET = (
    "add table inet t",
    "add chain inet t c",
    "add rule inet t c ct count over 3 reject",
    "add rule inet t c meta mark set numgen inc mod 2",
    'add rule inet t c log prefix "a"',
)


def said(rig: Rig, script: str) -> list[str]:
    """The lines that a script prints between two hosts."""
    done = rig.execute("python3", "-c", HOSTS + script)
    assert done.code == 0, done.stderr
    return done.stdout.splitlines()


def test_a_rule_can_reject(rig: Rig) -> None:
    """As a port that nobody has (111, and so it is without a rule) or a host that is closed (113)."""
    assert said(rig, REJECT) == [
        "ConnectionRefusedError 111",
        "ConnectionRefusedError 111",
        "ConnectionRefusedError 111",
        "OSError 113",
    ]


def test_a_rule_can_redirect(rig: Rig) -> None:
    """To another port of the host."""
    assert said(rig, REDIRECT) == ["ConnectionRefusedError 111", "connected"]


def test_a_rule_can_log(rig: Rig) -> None:
    """Into the log of the kernel, which is the lab's."""
    (line,) = said(rig, LOG)
    assert "SRC=10.0.0.1 DST=10.0.0.2" in line


def test_rules_mark_packets_and_match_marks(rig: Rig) -> None:
    """Three pings, of which each has what was set, and none what was not."""
    assert said(rig, MARKS) == ["3 3 3 0"]


@pytest.mark.parametrize(
    "rules", [[f"-A INPUT {match} -j ACCEPT" for match in MATCHES], TARGETS], ids=["matches", "targets"]
)
def test_the_kernel_knows_the_rules_of_scripts(rig: Rig, rules: list[str]) -> None:
    """Each is taken."""
    calls = "".join(f"inside('right', 'iptables', *{rule.split()!r})\n" for rule in rules)
    assert said(rig, calls) == []


def test_the_kernel_knows_the_rules_of_nftables(rig: Rig) -> None:
    """Each is taken."""
    assert said(rig, "".join(f"inside('right', 'nft', {rule!r})\n" for rule in RULESET)) == []
