"""Inside the lab: PAUSE, and then frames from the TX queue given, of a port that has eight.

Prints how many came while the port had to be silent, 33.6 ms, and how many in all.
"""

import json
import sys
import time

from inside import data_frame, make_pair, own_stats, packet_socket, pause_frame, raise_ports, run

COUNT = 20


def main() -> None:
    """See above."""
    make_pair("numtxqueues", "8")
    run("ethtool", "-A", "p1", "rx", "on")
    raise_ports("p1", "p2")
    run("tc", "qdisc", "add", "dev", "p1", "clsact")
    action = ["action", "skbedit", "queue_mapping", sys.argv[1]]
    run("tc", "filter", "add", "dev", "p1", "egress", "matchall", *action)
    time.sleep(2)
    packet_socket("p2").send(pause_frame(0xFFFF))
    time.sleep(0.001)
    out = packet_socket("p1")
    for _ in range(COUNT):
        out.send(data_frame())
    time.sleep(0.02)
    silent = own_stats("p2")["rx_wire_frames"]
    time.sleep(0.1)
    print(json.dumps({"sent": COUNT, "silent": silent, "all": own_stats("p2")["rx_wire_frames"]}))


main()
