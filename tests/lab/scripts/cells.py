"""Inside the lab: frames wait in a bridge whose packet memory has cells.

p1 = p2 (bridge) p3 = p4: p3 is a hundred times slower than p1. Arguments: the size of a cell, the limit of
p3's queue, how many frames are sent, their length, and p3's alpha in 128ths. Prints what p2 and p3 counted
while frames waited, and when all were gone, what tc says of the queue, and what came of setting the size of
a cell meanwhile.
"""

import json
import sys
import time

from inside import fill_bridge, make_bridge, own_stats, run, setting

POOL = 5


def main() -> None:
    """See above."""
    cell, limit, count, length, alpha = map(int, sys.argv[1:])
    make_bridge()
    run("ethtool", "-A", "p2", "tx", "off")
    run("ethtool", "-G", "p3", "tx", "1")
    for port in ("p2", "p3"):
        setting(port, "buffer_cell_bytes", cell)
        setting(port, "pool", POOL)
    setting("p2", "pool_bytes", 1 << 20)
    setting("p3", "queue_limit_bytes", limit)
    setting("p3", "queue_alpha_128ths", alpha)
    run("tc", "qdisc", "replace", "dev", "p3", "root", "etherfifo")
    fill_bridge(count, length)
    waiting = {port: own_stats(port) for port in ("p2", "p3")}
    refused = None
    try:
        setting("p2", "buffer_cell_bytes", 1)
    except OSError as error:
        refused = error.errno
    [queue] = json.loads(run("tc", "-s", "-j", "qdisc", "show", "dev", "p3", "root"))
    time.sleep(5)
    setting("p2", "buffer_cell_bytes", 1)
    gone = {port: own_stats(port) for port in ("p2", "p3", "p4")}
    print(json.dumps({"waiting": waiting, "refused": refused, "queue": queue, "gone": gone}))


main()
