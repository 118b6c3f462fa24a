"""What scripts in a lab need: programs, programs in a namespace, two ports, frames, the counters of a port.

As a program it prints what the ports that are its arguments count, one a line.
"""

from __future__ import annotations

import array
import fcntl
import json
import socket
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

DATA = 0x88B5  # IEEE 802 local experimental EtherType 1
PAUSE = 0x8808
ETH_P_ALL = 3
SOL_PACKET, PACKET_QDISC_BYPASS = 263, 20
SO_TIMESTAMPNS, SO_RCVBUFFORCE = 35, 33
PACKET_OUTGOING = 4
PAUSE_ADDRESS = "0180c2000001"


def run(*argv: str) -> str:
    """Run a command and return what it says."""
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout


def inside(node: str, *argv: str) -> str:
    """Run a command in a network namespace."""
    return run("ip", "netns", "exec", node, *argv)


def stats(node: str, port: str) -> dict[str, int]:
    """All that a port counts in a network namespace: `ethtool -S`, and the standard statistics."""
    return _counters(port, lambda *argv: inside(node, *argv))


def own_stats(port: str) -> dict[str, int]:
    """The same of a port here."""
    return _counters(port, run)


def _counters(port: str, tell: Callable[..., str]) -> dict[str, int]:
    own = (line.partition(":") for line in tell("ethtool", "-S", port).splitlines()[1:])
    [link] = json.loads(tell("ip", "-s", "-j", "link", "show", port))
    [pause] = json.loads(tell("ethtool", "--json", "-I", "-a", port))
    groups = tell("ethtool", "--json", "-S", port, "--groups", "eth-mac", "eth-ctrl", "rmon")
    [standard] = json.loads(groups)
    sent, received = link["stats64"]["tx"], link["stats64"]["rx"]
    return {
        **{name.strip(): int(value) for name, _, value in own},
        **pause["statistics"],
        **standard["eth-mac"],
        **standard["eth-ctrl"],
        **{f"tx_{sizes['low']}": sizes["val"] for sizes in standard["rmon"]["tx-pktsNtoM"]},
        **{f"rx_{sizes['low']}": sizes["val"] for sizes in standard["rmon"]["rx-pktsNtoM"]},
        "tx_frames": sent["packets"],
        "tx_bytes": sent["bytes"],
        "tx_collisions": sent["collisions"],
        "rx_frames": received["packets"],
        "rx_bytes": received["bytes"],
    }


def setting(port: str, name: str, value: object) -> None:
    """Write one of a port's own attributes."""
    Path(f"/sys/class/net/{port}/etherport/{name}").write_text(f"{value}\n")


def force_link(*ports: str, speed_mbps: int, duplex: str = "full") -> None:
    """Set the mode of ports, without autonegotiation."""
    for port in ports:
        run("ethtool", "-s", port, "speed", str(speed_mbps), "duplex", duplex, "autoneg", "off")


def make_cable(one: str, other: str, *options: str, speed_mbps: int, duplex: str = "full") -> None:
    """Two ports with a cable between them, down; ``options`` are what else `ip link add` is told of both."""
    run("ip", "link", "add", "name", one, *options, "type", "etherport")
    run("ip", "link", "add", "link", one, "name", other, *options, "type", "etherport")
    force_link(one, other, speed_mbps=speed_mbps, duplex=duplex)


def make_pair(*options: str, speed_mbps: int = 1000, duplex: str = "full", delay_ns: int = 0) -> None:
    """p1 and p2, a cable as :func:`make_cable` makes it; nobody but a script sends. Both obey PAUSE."""
    Path("/proc/sys/net/ipv6/conf/default/disable_ipv6").write_text("1")
    make_cable("p1", "p2", *options, speed_mbps=speed_mbps, duplex=duplex)
    setting("p1", "cable_delay_ns", delay_ns)


