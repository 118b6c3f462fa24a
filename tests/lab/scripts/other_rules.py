"""Inside the lab: a frame from p1 waits for an interrupt of p1 or p2 by one rule, then another is set.

Arguments: `ethtool` and its options for the first rule, `then`, and those for the second; or a port, the name
of one of its attributes and what is written there. Prints for before the second and a millisecond after how
many frames p2's stack had got, and whether the sender was still charged for its own.
"""

import json
import socket
import sys
import time

from inside import charged, data_frame, make_pair, own_stats, packet_socket, raise_ports, run, setting


def set_rule(words: list[str]) -> None:
    """A rule as it is told in the arguments."""
    if words[0] == "ethtool":
        run(*words)
    else:
        setting(*words)


def seen(out: socket.socket) -> tuple[int, bool]:
    """What is printed, of one instant or nearly so."""
    return own_stats("p2")["rx_frames"], charged(out)


def main() -> None:
    """See above."""
    arguments = sys.argv[1:]
    then = arguments.index("then")
    make_pair()
    set_rule(arguments[:then])
    raise_ports("p1", "p2")
    time.sleep(2)
    out = packet_socket("p1")
    out.send(data_frame())
    time.sleep(0.01)
    before = seen(out)
    set_rule(arguments[then + 1 :])
    time.sleep(0.001)
    received, is_charged = zip(before, seen(out), strict=True)
    print(json.dumps({"received": received, "charged": is_charged}))


main()
