"""Inside the lab: when a port with little room for frames tells the other end to stop, and to go on.

p1 = p2 (bridge) p3 = p4. Prints p2's counters: with an XOFF below XON, which is what it was made with, after
200 frames to a port a hundred times slower; then, of a shared memory that p5 has made smaller, before and
after that.
"""

import json
import time

from inside import data_frame, make_bridge, own_stats, packet_socket, pause_frame, raise_ports, run, setting

POOL = 5


def main() -> None:
    """See above."""
    make_bridge()
    setting("p2", "xoff_bytes", 20_000)
    setting("p2", "buffer_bytes", 60_000)
    run("ip", "link", "add", "name", "p5", "type", "etherport")
    for port in ("p2", "p5"):
        setting(port, "pool", POOL)
    setting("p5", "pool_bytes", 1_000_000)
    raise_ports("br0", "p1", "p2", "p3", "p4")
    time.sleep(20)
    out = packet_socket("p1")
    for _ in range(200):
        out.send(data_frame())
    time.sleep(0.5)
    told = {"below_xon": own_stats("p2")}
    setting("p2", "xoff_bytes", 400_000)
    setting("p2", "buffer_bytes", 512_000)
    setting("p2", "xoff_alpha_128ths", 128)
    run("ethtool", "-A", "p3", "rx", "on")
    packet_socket("p4", bypass=True).send(pause_frame(0xFFFF))
    time.sleep(0.001)
    for _ in range(20):
        out.send(data_frame())
    time.sleep(0.001)
    told["large"] = own_stats("p2")
    setting("p5", "pool_bytes", 32_000)
    time.sleep(0.001)
    told["small"] = own_stats("p2")
    print(json.dumps(told))


main()
