"""Inside the lab: numbered frames through a bridge that takes its time, p1 = p2 (bridge) p3 = p4.

Arguments: the latency in ns, how many frames, their length in octets without FCS; then what happens while
they are on their way through the bridge, if anything: commands for a shell. Prints, of each frame that came
to p4, its number and how long after it was handed to p1; and what p2 held meanwhile and has counted at last.
"""

import json
import socket
import subprocess
import sys
import time
from pathlib import Path

from inside import (
    data_frame,
    make_node,
    next_stamped,
    own_stats,
    packet_socket,
    raise_ports,
    run,
    setting,
    watching_socket,
)

AT, LENGTH = 14, 4


def make() -> None:
    """The ports and the bridge, up."""
    make_node("forward")
    run("ip", "link", "add", "name", "br0", "type", "bridge", "mcast_snooping", "0")
    for port in ("p2", "p3"):
        run("ip", "link", "set", port, "master", "br0")
    raise_ports("br0", "p1", "p2", "p3", "p4")
    time.sleep(20)


def seen(sniffer: socket.socket, *, outgoing: bool) -> list[tuple[int, int]]:
    """The number of each frame, and when it passed."""
    frames: list[tuple[int, int]] = []
    while True:
        try:
            at_ns, frame, is_outgoing = next_stamped(sniffer)
        except OSError:
            # There are no more, or the port is gone.
            return frames
        if is_outgoing == outgoing:
            frames.append((int.from_bytes(frame[AT : AT + LENGTH]), at_ns))


def main() -> None:
    """See above."""
    latency_ns, count, length = (int(word) for word in sys.argv[1:4])
    make()
    setting("p2", "forward_latency_ns", latency_ns)
    out, sent, came = packet_socket("p1"), watching_socket("p1"), watching_socket("p4")
    for number in range(count):
        frame = data_frame(length)
        out.send(frame[:AT] + number.to_bytes(LENGTH) + frame[AT + LENGTH :])
    time.sleep(0.01)
    held = own_stats("p2")
    for command in sys.argv[4:]:
        subprocess.run(["sh", "-euc", command], check=True)
    time.sleep(2)
    left = dict(seen(sent, outgoing=True))
    counted = own_stats("p2") if Path("/sys/class/net/p2").exists() else {}
    arrived = [(number, at_ns - left[number]) for number, at_ns in seen(came, outgoing=False)]
    print(json.dumps({"arrived": arrived, "held": held, "counted": counted}))


main()
