"""Inside the lab: what DIM makes of a port that sends all the time.

Prints what `ethtool -c` said of sending every hundred frames.
"""

import json
import re
import time

from inside import data_frame, make_pair, packet_socket, raise_ports, run, setting

FRAMES = 6000


def main() -> None:
    """See above."""
    make_pair(speed_mbps=10000)
    setting("p1", "rx_adaptive", "dim")
    run("ethtool", "-C", "p1", "adaptive-tx", "on")
    raise_ports("p1", "p2")
    time.sleep(2)
    out = packet_socket("p1")
    chosen = []
    for number in range(FRAMES):
        out.send(data_frame())
        if number % 100 == 0:
            told = run("ethtool", "-c", "p1")
            chosen.append(re.findall(r"^tx-(?:usecs|frames):\s*(\d+)", told, re.MULTILINE))
    print(json.dumps({"chosen": [[int(number) for number in pair] for pair in chosen]}))


main()
