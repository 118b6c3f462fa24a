"""Inside the lab: two ends in half duplex send as fast as they can, and are told full duplex, and back.

Argument: how often. Prints when frames of p1 came to p2, in ns.
"""

import json
import socket
import subprocess
import sys
import time

from inside import DATA, force_link, make_pair, next_stamped, raise_ports, stamping_socket

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
    force_link("p1", "p2", speed_mbps=10, duplex=word)


def arrivals(sniffer: socket.socket) -> list[int]:
    """When each came."""
    told: list[int] = []
    sniffer.settimeout(0)
    while True:
        try:
            at_ns, _, is_outgoing = next_stamped(sniffer)
        except BlockingIOError:
            return told
        if not is_outgoing:
            told.append(at_ns)


def main() -> None:
    """See above."""
    make_pair(speed_mbps=10, duplex="half")
    raise_ports("p1", "p2")
    time.sleep(2)
    sniffer = stamping_socket("p2", DATA)
    senders = [subprocess.Popen(["python3", "-B", "-c", SENDER, port]) for port in ("p1", "p2")]
    for number in range(int(sys.argv[1])):
        time.sleep(0.05 + number * 0.000_123)
        duplex("full")
        time.sleep(0.01)
        duplex("half")
    for sender in senders:
        sender.kill()
    print(json.dumps({"arrivals": arrivals(sniffer)}))


main()
