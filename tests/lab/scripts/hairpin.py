"""Inside the lab: a bridge sends each frame back by its port, which asks for a pause at each of them.

Prints what both ends counted, and what BQL believes to be under way at the bridge's port when all is over.
"""

import json
import time
from pathlib import Path

from inside import data_frame, make_pair, own_stats, packet_socket, raise_ports, run, setting

COUNT = 52


def main() -> None:
    """See above."""
    make_pair()
    setting("p2", "role", "forward")
    setting("p2", "xoff_bytes", 1000)
    setting("p2", "xon_bytes", 500)
    run("ethtool", "-A", "p2", "tx", "on")
    run("ip", "link", "add", "name", "br0", "type", "bridge", "mcast_snooping", "0")
    run("ip", "link", "set", "p2", "master", "br0")
    run("bridge", "link", "set", "dev", "p2", "hairpin", "on")
    raise_ports("br0", "p1", "p2")
    time.sleep(20)  # two forward delays of the bridge, had it any, and more
    out = packet_socket("p1")
    for _ in range(COUNT):
        out.send(data_frame())
    time.sleep(1)
    inflight = Path("/sys/class/net/p2/queues/tx-0/byte_queue_limits/inflight").read_text()
    counted = {"sent": COUNT, "p1": own_stats("p1"), "p2": own_stats("p2"), "inflight": int(inflight)}
    print(json.dumps(counted))


main()
