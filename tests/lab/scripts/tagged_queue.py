"""Inside the lab: ten frames with a VLAN tag wait in a bridge, and what they take of it.

p1 = p2 (bridge) p3 = p4, which has stopped p3. Arguments: the length of a frame with its tag, and the size
of a cell. Prints what p2 and p3 hold.
"""

import json
import sys
import time

from inside import data_frame, make_bridge, own_stats, packet_socket, pause_frame, raise_ports, run, setting

TAG = bytes.fromhex("81000001")


def main() -> None:
    """See above."""
    length, cell = map(int, sys.argv[1:])
    make_bridge()
    run("ethtool", "-A", "p3", "rx", "on")
    run("ethtool", "-G", "p3", "tx", "1")
    for port in ("p2", "p3"):
        setting(port, "buffer_cell_bytes", cell)
    run("tc", "qdisc", "replace", "dev", "p3", "root", "etherfifo")
    raise_ports("br0", "p1", "p2", "p3", "p4")
    time.sleep(20)
    packet_socket("p4", bypass=True).send(pause_frame(0xFFFF))
    time.sleep(0.001)
    frame = data_frame(length - len(TAG))
    out = packet_socket("p1", bypass=True)
    for _ in range(10):
        out.send(frame[:12] + TAG + frame[12:])
    time.sleep(0.01)
    print(json.dumps({"p2": own_stats("p2"), "p3": own_stats("p3")}))


main()
