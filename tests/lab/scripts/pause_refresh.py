"""Inside the lab: a receiver that takes nothing for a while, and what its port does about the sender.

Arguments: speed in Mbit/s, pause quanta, seconds that the receiver stays deaf (its interrupt moderation), the
room of its buffer above XOFF in bytes, and the time in ns that p1 takes to obey.
p1 sends more than p2's ring and buffer hold below XOFF. Prints what p2 counted while it was deaf.
"""

import json
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

from inside import own_stats, setting

CABLE_DELAY_NS = 500
XOFF, XON = 40_000, 20_000
FRAME = 1514
RING = 4
COUNT = 55  # more than fits below XOFF, and what is left over fits the next time


def main() -> None:
    """See above."""
    speed_mbps, quanta, deaf_s = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
    headroom, reaction_ns = int(sys.argv[4]), int(sys.argv[5])
    Path("/proc/sys/net/ipv6/conf/default/disable_ipv6").write_text("1")
    batch = "link add name p1 type etherport\nlink add link p1 name p2 type etherport\n"
    subprocess.run(["ip", "-batch", "-"], input=batch, text=True, check=True)
    for port in ("p1", "p2"):
        link = ["ethtool", "-s", port, "speed", str(speed_mbps), "duplex", "full", "autoneg", "off"]
        subprocess.run(link, check=True)
        subprocess.run(["ethtool", "-A", port, "rx", "on", "tx", "on"], check=True)
    subprocess.run(["ethtool", "-C", "p2", "rx-usecs", str(int(deaf_s * 1e6))], check=True)
    subprocess.run(["ethtool", "-G", "p2", "rx", str(RING)], check=True)
    setting("p1", "cable_delay_ns", CABLE_DELAY_NS)
    setting("p1", "pause_reaction_ns", reaction_ns)
    for name, value in (
        ("buffer_bytes", XOFF + headroom),
        ("xoff_bytes", XOFF),
        ("xon_bytes", XON),
        ("pause_quanta", quanta),
    ):
        setting("p2", name, value)
    for port in ("p1", "p2"):
        subprocess.run(["ip", "link", "set", port, "promisc", "on", "up"], check=True)
    time.sleep(2)  # the kernel gives a port its queue some time after the carrier

    out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    out.bind(("p1", 0))
    out.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
    frame = bytes(6) + b"\x02\0\0\0\0\1" + struct.pack("!H", 0x88B5) + bytes(FRAME - 14)
    wire_s = (FRAME + 24) * 8 / (speed_mbps * 1e6)
    start_s = time.monotonic()
    for _ in range(COUNT):
        out.send(frame)
    # Silence is certain when everything below XOFF has come, and a frame or two more.
    time.sleep((XOFF / FRAME + RING + 8) * wire_s)
    quiet = own_stats("p2")
    time.sleep(start_s + 0.95 * deaf_s - time.monotonic())
    late = own_stats("p2")
    time.sleep(deaf_s)
    done = own_stats("p2")
    measured = {
        "held_s": own_stats("p1")["tx_paused_ns"] / 1e9,
        "pause_frames": done["tx_pause_frames"],
        "frames_while_held": late["rx_wire_frames"] - quiet["rx_wire_frames"],
        "dropped": done["rx_dropped_buffer"],
        "high_water_bytes": done["buffer_high_water_bytes"],
        "xoff_bytes": XOFF,
        "cable_delay_ns": CABLE_DELAY_NS,
    }
    print(json.dumps(measured))


main()
