"""One iperf3 flow between two ports, with settings from the command line.

    one_flow.py [--speed MBPS] [--mtu BYTES] [--ring FRAMES] [--time S] [--udp] [--sender SETTING=VALUE]...
                [--receiver ...] [--watch S S]

A setting is a file of /sys/class/net/<port>/etherport. Prints one JSON object: the receiver's
goodput, the sender's retransmits, and the statistics of both ports. With ``--watch`` instead what the
sender's port has sent at these two instants of the flow: nanoseconds, frames, bytes. The flow ends with that.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import time
from pathlib import Path

from inside import inside, run, stats


def build(arguments: argparse.Namespace) -> None:
    """Two namespaces and a cable."""
    run("ip", "link", "add", "name", "p1", "type", "etherport")
    run("ip", "link", "add", "link", "p1", "name", "p2", "type", "etherport")
    far = arguments.receiver_duplex or arguments.duplex
    ends = (("a", "p1", arguments.duplex, arguments.sender), ("b", "p2", far, arguments.receiver))
    for number, (node, port, duplex, settings) in enumerate(ends, start=1):
        mode = ["speed", str(arguments.speed), "duplex", duplex, "autoneg", "off"]
        run("ethtool", "-s", port, *mode)
        run("ethtool", "-C", port, "rx-usecs", "20")
        run("ethtool", "-G", port, "rx", str(arguments.ring), "tx", "512")
        run("ethtool", "-A", port, "rx", "on", "tx", arguments.pause)
        for setting in settings:
            name, _, value = setting.partition("=")
            Path(f"/sys/class/net/{port}/etherport/{name}").write_text(value)
        run("ip", "netns", "add", node)
        run("ip", "link", "set", port, "mtu", str(arguments.mtu), "netns", node)
        inside(node, "ip", "address", "add", f"10.0.0.{number}/24", "dev", port)
        inside(node, "ip", "link", "set", port, "up")
    # Two virtual seconds after the carrier, linkwatch gives a port its qdisc.
    time.sleep(3)


def watched(process: subprocess.Popen[str], instants_s: list[float]) -> list[list[int]]:
    """What the sender's port has sent so many seconds after now, while the process runs."""
    start_s = time.monotonic()
    seen = []
    for instant_s in instants_s:
        time.sleep(start_s + instant_s - time.monotonic())
        [link] = json.loads(inside("a", "ip", "-s", "-j", "link", "show", "p1"))
        sent = link["stats64"]["tx"]
        seen.append([time.monotonic_ns(), sent["packets"], sent["bytes"]])
        assert process.poll() is None, "the flow is over"
    return seen


def main() -> None:
    """Build, run, tell."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--speed", type=int, default=10000)
    parser.add_argument("--duplex", default="full")
    parser.add_argument("--receiver-duplex")
    parser.add_argument("--mtu", type=int, default=1500)
    parser.add_argument("--ring", type=int, default=1024)
    parser.add_argument("--time", type=int, default=2)
    parser.add_argument("--udp", action="store_true")
    parser.add_argument("--pause", default="off")
    parser.add_argument("--sender", action="append", default=[])
    parser.add_argument("--receiver", action="append", default=[])
    parser.add_argument("--watch", type=float, nargs=2, default=[])
    arguments = parser.parse_args()
    build(arguments)
    server = subprocess.Popen(
        ["ip", "netns", "exec", "b", "iperf3", "-s", "-1", "-J"],
        stdout=subprocess.PIPE,
        text=True,
    )
    time.sleep(0.5)
    options = ["-u", "-b", "0", "-l", str(arguments.mtu - 28)] if arguments.udp else []
    command = ["iperf3", "-c", "10.0.0.2", "-t", str(arguments.time), "-J", *options]
    client = subprocess.Popen(["ip", "netns", "exec", "a", *command], stdout=subprocess.PIPE, text=True)
    if arguments.watch:
        print(json.dumps({"watched": watched(client, arguments.watch)}))
        client.kill()
        server.kill()
        return
    report, _ = client.communicate()
    out, _ = server.communicate()
    time.sleep(0.5)
    received = json.loads(out)["end"]["sum_received"]
    sent = json.loads(report)["end"]["sum_sent"]
    answer = {
        "goodput_bps": received["bits_per_second"],
        "retransmits": sent.get("retransmits"),
        "sender": stats("a", "p1"),
        "receiver": stats("b", "p2"),
    }
    print(json.dumps(answer))


main()
