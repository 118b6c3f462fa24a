"""Inside the lab: a frame with the marks PCP 5 and DSCP 46 crosses two switches; who gets it, and how.

The sender and h2 have tags of VLAN 10, h3 is at an access port of VLAN 10, h4 at one of VLAN 20. Prints one
line of JSON: VLAN, PCP and DSCP for each that has got it.
"""

import json
import socket
import struct
import subprocess
import time

PORTS = {"h1": "w1", "t1": "t2", "h2": "w2", "h3": "w3", "h4": "w4"}
VLANS = {
    "br1": {"w1": "vlan_mode=trunk trunks=10", "t1": "vlan_mode=trunk trunks=10,20"},
    "br2": {
        "t2": "vlan_mode=trunk trunks=10,20",
        "w2": "vlan_mode=trunk trunks=10",
        "w3": "vlan_mode=access tag=10",
        "w4": "vlan_mode=access tag=20",
    },
}
VLAN, PCP, DSCP = 10, 5, 46
PAYLOAD = b"which marks are left of it"
PACKET_AUXDATA = 8


def run(line: str) -> None:
    """One command."""
    subprocess.run(line.split(), check=True)


for one, other in PORTS.items():
    run(f"ip link add name {one} type etherport")
    run(f"ip link add link {one} name {other} type etherport")
for bridge, ports in VLANS.items():
    run(f"ovs-vsctl add-br {bridge}")
    for port, vlans in ports.items():
        run(f"ovs-vsctl add-port {bridge} {port} -- set port {port} {vlans}")
    run(f"ip link set {bridge} up")
for name in (*PORTS, *PORTS.values()):
    run(f"ip link set {name} up")
time.sleep(2)

listeners = {}
for name in ("h2", "h3", "h4"):
    listener = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    listener.setsockopt(263, PACKET_AUXDATA, 1)  # SOL_PACKET
    listener.bind((name, 3))
    listener.settimeout(1)
    listeners[name] = listener

header = struct.pack(
    "!BBHHHBBH4s4s", 0x45, DSCP << 2, 20 + len(PAYLOAD), 0, 0, 64, 253, 0, b"\n\0\0\1", b"\n\0\0\2"
)
tag = struct.pack("!HH", 0x8100, PCP << 13 | VLAN)
frame = b"\xff" * 6 + b"\2\0\0\0\0\1" + tag + b"\x08\0" + header + PAYLOAD
with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as sender:
    sender.bind(("h1", 0))
    sender.send(frame)

arrived = {}
for name, listener in listeners.items():
    try:
        while True:
            data, extra, *_ = listener.recvmsg(2000, 100)
            if PAYLOAD in data:
                # struct tpacket_auxdata: status, len, snaplen, mac, net, vlan_tci, vlan_tpid
                status, *_, tci, _ = struct.unpack("=IIIHHHH", extra[0][2])
                has_tag = bool(status & 0x10)  # TP_STATUS_VLAN_VALID
                arrived[name] = [tci & 0xFFF, tci >> 13, data[15] >> 2] if has_tag else [0, 0, data[15] >> 2]
    except TimeoutError:
        pass
print(json.dumps(arrived))
