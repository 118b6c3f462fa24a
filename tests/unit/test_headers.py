"""The headers of a frame: who sends what to whom, of whatever is left of it."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wirelab.results.headers import Headers, read_headers

TO, SENDER = bytes.fromhex("020000000002"), bytes.fromhex("020000000001")
ADDRESSES = bytes((10, 0, 0, 1, 10, 0, 0, 2))
TCP = struct.pack(">HHIIBBHHH", 40_001, 5201, 7, 9, 0x50, 0x18, 0, 0, 0)
UDP = struct.pack(">HHHH", 4000, 53, 8 + 100, 0)
DAMAGED = 64


def ethernet(kind: int, packet: bytes) -> bytes:
    """A frame around a packet."""
    return TO + SENDER + kind.to_bytes(2) + packet


def ipv4(protocol: int, inner: bytes, *, more_bytes: int = 0, offset: int = 0) -> bytes:
    """A packet of which ``more_bytes`` are not kept."""
    head = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(inner) + more_bytes, 1, offset, 64, protocol, 0)
    return head + ADDRESSES + inner


def test_tcp() -> None:
    """Ports, numbers, flags; the payload is what the IP header says, for most of it is not kept."""
    assert read_headers(ethernet(0x0800, ipv4(6, TCP, more_bytes=1460))) == Headers(
        "tcp", "10.0.0.1", "10.0.0.2", 40_001, 5201, 7, 9, "PSH ACK", 1460
    )


def test_tcp_options() -> None:
    """As many as the header says, behind tags too, and as far as they are kept; payload is none of them."""
    options = b"\x01\x01\x05\x0a" + bytes(range(8))
    segment = TCP[:12] + bytes([(20 + len(options)) // 4 << 4]) + TCP[13:] + options
    for kept, left in ((segment + b"payload", options), (segment[:-3], options[:-3]), (segment[:20], b"")):
        packet = ipv4(6, kept)
        for frame in (ethernet(0x0800, packet), ethernet(0x8100, b"\x00\x05\x08\x00" + packet)):
            read = read_headers(frame)
            assert read is not None
            assert read.options == left


def test_a_tagged_frame_is_read_behind_its_tags() -> None:
    """One tag or two, of which the number is the VLAN: what is before that is a priority."""
    inner = (0x0800).to_bytes(2) + ipv4(17, UDP)
    for tags, vlans in ((b"\xa0\x05", (5,)), (b"\x00\x05\x81\x00\xef\xff", (5, 4095))):
        read = read_headers(ethernet(0x8100, tags + inner))
        assert read == Headers("udp", "10.0.0.1", "10.0.0.2", 4000, 53, payload_bytes=100, vlans=vlans)


def test_ipv6() -> None:
    """Addresses as RFC 5952 writes them."""
    head = struct.pack(">IHBB", 6 << 28, 20 + 5, 6, 64) + bytes.fromhex(
        "fd000000000000000000000000000001fd000000000000000000000000000002"
    )
    read = read_headers(ethernet(0x86DD, head + TCP))
    assert read is not None
    assert (read.protocol, read.source, read.destination, read.payload_bytes) == (
        "tcp",
        "fd00::1",
        "fd00::2",
        5,
    )


@pytest.mark.parametrize(
    ("frame", "protocol", "source"),
    [
        (ethernet(0x8808, b"\x00\x01\xff\xff"), "pause", SENDER.hex(":")),
        (ethernet(0x8808, b"\x01\x01\x00\x08"), "pfc", SENDER.hex(":")),
        (ethernet(0x0806, bytes(28)), "arp", SENDER.hex(":")),
        (ethernet(0x88CC, bytes(28)), "0x88cc", SENDER.hex(":")),
        (ethernet(0x0800, ipv4(1, bytes(8))), "icmp", "10.0.0.1"),
        (ethernet(0x0800, ipv4(89, bytes(8))), "89", "10.0.0.1"),
        # A later fragment has no ports: what stands there is payload.
        (ethernet(0x0800, ipv4(17, UDP, offset=100)), "udp", "10.0.0.1"),
    ],
)
def test_what_has_no_ports(frame: bytes, protocol: str, source: str) -> None:
    """Control frames and other EtherTypes by their MAC addresses, other protocols of IP by theirs."""
    read = read_headers(frame)
    assert read is not None
    assert (read.protocol, read.source, read.source_port) == (protocol, source, None)


@given(st.binary(max_size=DAMAGED), st.integers(0, DAMAGED))
def test_whatever_is_left_is_read(noise: bytes, kept: int) -> None:
    """A frame may be cut anywhere, and may hold anything: no bytes are an error."""
    whole = ethernet(0x0800, ipv4(6, TCP))[:kept] + noise
    for frame in (noise, whole):
        read = read_headers(frame)
        assert (read is None) == (len(frame) < 14)
