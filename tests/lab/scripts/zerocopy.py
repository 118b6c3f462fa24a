"""Inside the lab: when a sender has its pages back, over a long cable to a card that is slow to interrupt.

Arguments: the cable's delay in ns and the receiver's rx-usecs. Prints after how many nanoseconds a slot of a
TX ring (packet(7), version 2) was free; whether what came had been in it, though that was written over
at once; and after how many a datagram of MSG_ZEROCOPY was told of.
"""

import json
import mmap
import socket
import struct
import sys
import time

from inside import DATA, SOL_PACKET, data_frame, make_way, packet_socket, run, setting

PACKET_VERSION, PACKET_TX_RING = 10, 13
VERSION_2, SLOT_BYTES, HEADER_BYTES = 1, 2048, 32
SEND_REQUEST = 1
SO_ZEROCOPY, MSG_ZEROCOPY = 60, 0x4000000
PATIENCE_NS = 200_000_000


def slot_ns() -> tuple[int, bool]:
    """When the slot of a frame was free, and whether the frame came as it was."""
    out = packet_socket("p1")
    out.setsockopt(SOL_PACKET, PACKET_VERSION, struct.pack("i", VERSION_2))
    out.setsockopt(SOL_PACKET, PACKET_TX_RING, struct.pack("4I", mmap.PAGESIZE, 1, SLOT_BYTES, 2))
    into = packet_socket("p2", DATA)
    frame = data_frame(1014)[:14] + b"as it was " * 100
    with mmap.mmap(out.fileno(), mmap.PAGESIZE) as ring:
        ring[HEADER_BYTES : HEADER_BYTES + len(frame)] = frame
        struct.pack_into("III", ring, 0, SEND_REQUEST, len(frame), len(frame))
        sent_ns = time.monotonic_ns()
        out.sendto(b"", socket.MSG_DONTWAIT, ("p1", DATA))
        while struct.unpack_from("I", ring)[0] and time.monotonic_ns() - sent_ns < PATIENCE_NS:
            time.sleep(1e-6)
        free_ns = time.monotonic_ns() - sent_ns
        ring[HEADER_BYTES : HEADER_BYTES + len(frame)] = bytes(len(frame))
        return free_ns, into.recv(2048) == frame


def told_ns() -> int:
    """When the sender of a datagram heard that its pages are its own again."""
    out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    out.setsockopt(socket.SOL_SOCKET, SO_ZEROCOPY, 1)
    out.connect(("10.0.0.2", 9))
    sent_ns = time.monotonic_ns()
    out.send(bytes(1400), MSG_ZEROCOPY)
    while time.monotonic_ns() - sent_ns < PATIENCE_NS:
        try:
            out.recvmsg(10, 512, socket.MSG_ERRQUEUE)
            break
        except BlockingIOError:
            time.sleep(1e-6)
    return time.monotonic_ns() - sent_ns


def main() -> None:
    """See above."""
    delay_ns, rx_usecs = sys.argv[1:]
    make_way()
    setting("p1", "cable_delay_ns", delay_ns)
    run("ethtool", "-C", "p2", "rx-usecs", rx_usecs)
    free_ns, whole = slot_ns()
    print(json.dumps({"free_ns": free_ns, "whole": whole, "told_ns": told_ns()}))


main()
