"""Inside the lab: p2 sends MAC control frames from a packet socket, p1 may obey.

Arguments: the destination address, `own` for p1's, or `reserved`; the opcode; how many octets of the frame
there are, the rest is up to the port. Asks for 65535 quanta, 33.6 ms at 1000 Mbit/s. Prints what both
counted a second later.
"""

import json
import sys
import time
from pathlib import Path

from inside import PAUSE_ADDRESS, make_pair, own_stats, packet_socket, pause_frame, raise_ports, run

COUNT = 3


def main() -> None:
    """See above."""
    address, opcode, length = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    make_pair()
    run("ethtool", "-A", "p1", "rx", "on")
    raise_ports("p1", "p2")
    time.sleep(2)
    own = Path("/sys/class/net/p1/address").read_text().strip().replace(":", "")
    frame = bytearray(pause_frame(0xFFFF, {"own": own, "reserved": PAUSE_ADDRESS}.get(address, address)))
    frame[14:16] = opcode.to_bytes(2, "big")
    out = packet_socket("p2")
    for _ in range(COUNT):
        out.send(frame[:length])
    time.sleep(1)
    packets = Path("/sys/class/net/p2/statistics/tx_packets").read_text()
    counted = {"sent": COUNT, "p1": own_stats("p1"), "p2": own_stats("p2"), "tx_packets": int(packets)}
    print(json.dumps(counted))


main()
