"""Inside the lab: single frames from p1 to p2, each given to the port some time after the one before.

Arguments: speed in Mbit/s, cable delay in ns, then the times in ns that a sender waits between a frame and
the next. Prints ``{"pairs": [[given_ns, arrived_ns], ...]}``, in nanoseconds of one clock: before the second
frame of each pair was given to p1, and when its last bit had come to p2.
"""

import json
import socket
import struct
import sys
import time

from inside import DATA, data_frame, make_pair, packet_socket, raise_ports

SO_TIMESTAMPNS = 35


def main() -> None:
    """See above."""
    speed_mbps, delay_ns, *gaps_ns = map(int, sys.argv[1:])
    make_pair(speed_mbps=speed_mbps, delay_ns=delay_ns)
    raise_ports("p1", "p2")
    time.sleep(2)
    sniffer, out = packet_socket("p2", DATA), packet_socket("p1", bypass=True)
    sniffer.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    told = []
    for gap_ns in gaps_ns:
        # Not at the instant at which the last one arrived: what is there by then may have waited for that.
        time.sleep(0.001)
        out.send(data_frame(60))
        past_ns = time.clock_gettime_ns(time.CLOCK_REALTIME) + gap_ns
        while (given_ns := time.clock_gettime_ns(time.CLOCK_REALTIME)) < past_ns:
            pass
        out.send(data_frame(60))
        sniffer.recv(64)
        _, ancillary, _, _ = sniffer.recvmsg(64, 64)
        seconds, nanoseconds = struct.unpack("=qq", ancillary[0][2])
        told.append([given_ns, seconds * 1_000_000_000 + nanoseconds])
    print(json.dumps({"pairs": told}))


main()
