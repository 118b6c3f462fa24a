"""Inside the lab: numbered frames from p1 to p2, which receives one bit in so many wrong.

Arguments: the mean number of bits between two errors, how many frames, their length in octets without
FCS, and perhaps ``pause`` (they are PAUSE frames) or ``hub`` (p1 = p3 (hub) p4 = p2, and it is p3 that
receives bits wrong).
Prints the numbers of the frames that came, and what p2 (or p3) has counted, by any tool.
"""

import json
import sys
import time
from pathlib import Path

from inside import (
    DATA,
    data_frame,
    make_cable,
    make_pair,
    own_stats,
    packet_socket,
    pause_frame,
    raise_ports,
    setting,
)

AT, LENGTH = 14, 4


def make_hub() -> None:
    """p1 = p3 (hub) p4 = p2, down."""
    for ends in (("p1", "p3"), ("p2", "p4")):
        make_cable(*ends, speed_mbps=100, duplex="half")
        setting(ends[1], "role", "repeat")


def numbered(number: int, length: int) -> bytes:
    """A frame with a number."""
    frame = data_frame(length)
    return frame[:AT] + number.to_bytes(LENGTH) + frame[AT + LENGTH :]


def main() -> None:
    """See above."""
    bits, count, length = (int(word) for word in sys.argv[1:4])
    kind = "".join(sys.argv[4:])
    Path("/proc/sys/net/ipv6/conf/default/disable_ipv6").write_text("1")
    wrong = "p2"
    if kind == "hub":
        make_hub()
        raise_ports("p3", "p4")
        wrong = "p3"
    else:
        make_pair(speed_mbps=10_000)
    raise_ports("p1", "p2")
    time.sleep(3)
    setting(wrong, "bits_per_error", bits)
    into, out = packet_socket("p2", DATA), packet_socket("p1")
    into.settimeout(0.001)
    came = []
    for number in range(count):
        out.send(pause_frame(0xFFFF) if kind == "pause" else numbered(number, length))
        while number % 50 == 49 or number == count - 1:
            try:
                came.append(int.from_bytes(into.recv(length)[AT : AT + LENGTH]))
            except TimeoutError:
                break
    sums = {
        name: int(Path(f"/sys/class/net/p2/statistics/{name}").read_text())
        for name in ("rx_errors", "rx_crc_errors")
    }
    told = {"came": came, "counted": {**own_stats("p2"), **sums}, "sent": own_stats("p1")}
    print(json.dumps({**told, "wrong": own_stats(wrong)}))


main()
