"""Inside the lab: a bridge's port is set down while frames that came by it wait, and its XOFF lowered.

p1 = p2 (bridge) p3 = p4: p3 is a hundred times slower than p1, so that 200 frames wait. Prints the fill of
p2's buffer while it is down, and what its peer heard when all has drained and p2 is up again.
"""

import json
import time

from inside import fill_bridge, make_bridge, own_stats, run, setting

COUNT = 200


def main() -> None:
    """See above."""
    make_bridge()
    fill_bridge(COUNT)
    run("ip", "link", "set", "p2", "down")
    setting("p2", "xoff_bytes", 2000)
    setting("p2", "xon_bytes", 1000)
    held = own_stats("p2")["buffer_bytes"]
    time.sleep(5)
    run("ip", "link", "set", "p2", "up")
    time.sleep(2)
    counted = {
        "held_bytes": held,
        "left_bytes": own_stats("p2")["buffer_bytes"],
        "heard": own_stats("p1")["rx_pause_frames"],
    }
    print(json.dumps(counted))


main()
