"""Inside the lab: p1, in half duplex, is told full duplex in the gap behind its own frame; another one waits.

Arguments: how long after the end of the first frame, in ns. Prints how far apart the two came to p2, in ns.
"""

import array
import fcntl
import json
import socket
import struct
import sys
import time

from inside import (
    DATA,
    data_frame,
    force_link,
    make_pair,
    next_stamped,
    packet_socket,
    raise_ports,
    stamping_socket,
)

SIOCETHTOOL, ETHTOOL_SSET = 0x8946, 2
SPEED_MBPS = 10
FULL = 1


def set_full_duplex(control: socket.socket, port: str) -> None:
    """No program: to start one takes longer than the gap (struct ethtool_cmd, linux/ethtool.h)."""
    settings = struct.pack("=3I H 6B 2I H 2B 3I", ETHTOOL_SSET, 0, 0, SPEED_MBPS, FULL, *[0] * 13)
    command = array.array("B", settings)
    address, _ = command.buffer_info()
    fcntl.ioctl(control, SIOCETHTOOL, struct.pack("16sP16x", port.encode(), address))


def main() -> None:
    """See above."""
    make_pair(speed_mbps=SPEED_MBPS, duplex="half")
    raise_ports("p1", "p2")
    time.sleep(2)
    sniffer = stamping_socket("p2", DATA)
    out = packet_socket("p1", bypass=True)
    control = socket.socket()
    gaps_ns = []
    for after_ns in map(int, sys.argv[1:]):
        for _ in range(2):
            out.send(data_frame())
        first_ns, _, _ = next_stamped(sniffer)
        while time.time_ns() < first_ns + after_ns:
            pass
        set_full_duplex(control, "p1")
        gaps_ns.append(next_stamped(sniffer)[0] - first_ns)
        force_link("p1", speed_mbps=SPEED_MBPS, duplex="half")
    print(json.dumps({"gaps_ns": gaps_ns}))


main()
