"""Inside the lab: frames that tc puts into the TX queue given, of eight; prints what became of them."""

import json
import sys
import time

from inside import data_frame, make_pair, own_stats, packet_socket, raise_ports, run

COUNT = 20


def main() -> None:
    """See above."""
    make_pair("numtxqueues", "8")
    raise_ports("p1", "p2")
    run("tc", "qdisc", "add", "dev", "p1", "clsact")
    action = ["action", "skbedit", "queue_mapping", sys.argv[1]]
    run("tc", "filter", "add", "dev", "p1", "egress", "matchall", *action)
    time.sleep(2)
    out = packet_socket("p1")
    for _ in range(COUNT):
        out.send(data_frame())
    time.sleep(1)
    print(json.dumps({"asked": COUNT, "p1": own_stats("p1"), "p2": own_stats("p2")}))


main()
