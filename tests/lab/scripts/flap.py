"""Inside the lab: frames from p1 to p2, one each millisecond, and p2's link goes away for a while.

Arguments: how long the ports negotiate and for how long p2 is down, in ms. Prints how many frames were sent,
how many of them the stack refused and p1 dropped for want of a link, and how many came to p2.
"""

import json
import socket
import sys
import time
from pathlib import Path

from inside import DATA, data_frame, make_pair, own_stats, packet_socket, raise_ports, run, setting

COUNT, DOWN_AT = 3000, 1000


def drain(into: socket.socket) -> int:
    """How many frames have come since."""
    came = 0
    try:
        while into.recv(60):
            came += 1
    except OSError:
        # No more; or the port was set down, which each of its sockets is told once.
        return came
    return came


def main() -> None:
    """See above."""
    autoneg_ms, down_ms = int(sys.argv[1]), int(sys.argv[2])
    make_pair()
    for port in ("p1", "p2"):
        run("ethtool", "-s", port, "autoneg", "on")
        setting(port, "autoneg_ms", autoneg_ms)
    raise_ports("p1", "p2")
    time.sleep(10)
    # By no queue: the stack takes it away from a port without a carrier, and counts nothing.
    out, into = packet_socket("p1", bypass=True), packet_socket("p2", DATA)
    into.settimeout(0)
    start_s = time.monotonic()
    refused = came = 0
    for number in range(COUNT):
        time.sleep(max(0, start_s + number / 1000 - time.monotonic()))
        if number == DOWN_AT:
            run("ip", "link", "set", "p2", "down")
        if number == DOWN_AT + down_ms:
            run("ip", "link", "set", "p2", "up")
        try:
            out.send(data_frame(60))
        except OSError:
            refused += 1
        came += drain(into)
    time.sleep(0.01)
    came += drain(into)
    counted = own_stats("p1")
    told = {"sent": COUNT, "refused": refused, "came": came, "left": counted["tx_frames"]}
    core = int(Path("/sys/class/net/p1/statistics/tx_dropped").read_text())
    print(json.dumps({**told, "dropped_by_port": counted["tx_dropped_down"], "dropped_by_stack": core}))


main()
