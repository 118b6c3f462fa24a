"""Inside the lab: ten frames in each of two priorities wait in a port that has a queue for each.

With an argument somebody looks at the counters meanwhile. Prints them when all frames are gone.
"""

import json
import sys
import time

from inside import data_frame, make_pair, own_stats, packet_socket, raise_ports, run


def main() -> None:
    """See above."""
    make_pair("numtxqueues", "8", speed_mbps=10)
    for port in ("p1", "p2"):
        run("dcb", "pfc", "set", "dev", port, "prio-pfc", "3:on")
    run("ethtool", "-G", "p1", "tx", "1")
    raise_ports("p1", "p2")
    time.sleep(3)
    run("tc", "qdisc", "replace", "dev", "p1", "root", "handle", "1:", "mq")
    for number in range(1, 9):
        run("tc", "qdisc", "replace", "dev", "p1", "parent", f"1:{number}", "bfifo", "limit", "1000000")
    frame = data_frame(1000)
    out = packet_socket("p1")
    for priority in (0, 3):
        tag = bytes.fromhex(f"8100{priority << 1:x}001")
        for _ in range(10):
            out.send(frame[:12] + tag + frame[12:])
    if sys.argv[1:]:
        own_stats("p1")
    time.sleep(1)
    print(json.dumps(own_stats("p1")))


main()
