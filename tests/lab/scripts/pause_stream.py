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
import subprocess
import sys
import time
from pathlib import Path

ETH_P_ALL = 3
SO_TIMESTAMPNS = 35
SO_RCVBUFFORCE = 33
STREAM_S = 0.004
SENDERS = 8  # one alone sends 400 000 frames a second at the most
LEAD_S = 0.1  # opening a packet socket waits for the kernel's next tick
PAUSE = 0x8808
DATA = 0x88B5  # IEEE 802 local experimental EtherType 1


def make_ports(speed_mbps: int, delay_ns: int, reaction_ns: int) -> None:
    """Two ports and a cable, without any addresses: nobody but this script sends."""
    Path("/proc/sys/net/ipv6/conf/default/disable_ipv6").write_text("1")
    batch = "link add name p1 type etherport\nlink add link p1 name p2 type etherport\n"
    subprocess.run(["ip", "-batch", "-"], input=batch, text=True, check=True)
    for port in ("p1", "p2"):
        link = ["ethtool", "-s", port, "speed", str(speed_mbps), "duplex", "full", "autoneg", "off"]
        subprocess.run(link, check=True)
        subprocess.run(["ethtool", "-A", port, "rx", "on", "tx", "off"], check=True)
    Path("/sys/class/net/p1/etherport/cable_delay_ns").write_text(str(delay_ns))
    Path("/sys/class/net/p1/etherport/pause_reaction_ns").write_text(str(reaction_ns))
    for port in ("p1", "p2"):
        subprocess.run(["ip", "link", "set", port, "up"], check=True)


def packet_socket(port: str, protocol: int) -> socket.socket:
    """A raw socket on one port."""
    made = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(protocol))
    made.bind((port, protocol))
    return made


def stream(out: socket.socket, frame_len: int, count: int, start_s: float) -> None:
    """Send frames as fast as the port takes them, in processes of their own."""
    frame = bytes(6) + b"\x02\0\0\0\0\1" + struct.pack("!H", DATA) + bytes(frame_len - 14)
    for number in range(SENDERS):
        if os.fork() == 0:
            time.sleep(start_s - time.monotonic())
            for _ in range(number, count, SENDERS):
                out.send(frame)
            os._exit(0)


def pause_frame(quanta: int) -> bytes:
    """IEEE 802.3 Annex 31B."""
    head = bytes.fromhex("0180c2000001 020000000002")
    return head + struct.pack("!HHH", PAUSE, 1, quanta) + bytes(42)


def sniff(sniffer: socket.socket) -> tuple[list[list[int]], list[int]]:
    """Everything that passed p2, by kind."""
    pauses: list[list[int]] = []
    arrivals: list[int] = []
    sniffer.settimeout(0)
    while True:
        try:
            frame, ancillary, _, _ = sniffer.recvmsg(64, 64)
        except BlockingIOError:
            return pauses, arrivals
        seconds, nanoseconds = struct.unpack("=qq", ancillary[0][2])
        at_ns = seconds * 1_000_000_000 + nanoseconds
        kind, _, quanta = struct.unpack_from("!HHH", frame, 12)
        if kind == PAUSE:
            pauses.append([at_ns, quanta])
        elif kind == DATA:
            arrivals.append(at_ns)


def main() -> None:
    """See above."""
    speed_mbps, frame_len, delay_ns, reaction_ns = (int(word) for word in sys.argv[1:5])
    injections = [tuple(map(int, word.split(":"))) for word in sys.argv[5:]]
    make_ports(speed_mbps, delay_ns, reaction_ns)
    sniffer = packet_socket("p2", ETH_P_ALL)
    sniffer.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 128 << 20)
    sniffer.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    injector, out = packet_socket("p2", 0), packet_socket("p1", 0)
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
