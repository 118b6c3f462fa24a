"""Inside the lab: p1 is paused for 33.6 ms, and told after one of them to obey PAUSE no more.

Prints how long it was paused, and how many frames had left two milliseconds after that.
"""

import json
import time

from inside import data_frame, make_pair, own_stats, packet_socket, pause_frame, raise_ports, run


def main() -> None:
    """See above."""
    make_pair()
    raise_ports("p1", "p2")
    time.sleep(2)
    packet_socket("p2").send(pause_frame(0xFFFF))
    time.sleep(0.001)
    packet_socket("p1").send(data_frame())
    run("ethtool", "-A", "p1", "autoneg", "off", "rx", "off")
    time.sleep(0.002)
    counted = own_stats("p1")
    print(json.dumps({name: counted[name] for name in ("tx_paused_ns", "tx_frames")}))


main()
