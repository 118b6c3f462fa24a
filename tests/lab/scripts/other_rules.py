"""Inside the lab: a frame waits for an interrupt by one rule, then another is set.

Arguments: `ethtool` and its options for the first rule, `then`, and those for the second. Prints how many
frames the stack had got before it and a millisecond after.
"""

import json
import sys
import time

from inside import data_frame, make_pair, own_stats, packet_socket, raise_ports, run


def main() -> None:
    """See above."""
    arguments = sys.argv[1:]
    then = arguments.index("then")
    make_pair()
    run(*arguments[:then])
    raise_ports("p1", "p2")
    time.sleep(2)
    packet_socket("p1").send(data_frame())
    time.sleep(0.01)
    before = own_stats("p2")["rx_frames"]
    run(*arguments[then + 1 :])
    time.sleep(0.001)
    print(json.dumps({"before": before, "after": own_stats("p2")["rx_frames"]}))


main()
