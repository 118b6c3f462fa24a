"""Inside the lab: two ends in half duplex send as fast as they can, and their link changes again and again.

Arguments: what happens, ``full`` (both ends are told to, and back) or ``down`` (p2 is set down, and up), and
how often. Prints for each time what each end's counters have gained since by the time that the link has been
over for 0.1 s, and the frames that wait in its ring then; and when frames of p1 came to p2, in ns.
"""

import json
import socket
import struct
import subprocess
import sys
import time

from inside import DATA, make_pair, own_stats, packet_socket, raise_ports, run

SPEED_MBPS = 10
SO_TIMESTAMPNS, SO_RCVBUFFORCE = 35, 33
SENDER = (
    "import sys, time\n"
    "from inside import data_frame, packet_socket\n"
    "out = packet_socket(sys.argv[1])\n"
    "while True:\n"
    "    try: out.send(data_frame(1514))\n"
    "    except OSError: time.sleep(0.001)\n"
)


def duplex(word: str) -> None:
    """Both ends."""
    for port in ("p1", "p2"):
        run("ethtool", "-s", port, "speed", str(SPEED_MBPS), "duplex", word, "autoneg", "off")


def arrivals(sniffer: socket.socket) -> list[int]:
    """When frames of p1 came to p2."""
    told: list[int] = []
    sniffer.settimeout(0)
    while True:
        try:
            _, ancillary, _, address = sniffer.recvmsg(64, 64)
        except BlockingIOError:
            return told
        seconds, nanoseconds = struct.unpack("=qq", ancillary[0][2])
        if address[2] != socket.PACKET_OUTGOING:
            told.append(seconds * 1_000_000_000 + nanoseconds)


def main() -> None:
    """See above."""
    what, times = sys.argv[1], int(sys.argv[2])
    make_pair(speed_mbps=SPEED_MBPS)
    duplex("half")
    raise_ports("p1", "p2")
    time.sleep(2)
    sniffer = packet_socket("p2", DATA)
    sniffer.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 64 << 20)
    sniffer.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    senders = [subprocess.Popen(["python3", "-B", "-c", SENDER, port]) for port in ("p1", "p2")]
    gained = []
    for number in range(times):
        time.sleep(0.05 + number * 0.000_123)
        if what == "full":
            duplex("full")
            time.sleep(0.01)
            duplex("half")
            continue
        run("ip", "link", "set", "p2", "down")
        before = [own_stats(port)["tx_frames"] for port in ("p1", "p2")]
        time.sleep(0.1)
        after = [own_stats(port) for port in ("p1", "p2")]
        gained.append(
            [
                [end["tx_frames"] - sent, end["tx_ring_frames"]]
                for end, sent in zip(after, before, strict=True)
            ]
        )
        run("ip", "link", "set", "p2", "up")
    for sender in senders:
        sender.kill()
    print(json.dumps({"gained": gained} if gained else {"arrivals": arrivals(sniffer)}))


main()
