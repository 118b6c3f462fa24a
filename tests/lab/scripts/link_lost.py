"""Inside the lab: a bridge's port loses its link while frames wait in its TX ring, charged to another port.

p1 = p2 (bridge) p3 = p4: p3 is a hundred times slower than p1, and p2 has told p1 to stop. Prints what p2
holds and whether p1 may send, a second after p4 was set down, and p3's counters.
"""

import json
import time

from inside import fill_bridge, make_bridge, own_stats, run, setting

COUNT = 100


def main() -> None:
    """See above."""
    make_bridge()
    setting("p2", "xoff_bytes", 100_000)
    setting("p2", "xon_bytes", 50_000)
    fill_bridge(COUNT)
    before = own_stats("p2")["buffer_bytes"]
    run("ip", "link", "set", "p4", "down")
    time.sleep(1)
    told = {"held_bytes": before, "left_bytes": own_stats("p2")["buffer_bytes"]}
    print(json.dumps({**told, "paused": own_stats("p1")["tx_paused"], "p3": own_stats("p3")}))


main()
