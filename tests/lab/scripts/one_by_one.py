"""Inside the lab: single frames from p1 to p2, each given to the port some time after the one before.

Arguments: speed in Mbit/s, cable delay in ns, then the times in ns that a sender waits between a frame and
the next. Prints ``{"pairs": [[given_ns, arrived_ns], ...]}``, in nanoseconds of one clock: before the second
frame of each pair was given to p1, and when its last bit had come to p2.
"""

import json
import sys
import time

from inside import DATA, data_frame, make_pair, next_stamped, packet_socket, raise_ports, stamping_socket


def main() -> None:
    """See above."""
    speed_mbps, delay_ns, *gaps_ns = map(int, sys.argv[1:])
    make_pair(speed_mbps=speed_mbps, delay_ns=delay_ns)
    raise_ports("p1", "p2")
    time.sleep(2)
    sniffer, out = stamping_socket("p2", DATA), packet_socket("p1", bypass=True)
    told = []
    for gap_ns in gaps_ns:
        time.sleep(0.001)
        out.send(data_frame(60))
        past_ns = time.clock_gettime_ns(time.CLOCK_REALTIME) + gap_ns
        while (given_ns := time.clock_gettime_ns(time.CLOCK_REALTIME)) < past_ns:
            pass
        out.send(data_frame(60))
        next_stamped(sniffer)
        arrived_ns, _, _ = next_stamped(sniffer)
        told.append([given_ns, arrived_ns])
    print(json.dumps({"pairs": told}))


main()
