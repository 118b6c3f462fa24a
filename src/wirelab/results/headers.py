"""The headers of a frame -> who sends what to whom: Ethernet with VLAN tags, IP, TCP and UDP."""

import contextlib
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from ipaddress import ip_address
from typing import Final

_ETHERNET_BYTES: Final = 14
_TAG_BYTES: Final = 4
_VLANS: Final = (0x8100, 0x88A8)
_VLAN_ID: Final = 0xFFF
_ARP: Final = 0x0806
_IPV4: Final = 0x0800
_IPV6: Final = 0x86DD
_CONTROL: Final = 0x8808
_PAUSE: Final = 1
_PFC: Final = 0x0101
_IP4: Final = struct.Struct(">BxH2xHxB2x4s4s")
_IP6: Final = struct.Struct(">4xHBx16s16s")
_TCP: Final = struct.Struct(">HHIIBB")
_TCP_BYTES: Final = 20
_UDP: Final = struct.Struct(">HHH")
_UDP_BYTES: Final = 8
_FLAGS: Final = ("FIN", "SYN", "RST", "PSH", "ACK", "URG", "ECE", "CWR")
_PROTOCOLS: Final = {1: "icmp", 58: "icmp", 6: "tcp", 17: "udp"}


@dataclass(frozen=True, slots=True)
class Headers:
    """What the headers of a frame say; None where this frame has no such thing, or too little of it is there.

    ``protocol`` is tcp, udp, icmp, arp, pause, pfc, or the number of the EtherType or IP protocol. ``source``
    and ``destination`` are IP addresses, or MAC addresses where there is no IP. ``payload_bytes`` is that of
    TCP or UDP; ``flags`` are those of TCP, such as ``PSH ACK``, and ``options`` what is there of its options.
    ``vlans`` are the VLAN IDs of its tags, the outermost first.
    """

    protocol: str
    source: str
    destination: str
    source_port: int | None = None
    destination_port: int | None = None
    sequence: int | None = None
    acknowledgement: int | None = None
    flags: str = ""
    payload_bytes: int | None = None
    options: bytes = b""
    vlans: tuple[int, ...] = ()


def read_headers(kept: bytes) -> Headers | None:
    """What the first bytes of a frame say; None where not even its Ethernet header is whole."""
    if len(kept) < _ETHERNET_BYTES:
        return None
    at = _ETHERNET_BYTES
    kind = int.from_bytes(kept[at - 2 : at])
    vlans = []
    while kind in _VLANS and len(kept) >= at + _TAG_BYTES:
        vlans.append(int.from_bytes(kept[at : at + 2]) & _VLAN_ID)
        at += _TAG_BYTES
        kind = int.from_bytes(kept[at - 2 : at])
    headers = _behind_tags(kept, at, kind)
    return replace(headers, vlans=tuple(vlans)) if vlans else headers


def _behind_tags(kept: bytes, at: int, kind: int) -> Headers:
    # Where the packet ends within its headers, what is left is Ethernet.
    with contextlib.suppress(struct.error):
        if kind in _PACKETS:
            return _PACKETS[kind](kept[at:])
    source, destination = kept[6:12].hex(":"), kept[0:6].hex(":")
    control = (
        {_PAUSE: "pause", _PFC: "pfc"}.get(int.from_bytes(kept[at : at + 2])) if kind == _CONTROL else None
    )
    return Headers(control or ("arp" if kind == _ARP else f"0x{kind:04x}"), source, destination)


def _ipv4(packet: bytes) -> Headers:
    first, total_bytes, offset, protocol, source, destination = _IP4.unpack_from(packet)
    header_bytes = (first & 0xF) * 4
    is_first = offset & 0x1FFF == 0
    inner = packet[header_bytes:] if is_first else b""
    return _transport(protocol, source, destination, inner, total_bytes - header_bytes)


def _ipv6(packet: bytes) -> Headers:
    inner_bytes, protocol, source, destination = _IP6.unpack_from(packet)
    return _transport(protocol, source, destination, packet[_IP6.size :], inner_bytes)


def _transport(protocol: int, source: bytes, destination: bytes, inner: bytes, inner_bytes: int) -> Headers:
    name = _PROTOCOLS.get(protocol, str(protocol))
    ends = (name, str(ip_address(source)), str(ip_address(destination)))
    # Where that ends within, or is a later fragment, what is left is IP.
    with contextlib.suppress(struct.error):
        if name == "tcp":
            source_port, destination_port, sequence, acknowledgement, offset, flags = _TCP.unpack_from(inner)
            return Headers(
                *ends,
                source_port,
                destination_port,
                sequence,
                acknowledgement,
                " ".join(word for bit, word in enumerate(_FLAGS) if flags & 1 << bit),
                inner_bytes - (offset >> 4) * 4,
                inner[_TCP_BYTES : (offset >> 4) * 4],
            )
        if name == "udp":
            source_port, destination_port, udp_bytes = _UDP.unpack_from(inner)
            return Headers(*ends, source_port, destination_port, payload_bytes=udp_bytes - _UDP_BYTES)
    return Headers(*ends)


_PACKETS: Final[Mapping[int, Callable[[bytes], Headers]]] = {_IPV4: _ipv4, _IPV6: _ipv6}
