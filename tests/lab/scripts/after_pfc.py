"""Inside the lab: frames of priority 3 fill a switch whose port stops using PFC while they wait.

p1 = p2 (bridge) p3 = p4, with eight queues; p4 has stopped p3. Prints the counters of p1 and p2 while PFC is
on, and some PAUSE times after it was switched off.
"""

import json
import time
from pathlib import Path

from inside import data_frame, make_cable, own_stats, packet_socket, pause_frame, raise_ports, run, setting

QUEUES = ("numtxqueues", "8")
PRIORITY_3 = "81006001"


def counters() -> dict[str, dict[str, int]]:
    """Of the two ends of the cable that fills."""
    return {port: own_stats(port) for port in ("p1", "p2")}


def main() -> None:
    """See above."""
    Path("/proc/sys/net/ipv6/conf/default/disable_ipv6").write_text("1")
    for one, other, speed_mbps in (("p1", "p2", 1000), ("p3", "p4", 10)):
        make_cable(one, other, *QUEUES, speed_mbps=speed_mbps)
        for port in (one, other):
            run("ethtool", "-A", port, "rx", "on", "tx", "on")
    run("ip", "link", "add", "name", "br0", "type", "bridge", "mcast_snooping", "0")
    for port in ("p2", "p3"):
        setting(port, "role", "forward")
        run("ip", "link", "set", port, "master", "br0")
    setting("p2", "xon_bytes", 3000)
    setting("p2", "xoff_bytes", 5000)
    for port in ("p1", "p2"):
        run("dcb", "pfc", "set", "dev", port, "prio-pfc", "3:on")
    raise_ports("br0", "p1", "p2", "p3", "p4")
    time.sleep(20)
    packet_socket("p4", bypass=True).send(pause_frame(0xFFFF))
    time.sleep(0.001)
    frame = data_frame(1000)
    out = packet_socket("p1", bypass=True)
    for _ in range(40):
        out.send(frame[:12] + bytes.fromhex(PRIORITY_3) + frame[12:])
    time.sleep(0.002)
    told = {"on": counters()}
    for port in ("p1", "p2"):
        run("dcb", "pfc", "set", "dev", port, "prio-pfc", "3:off")
    time.sleep(0.1)
    told["off"] = counters()
    print(json.dumps(told))


main()
