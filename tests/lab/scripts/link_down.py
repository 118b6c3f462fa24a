"""Inside the lab: five frames, then one end is set down or deleted while they are on the way.

Arguments: the command of `ip link` that ends it, and when, in microseconds after the first frame begins; the
speed is 10 Mbit/s, where a frame takes 1230 us, and the cable takes 100 ms. Prints what the ports that are
left counted.
"""

import json
import sys
import time
from pathlib import Path

from inside import data_frame, make_pair, own_stats, packet_socket, raise_ports, run

COUNT = 5


def main() -> None:
    """See above."""
    command, at_us = sys.argv[1].split(), int(sys.argv[2])
    make_pair(speed_mbps=10, delay_ns=100_000_000)
    raise_ports("p1", "p2")
    time.sleep(2)
    out = packet_socket("p1", bypass=True)
    start_s = time.monotonic()
    for _ in range(COUNT):
        out.send(data_frame())
    time.sleep(max(0, start_s + at_us / 1e6 - time.monotonic()))
    run("ip", "link", *command)
    time.sleep(1)
    left = [port for port in ("p1", "p2") if Path(f"/sys/class/net/{port}").exists()]
    print(json.dumps({port: own_stats(port) for port in left}))


main()
