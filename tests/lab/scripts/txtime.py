"""Inside the lab: a frame that its sender wanted to leave half a second later crosses a switch with fq.

p1 = p2 (bridge) p3 = p4. The sender's own queue knows nothing of times (SO_TXTIME). Prints after how
many ns the frame came to p4.
"""

import json
import socket
import struct
import time

from inside import (
    DATA,
    data_frame,
    make_bridge,
    next_stamped,
    packet_socket,
    raise_ports,
    run,
    stamping_socket,
)

SO_TXTIME = SCM_TXTIME = 61
LATER_NS = 500_000_000


def main() -> None:
    """See above."""
    make_bridge()
    raise_ports("br0", "p1", "p2", "p3", "p4")
    time.sleep(20)
    run("tc", "qdisc", "replace", "dev", "p1", "root", "pfifo")
    run("tc", "qdisc", "replace", "dev", "p3", "root", "fq")
    into, out = stamping_socket("p4", DATA), packet_socket("p1")
    out.setsockopt(socket.SOL_SOCKET, SO_TXTIME, struct.pack("=iI", time.CLOCK_MONOTONIC, 0))
    sent_ns = time.time_ns()
    due = struct.pack("=Q", time.clock_gettime_ns(time.CLOCK_MONOTONIC) + LATER_NS)
    out.sendmsg([data_frame()], [(socket.SOL_SOCKET, SCM_TXTIME, due)])
    came_ns, _, _ = next_stamped(into)
    print(json.dumps({"after_ns": came_ns - sent_ns}))


main()
