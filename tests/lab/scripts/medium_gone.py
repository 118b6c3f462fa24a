"""Inside the lab: p1 waits, in half duplex, for the end of p2's frame, and p2 is set down before that.

Prints what p1 has counted before and 0.1 s after.
"""

import fcntl
import json
import socket
import struct
import time

from inside import data_frame, make_pair, own_stats, packet_socket, raise_ports

SIOCSIFFLAGS, DOWN = 0x8914, 0
SPEED_MBPS = 10
FRAME_S = 1538 * 8 / (SPEED_MBPS * 1e6)


def main() -> None:
    """See above."""
    make_pair(speed_mbps=SPEED_MBPS, duplex="half")
    raise_ports("p1", "p2")
    time.sleep(2)
    before = own_stats("p1")
    ends = [packet_socket(port, bypass=True) for port in ("p1", "p2")]
    control = socket.socket()
    for end in reversed(ends):
        end.send(data_frame(1514))
        time.sleep(FRAME_S / 3)
    # No program: to start one takes longer than the frame.
    fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sh14x", b"p2", DOWN))
    time.sleep(0.1)
    print(json.dumps({"before": before, "after": own_stats("p1")}))


main()
