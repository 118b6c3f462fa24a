"""Inside the lab: two stations in half duplex, of which one waits for the other, and then both begin at once.

Prints what p1 has counted: after ten frames that came in the middle of one of p2's, and after sixty that
both began at one instant.
"""

import json
import time

from inside import data_frame, make_pair, own_stats, packet_socket, raise_ports

SPEED_MBPS = 10
FRAME_S = 1538 * 8 / (SPEED_MBPS * 1e6)


def main() -> None:
    """See above."""
    make_pair(speed_mbps=SPEED_MBPS, duplex="half", delay_ns=500)
    raise_ports("p1", "p2")
    time.sleep(3)
    first, second = (packet_socket(port, bypass=True) for port in ("p1", "p2"))
    for _ in range(10):
        second.send(data_frame())
        time.sleep(FRAME_S / 3)
        first.send(data_frame())
        time.sleep(0.05)
    told = {"waited": own_stats("p1")}
    for _ in range(60):
        first.send(data_frame())
        second.send(data_frame())
        time.sleep(0.05)
    told["met"] = own_stats("p1")
    print(json.dumps(told))


main()
