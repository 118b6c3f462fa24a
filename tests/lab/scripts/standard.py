"""Inside the lab: frames of all lengths and a PAUSE from p1; p2 takes no more than 1500 octets of payload.

Prints what both counted.
"""

import json
import sys
import time

from inside import data_frame, make_pair, own_stats, packet_socket, pause_frame, raise_ports, run


def main() -> None:
    """See above."""
    make_pair()
    run("ip", "link", "set", "p1", "mtu", "9000")
    raise_ports("p1", "p2")
    time.sleep(2)
    out = packet_socket("p1")
    for length in sys.argv[1:]:
        out.send(data_frame(int(length)))
    out.send(pause_frame(1))
    time.sleep(1)
    print(json.dumps({"p1": own_stats("p1"), "p2": own_stats("p2")}))


main()
