"""Inside the lab: a saturated stream from p1 to p2, PAUSE frames thrown in from p2, every instant reported.

Arguments: speed in Mbit/s, frame length in octets without FCS, cable delay in ns, the time in ns that p1
takes to obey, then one ``<microseconds>:<quanta>`` for each PAUSE frame that p2 sends, counted from the start
of the stream.
Prints ``{"pauses": [[sent_ns, quanta]...], "arrivals": [ns...]}`` in nanoseconds of one clock: when the
first bit of each PAUSE frame left p2, and when the last bit of each data frame had come to p2.
"""

import json
import os
import socket
import struct
import sys
import time

from inside import (
    DATA,
    ETH_P_ALL,
    PAUSE,
    data_frame,
    make_pair,
    next_stamped,
    packet_socket,
    pause_frame,
    raise_ports,
    setting,
    stamping_socket,
)

STREAM_S = 0.004
SENDERS = 8  # one alone sends 400 000 frames a second at the most
LEAD_S = 0.1  # opening a packet socket waits for the kernel's next tick


def stream(out: socket.socket, frame_len: int, count: int, start_s: float) -> None:
    """Send frames as fast as the port takes them, in processes of their own."""
    frame = data_frame(frame_len)
    for number in range(SENDERS):
        if os.fork() == 0:
            time.sleep(start_s - time.monotonic())
            for _ in range(number, count, SENDERS):
                out.send(frame)
            os._exit(0)


def sniff(sniffer: socket.socket) -> tuple[list[list[int]], list[int]]:
    """Everything that passed p2, by kind."""
    pauses: list[list[int]] = []
    arrivals: list[int] = []
    sniffer.settimeout(0)
    while True:
        try:
            at_ns, frame, _ = next_stamped(sniffer)
        except BlockingIOError:
            return pauses, arrivals
        kind, _, quanta = struct.unpack_from("!HHH", frame, 12)
        if kind == PAUSE:
            pauses.append([at_ns, quanta])
        elif kind == DATA:
            arrivals.append(at_ns)


def main() -> None:
    """See above."""
    speed_mbps, frame_len, delay_ns, reaction_ns = (int(word) for word in sys.argv[1:5])
    injections = [tuple(map(int, word.split(":"))) for word in sys.argv[5:]]
    make_pair(speed_mbps=speed_mbps, delay_ns=delay_ns)
    setting("p1", "pause_reaction_ns", reaction_ns)
    raise_ports("p1", "p2")
    sniffer = stamping_socket("p2", ETH_P_ALL)
    injector, out = packet_socket("p2"), packet_socket("p1")
    start_s = time.monotonic() + LEAD_S
    count = int(STREAM_S * speed_mbps * 1e6 / 8 / (frame_len + 24))
    stream(out, frame_len, count, start_s)
    for at_us, quanta in injections:
        time.sleep(start_s + at_us / 1e6 - time.monotonic())
        injector.send(pause_frame(quanta))
    time.sleep(1)
    pauses, arrivals = sniff(sniffer)
    print(json.dumps({"pauses": pauses, "arrivals": arrivals}))


main()
