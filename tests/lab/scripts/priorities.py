"""Inside the lab: PFC for priority 3, frames that a VLAN tag gives it, and a host that is deaf for 0.2 s.

Arguments: the tag's protocol, `802.1ad` for example; who writes it, the VLAN's `device` or the `sender`, or
`nested`: a device, outside of another tag, of priority 1; the duplex. p1 sends more than p2's buffer holds
below XOFF. Prints whether it held more than that, for which priorities p2 asked for silence, and whether all
frames came all the same. Later p2's host makes a PFC frame itself: how many p1 hears; whether any that it
heard counts for a priority; whether it is silent for that one.
"""

from __future__ import annotations

import json
import struct
import sys
import time

from inside import (
    PAUSE,
    data_frame,
    make_pair,
    own_stats,
    packet_socket,
    pause_frame,
    raise_ports,
    run,
    setting,
)

PRIORITY, VLAN = 3, 5
TYPES = {"802.1Q": 0x8100, "802.1ad": 0x88A8}
XOFF, XON = 40_000, 20_000
COUNT = 55
LENGTH = 1510  # a packet socket has no room for the tag of a provider beside
OPCODE_PFC = 0x0101


def prepare(proto: str, duplex: str) -> None:
    """p1 and p2, and v1, which is p1's VLAN."""
    make_pair("numtxqueues", "8", speed_mbps=100)
    for port in ("p1", "p2"):
        run("ethtool", "-s", port, "duplex", duplex)
        run("dcb", "pfc", "set", "dev", port, "prio-pfc", f"{PRIORITY}:on")
    run("ethtool", "-C", "p2", "rx-usecs", "200000")
    run("ethtool", "-G", "p2", "rx", "4")
    setting("p2", "xoff_bytes", XOFF)
    setting("p2", "xon_bytes", XON)
    tag = ("proto", proto, "id", str(VLAN), "egress-qos-map", f"0:{PRIORITY}")
    run("ip", "link", "add", "link", "p1", "name", "v1", "type", "vlan", *tag)
    inner = ("proto", "802.1Q", "id", str(VLAN), "egress-qos-map", "0:1")
    run("ip", "link", "add", "link", "v1", "name", "v2", "type", "vlan", *inner)
    raise_ports("p1", "p2", "v1", "v2")
    time.sleep(2)


def tagged_frame(proto: str) -> bytes:
    """As the VLAN's device makes it."""
    frame = data_frame(LENGTH)
    return frame[:12] + struct.pack("!HH", TYPES[proto], PRIORITY << 13 | VLAN) + frame[12:]


def pfc_frame(quanta: int) -> bytes:
    """IEEE 802.1Q clause 36: of one priority."""
    times = (quanta if priority == PRIORITY else 0 for priority in range(8))
    return pause_frame(0)[:12] + struct.pack("!HHH8H", PAUSE, OPCODE_PFC, 1 << PRIORITY, *times) + bytes(26)


def pfc_counts(port: str) -> dict[str, list[int]]:
    """What dcb counts of each priority."""
    told: dict[str, list[int]] = json.loads(run("dcb", "-s", "-j", "pfc", "show", "dev", port))
    return told


def obedience() -> tuple[int, int]:
    """What p1 has heard, and for how long it has been silent."""
    counted = own_stats("p1")
    return counted["rx_pfc_frames"], counted[f"tx_paused_ns_prio{PRIORITY}"]


def main() -> None:
    """See above."""
    proto, writer, duplex = sys.argv[1:]
    prepare(proto, duplex)
    out = packet_socket({"sender": "p1", "device": "v1", "nested": "v2"}[writer])
    for _ in range(COUNT):
        out.send(tagged_frame(proto) if writer == "sender" else data_frame(LENGTH))
    time.sleep(0.05)
    deaf = own_stats("p2")
    requests = pfc_counts("p2")["requests"]
    time.sleep(1)
    heard_before, silent_before_ns = obedience()
    packet_socket("p2").send(pfc_frame(0xFFFF))
    time.sleep(0.01)
    heard, silent_ns = obedience()
    told = {
        "above_xoff": deaf["buffer_high_water_bytes"] > XOFF,
        "asked": [priority for priority, count in enumerate(requests) if count],
        "all_came": deaf["rx_wire_frames"] == COUNT,
        "heard": heard - heard_before,
        "heeded": any(pfc_counts("p1")["indications"]),
        "obeyed": silent_ns > silent_before_ns,
    }
    print(json.dumps(told))


main()
