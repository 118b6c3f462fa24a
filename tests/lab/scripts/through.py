"""Inside the lab: frames through a module and back, p1 = p2 (through) p3 = p4.

Arguments: commands for a shell, run when all ports are up; "tap" for packet sockets on p2 and p3. Prints what
p1 and p4 have sent; of each frame that came to the other one what it was and how long after it was handed
over; what the packet sockets saw, in order; and what p2 has counted.
"""

import json
import socket
import struct
import subprocess
import sys
import time

from inside import (
    PACKET_OUTGOING,
    SO_TIMESTAMPNS,
    SOL_PACKET,
    data_frame,
    make_node,
    own_stats,
    packet_socket,
    raise_ports,
    run,
    watching_socket,
)

PACKET_AUXDATA, TP_STATUS_VLAN_VALID = 8, 0x10
NS_PER_S = 1_000_000_000
TAG = bytes.fromhex("81006007")  # IEEE 802.1Q: priority 3, VLAN 7


def watching(port: str) -> socket.socket:
    """A socket that sees all that passes a port, when, and with which tag."""
    made = watching_socket(port)
    made.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
    return made


def seen(sniffer: socket.socket) -> list[tuple[int, bytes, bool]]:
    """When each frame passed, what it was, and whether it went out."""
    frames: list[tuple[int, bytes, bool]] = []
    while True:
        try:
            frame, ancillary, _, address = sniffer.recvmsg(2048, 256)
        except BlockingIOError:
            return frames
        data = {kind: value for _, kind, value in ancillary}
        seconds, nanoseconds = struct.unpack("=qq", data[SO_TIMESTAMPNS])
        # struct tpacket_auxdata: status, len, snaplen, mac, net, vlan_tci, vlan_tpid
        status, *_, tci, tpid = struct.unpack("=IIIHHHH", data[PACKET_AUXDATA])
        if status & TP_STATUS_VLAN_VALID:
            frame = frame[:12] + struct.pack("!HH", tpid, tci) + frame[12:]
        frames.append((seconds * NS_PER_S + nanoseconds, frame, address[2] == PACKET_OUTGOING))


def main() -> None:
    """See above."""
    make_node("through")
    raise_ports("p1", "p2", "p3", "p4")
    time.sleep(1)
    commands = [word for word in sys.argv[1:] if word != "tap"]
    for command in commands:
        subprocess.run(["sh", "-euc", command], check=True)
    ends = {port: watching(port) for port in ("p1", "p4")}
    taps = {port: watching(port) for port in ("p2", "p3") if "tap" in sys.argv[1:]}
    plain = [data_frame(length)[:14] + bytes([length % 256]) * (length - 14) for length in (60, 61, 1514)]
    frames = [*plain, *(frame[:12] + TAG + frame[12:] for frame in plain)]
    for port in ends:
        out = packet_socket(port)
        for frame in frames:
            out.send(frame)
            time.sleep(0.001)
    passed = {port: seen(end) for port, end in ends.items()}
    arrived = {}
    for sender, receiver in (("p1", "p4"), ("p4", "p1")):
        left = {frame: at_ns for at_ns, frame, outgoing in passed[sender] if outgoing}
        came = [(at_ns, frame) for at_ns, frame, outgoing in passed[receiver] if not outgoing]
        arrived[receiver] = [(frame.hex(), at_ns - left.get(frame, at_ns)) for at_ns, frame in came]
    [link] = json.loads(run("ip", "-s", "-s", "-j", "link", "show", "p2"))
    told = {
        "sent": [frame.hex() for frame in frames],
        "arrived": arrived,
        "tapped": {port: [(frame.hex(), out) for _, frame, out in seen(tap)] for port, tap in taps.items()},
        "p2": own_stats("p2"),
        "no_handler": link["stats64"]["rx"].get("nohandler", 0),
    }
    print(json.dumps(told))


main()
