"""Inside the lab: single frames, a millisecond apart, and when their receiver is interrupted.

Arguments: rx-usecs, rx-frames, the RX ring, how many frames. Prints how many interrupts there have been after
each frame, and how many frames the stack has got.
"""

import json
import sys
import time

from inside import data_frame, make_pair, own_stats, packet_socket, raise_ports, run


def main() -> None:
    """See above."""
    usecs, frames, ring, count = sys.argv[1:5]
    make_pair()
    run("ethtool", "-C", "p2", "rx-usecs", usecs, "rx-frames", frames)
    run("ethtool", "-G", "p2", "rx", ring)
    raise_ports("p1", "p2")
    time.sleep(2)
    out = packet_socket("p1")
    interrupts, received = [], []
    for _ in range(int(count)):
        out.send(data_frame())
        time.sleep(0.001)
        counted = own_stats("p2")
        interrupts.append(counted["interrupts"])
        received.append(counted["rx_frames"])
    print(json.dumps({"interrupts": interrupts, "received": received}))


main()
