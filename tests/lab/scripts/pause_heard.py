"""Inside the lab: p1 hears a PAUSE, and loses its link, or stops obeying, before that takes effect.

The argument is what happens then: a command of `ip link`, or `rx off`. Prints what p1 had counted by then,
and whether it was ever silent a while later; a port that is gone never was.
"""

import json
import sys
import time
from pathlib import Path

from inside import make_pair, own_stats, packet_socket, pause_frame, raise_ports, run, setting


def main() -> None:
    """See above."""
    make_pair()
    setting("p1", "pause_reaction_ns", 50_000_000)
    raise_ports("p1", "p2")
    time.sleep(2)
    packet_socket("p2").send(pause_frame(0xFFFF))
    time.sleep(0.001)
    before = own_stats("p1")
    if sys.argv[1] == "rx off":
        run("ethtool", "-A", "p1", "autoneg", "off", "rx", "off")
    else:
        run("ip", "link", *sys.argv[1].split())
    left = [port for port in ("p1", "p2") if Path(f"/sys/class/net/{port}").exists()]
    raise_ports(*left)
    time.sleep(1)
    after = own_stats("p1")["tx_paused_ns"] if "p1" in left else 0
    counted = {
        "paused_before": before["tx_paused_ns"],
        "heard": before["rx_pause_frames"],
        "paused_after": after,
    }
    print(json.dumps(counted))


main()
