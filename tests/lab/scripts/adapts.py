"""Inside the lab: what an adaptive card makes of short frames that come steadily.

Arguments: the algorithm, and what a frame costs the receiver's CPU in ns. Prints how many frames came, how
often they interrupted, and what `ethtool -c` said every hundred frames, once it had settled.
"""

import json
import sys
import time

from at_once import coalescing, counted
from inside import data_frame, make_pair, packet_socket, raise_ports, run, setting

FRAME_LEN = 514
APART_NS = 2_300
"""What the sender's bus takes for one."""
FRAMES, SETTLED = 9_000, 4_000


def main() -> None:
    """See above."""
    algorithm, frame_ns = sys.argv[1:]
    make_pair(speed_mbps=10_000)
    own = {"rx_adaptive": algorithm, "rx_moderation": "interval", "cpu": 1, "cpu_rx_frame_ns": frame_ns}
    for name, value in own.items():
        setting("p2", name, value)
    setting("p1", "bus_bps", FRAME_LEN * 8 * 1_000_000_000 // APART_NS)
    run("ethtool", "-C", "p2", "adaptive-rx", "on")
    raise_ports("p1", "p2")
    time.sleep(2)
    out = packet_socket("p1")
    chosen, before = [], counted("p2")
    for number in range(FRAMES):
        if number == SETTLED:
            before = counted("p2")
        elif number > SETTLED and number % 100 == 0:
            chosen.append(coalescing("p2")["rx-usecs"])
        out.send(data_frame(FRAME_LEN))
    after = counted("p2")
    interrupts, frames = (after[name] - before[name] for name in ("interrupts", "rx_wire_frames"))
    print(json.dumps({"interrupts": interrupts, "frames": frames, "chosen": chosen}))


main()
