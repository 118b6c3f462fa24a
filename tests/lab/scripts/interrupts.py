"""Inside the lab: how late single frames are, and how often a stream of frames interrupts.

Arguments: Mbit/s, how many frames the stream has, then settings: `rx_moderation=interval` is a file of the
port's own, `rx-usecs=20` an option of `ethtool -C`. Prints how late each of five frames was, some
milliseconds apart, how many interrupts the stream made in how long, and what `ethtool -c` said every
hundred frames of it.
"""

import json
import sys
import time

from at_once import coalescing, counted
from inside import DATA, data_frame, make_pair, packet_socket, raise_ports, run, setting

FRAME_LEN = 1514
APART_S = 0.005


def main() -> None:
    """See above."""
    speed, count, *settings = sys.argv[1:]
    make_pair(speed_mbps=int(speed))
    for name, _, value in (text.partition("=") for text in settings):
        if "_" in name:
            setting("p2", name, value)
        else:
            run("ethtool", "-C", "p2", name, value)
    begun = coalescing("p2")
    raise_ports("p1", "p2")
    time.sleep(2)
    out, into = packet_socket("p1"), packet_socket("p2", DATA)
    late_ns = []
    for _ in range(5):
        time.sleep(APART_S)
        sent_ns = time.monotonic_ns()
        out.send(data_frame(FRAME_LEN))
        into.recv(FRAME_LEN)
        late_ns.append(time.monotonic_ns() - sent_ns)
    into.close()
    time.sleep(APART_S)
    idle, before = coalescing("p2"), counted("p2")
    chosen = []
    sent_ns = time.monotonic_ns()
    for number in range(int(count)):
        out.send(data_frame(FRAME_LEN))
        if number % 100 == 0:
            chosen.append(coalescing("p2"))
    busy, after = coalescing("p2"), counted("p2")
    took_ns = time.monotonic_ns() - sent_ns
    facts = {
        "begun": begun,
        "idle": idle,
        "busy": busy,
        "chosen": chosen,
        "late_ns": late_ns,
        "took_ns": took_ns,
    }
    interrupts, frames = (after[name] - before[name] for name in ("interrupts", "rx_frames"))
    print(json.dumps({**facts, "interrupts": interrupts, "frames": frames}))


main()
