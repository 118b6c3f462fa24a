"""Inside the lab: a datagram whose sender asks when it was handed to the port, by software.

Prints what `ethtool -T` says the port can do, and that instant in nanoseconds after it was sent; null if none
came.
"""

import json
import socket
import struct
import time

from inside import make_way, run

SO_TIMESTAMPING = 37
TX_SOFTWARE, SOFTWARE, ONLY_TIMESTAMP = 1 << 1, 1 << 4, 1 << 11


def main() -> None:
    """See above."""
    make_way()
    out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    out.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPING, TX_SOFTWARE | SOFTWARE | ONLY_TIMESTAMP)
    sent_ns = time.clock_gettime_ns(time.CLOCK_REALTIME)
    out.sendto(bytes(1000), ("10.0.0.2", 9))
    time.sleep(0.1)
    after_ns = None
    try:
        _, ancillary, _, _ = out.recvmsg(64, 512, socket.MSG_ERRQUEUE)
    except BlockingIOError:
        ancillary = []
    for level, kind, data in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, SO_TIMESTAMPING):
            seconds, nanoseconds = struct.unpack_from("=qq", data)
            after_ns = seconds * 1_000_000_000 + nanoseconds - sent_ns
    able = "software-transmit" in run("ethtool", "-T", "p1")
    print(json.dumps({"able": able, "after_ns": after_ns}))


main()
