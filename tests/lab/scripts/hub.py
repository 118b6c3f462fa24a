"""Stations on a hub, half duplex: some send UDP as fast as they can, one receives.

    hub.py --speed 10 --senders 3 [--stations 4] [--time S] [--cable-ns 500]

Prints one JSON object: the goodput of each sender's flow, and the statistics of every station and
of the hub's ports.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import time
from pathlib import Path

from inside import inside, make_cable, run, stats

HUB = "hub"


def add_node(name: str) -> None:
    """A namespace that says nothing by itself: while others are being made yet, not all would hear it."""
    run("ip", "netns", "add", name)
    inside(name, "sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=1")


def build(arguments: argparse.Namespace) -> None:
    """A hub and its stations."""
    add_node(HUB)
    for number in range(1, arguments.stations + 1):
        inner, outer, node = f"h{number}", f"s{number}", f"n{number}"
        make_cable(inner, outer, speed_mbps=arguments.speed, duplex="half")
        Path(f"/sys/class/net/{inner}/etherport/role").write_text("repeat")
        Path(f"/sys/class/net/{inner}/etherport/cable_delay_ns").write_text(str(arguments.cable_ns))
        run("ethtool", "-C", outer, "rx-usecs", "20")
        add_node(node)
        run("ip", "link", "set", inner, "netns", HUB)
        run("ip", "link", "set", outer, "netns", node)
        inside(HUB, "ip", "link", "set", inner, "up")
        inside(node, "ip", "address", "add", f"10.0.0.{number}/24", "dev", outer)
        inside(node, "ip", "link", "set", outer, "up")
    # Two virtual seconds after the carrier, linkwatch gives a port its qdisc.
    time.sleep(3)
    for number in range(2, arguments.stations + 1):
        inside(f"n{number}", "ping", "-c", "1", "-w", "10", "10.0.0.1")


# A sender that needs no connection, for a hub under load starves those: datagrams for a while.
SENDER = (
    "import socket, sys, time\n"
    "out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
    "end = time.monotonic() + float(sys.argv[1])\n"
    "while time.monotonic() < end: out.sendto(bytes(1472), ('10.0.0.1', int(sys.argv[2])))\n"
)
RECEIVER = (
    "import json, socket, sys, time\n"
    "into = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
    "into.bind(('10.0.0.1', int(sys.argv[2])))\n"
    "into.settimeout(0.1)\n"
    "got, end = 0, time.monotonic() + float(sys.argv[1])\n"
    "while time.monotonic() < end:\n"
    "    try: got += len(into.recv(2048))\n"
    "    except TimeoutError: pass\n"
    "print(got)\n"
)


def main() -> None:
    """Build, run, tell."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--speed", type=int, default=10)
    parser.add_argument("--stations", type=int, default=4)
    parser.add_argument("--senders", type=int, default=1)
    parser.add_argument("--time", type=float, default=5)
    parser.add_argument("--cable-ns", type=int, default=500)
    arguments = parser.parse_args()
    build(arguments)
    numbers = range(2, 2 + arguments.senders)
    clients, servers = [], []
    for number in numbers:
        words = [str(arguments.time), str(5000 + number)]
        servers.append(
            subprocess.Popen(
                ["ip", "netns", "exec", "n1", "python3", "-c", RECEIVER, *words],
                stdout=subprocess.PIPE,
                text=True,
            )
        )
        clients.append(
            subprocess.Popen(["ip", "netns", "exec", f"n{number}", "python3", "-c", SENDER, *words])
        )
    bytes_received = [int(server.communicate()[0]) for server in servers]
    for client in clients:
        client.wait()
    time.sleep(1)
    goodput_bps = [size * 8 / arguments.time for size in bytes_received]
    print(json.dumps({"goodput_bps": goodput_bps, **settled(range(1, arguments.stations + 1))}))


def settled(stations: range) -> dict[str, list[dict[str, int]]]:
    """What all ports count, when none has a frame more since they were asked before."""
    before = None
    while True:
        counted = {
            "stations": [stats(f"n{number}", f"s{number}") for number in stations],
            "hub": [stats(HUB, f"h{number}") for number in stations],
        }
        if counted == before:
            return counted
        before = counted


main()