def make_node(role: str) -> None:
    """p1 = p2 and p3 = p4 at 10 Gbit/s, 15 ns of cable, down: p2 and p3 are a node that passes on."""
    Path("/proc/sys/net/ipv6/conf/default/disable_ipv6").write_text("1")
    for host, port in (("p1", "p2"), ("p4", "p3")):
        make_cable(host, port, speed_mbps=10_000)
        setting(host, "cable_delay_ns", 15)
        setting(port, "role", role)


def make_bridge() -> None:
    """p1 = p2 (bridge) p3 = p4, down: p3 is a hundred times slower than p1, and p2 says when to stop."""
    make_pair()
    make_cable("p3", "p4", speed_mbps=10)
    run("ethtool", "-A", "p2", "tx", "on")
    run("ip", "link", "add", "name", "br0", "type", "bridge", "mcast_snooping", "0")
    for port in ("p2", "p3"):
        setting(port, "role", "forward")
        run("ip", "link", "set", port, "master", "br0")


def raise_ports(*ports: str) -> None:
    """Set ports up, those of hosts so that they let in what is for nobody, too."""
    for port in ports:
        role = Path(f"/sys/class/net/{port}/etherport/role")
        takes_all = role.exists() and role.read_text() == "host\n"
        run("ip", "link", "set", port, "promisc", "on" if takes_all else "off", "up")


def make_way() -> None:
    """p1 and p2, up; what is sent to 10.0.0.2 leaves by p1 to an address that nobody has."""
    make_pair()
    run("ip", "address", "add", "10.0.0.1/24", "dev", "p1")
    raise_ports("p1", "p2")
    time.sleep(2)
    run("ip", "neigh", "add", "10.0.0.2", "lladdr", "02:00:00:00:00:02", "dev", "p1", "nud", "permanent")


def fill_bridge(count: int, length: int = 1514) -> None:
    """So many frames into the bridge of :func:`make_bridge`, which is up then: most of them wait."""
    raise_ports("br0", "p1", "p2", "p3", "p4")
    time.sleep(20)
    out = packet_socket("p1")
    for _ in range(count):
        out.send(data_frame(length))
    time.sleep(0.01)


def packet_socket(port: str, protocol: int = 0, *, bypass: bool = False) -> socket.socket:
    """A raw socket on a port: it gets frames with that EtherType, none if it is 0.

    ``bypass`` puts frames into the TX ring, by no queue and as many as there is room for.
    """
    made = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(protocol))
    made.bind((port, protocol))
    made.setsockopt(SOL_PACKET, PACKET_QDISC_BYPASS, bypass)
    return made


def charged(sender: socket.socket) -> bool:
    """Whether frames that it has sent are not done with."""
    octets = array.array("i", [0])
    fcntl.ioctl(sender, termios.TIOCOUTQ, octets)
    return octets[0] > 0


def stamping_socket(port: str, protocol: int) -> socket.socket:
    """A raw socket that has room for many frames with that EtherType, and knows when each passed its port."""
    made = packet_socket(port, protocol)
    made.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 128 << 20)
    made.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    return made


def watching_socket(port: str) -> socket.socket:
    """The same for all that passes a port; it does not wait for more."""
    made = stamping_socket(port, ETH_P_ALL)
    made.settimeout(0)
    return made


def next_stamped(sniffer: socket.socket) -> tuple[int, bytes, bool]:
    """When the next frame passed, in ns of the time of day; how it begins; whether it was on its way out."""
    frame, ancillary, _, address = sniffer.recvmsg(64, 64)
    seconds, nanoseconds = struct.unpack("=qq", ancillary[0][2])
    return seconds * 1_000_000_000 + nanoseconds, frame, address[2] == PACKET_OUTGOING


def data_frame(length: int = 1514) -> bytes:
    """To an address that nobody has, ``length`` octets without FCS."""
    return bytes.fromhex("02000000ffff 020000000001") + struct.pack("!H", DATA) + bytes(length - 14)


def pause_frame(quanta: int, address: str = PAUSE_ADDRESS) -> bytes:
    """IEEE 802.3 Annex 31B."""
    return bytes.fromhex(address + "020000000002") + struct.pack("!HHH", PAUSE, 1, quanta) + bytes(42)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print("counters", json.dumps(own_stats(name)))
