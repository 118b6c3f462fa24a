"""Inside the lab: two stations on a hub send each other frames that are longer than the hub's MTU.

Prints what the second one has counted after five of 2000 bytes; the hub's ports have an MTU of 1500.
"""

import json
import time
from pathlib import Path

from inside import data_frame, make_cable, own_stats, packet_socket, raise_ports, run, setting


def main() -> None:
    """See above."""
    Path("/proc/sys/net/ipv6/conf/default/disable_ipv6").write_text("1")
    for number in (1, 2):
        inner, outer = f"h{number}", f"s{number}"
        make_cable(inner, outer, speed_mbps=100, duplex="half")
        setting(inner, "role", "repeat")
        run("ip", "link", "set", outer, "mtu", "3000")
    raise_ports("h1", "h2", "s1", "s2")
    time.sleep(3)
    out = packet_socket("s1")
    for _ in range(5):
        out.send(data_frame(2000))
    time.sleep(0.1)
    print(json.dumps(own_stats("s2")))


main()
