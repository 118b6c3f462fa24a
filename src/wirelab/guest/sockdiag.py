"""What TCP thinks of a connection: the kernel's tcp_info, as ``ss -ti`` shows it.

Asked over NETLINK_SOCK_DIAG in the node's namespace and not by running ss: a sample is taken many
times a virtual second. Source: include/uapi/linux/inet_diag.h and tcp.h, sock_diag(7).
"""

from __future__ import annotations

import socket
import struct
from dataclasses import dataclass

_NETLINK_SOCK_DIAG = 4
_SOCK_DIAG_BY_FAMILY = 20
_NLM_F_REQUEST_DUMP = 0x1 | 0x300
_NLMSG_DONE = 3
_INET_DIAG_INFO = 2
_TCP_ESTABLISHED = 1

_HEADER = struct.Struct("=IHHII")
_REQUEST = struct.Struct("=BBBxI48x")  # family, protocol, extensions, states, any socket
_MESSAGE_LEN = 72  # struct inet_diag_msg
_PORTS = struct.Struct("!HH")
_ATTRIBUTE = struct.Struct("=HH")

# Offsets into struct tcp_info of what is sampled.
_RTT_US, _CWND, _RETRANSMITS, _BYTES_ACKED = 68, 80, 100, 120


@dataclass(frozen=True, slots=True)
class TcpInfo:
    """A sender's state: window in segments, smoothed RTT, segments sent again, bytes acknowledged."""

    cwnd_segments: int
    rtt_us: int
    retransmits: int
    bytes_acked: int


class SockDiag:
    """The TCP sockets of one network namespace: the one the process is in when this is made."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, _NETLINK_SOCK_DIAG)

    def established(self) -> dict[tuple[int, int], TcpInfo]:
        """Every established IPv4 connection, by (local port, remote port)."""
        request = _REQUEST.pack(
            socket.AF_INET, socket.IPPROTO_TCP, 1 << (_INET_DIAG_INFO - 1), 1 << _TCP_ESTABLISHED
        )
        header = _HEADER.pack(_HEADER.size + len(request), _SOCK_DIAG_BY_FAMILY, _NLM_F_REQUEST_DUMP, 0, 0)
        self._socket.send(header + request)
        connections: dict[tuple[int, int], TcpInfo] = {}
        while _parse(self._socket.recv(1 << 16), connections):
            pass
        return connections


def _parse(data: bytes, connections: dict[tuple[int, int], TcpInfo]) -> bool:
    """Add those of one datagram to ``connections``; False when it was the last."""
    start = 0
    while start < len(data):
        length, kind, *_ = _HEADER.unpack_from(data, start)
        if kind == _NLMSG_DONE:
            return False
        body = data[start + _HEADER.size : start + length]
        local, remote = _PORTS.unpack_from(body, 4)
        info = _attribute(body[_MESSAGE_LEN:], _INET_DIAG_INFO)
        if info is not None:
            connections[local, remote] = _tcp_info(info)
        start += (length + 3) & ~3
    return True


def _attribute(data: bytes, wanted: int) -> bytes | None:
    start = 0
    while start + _ATTRIBUTE.size <= len(data):
        length, kind = _ATTRIBUTE.unpack_from(data, start)
        if kind == wanted:
            return data[start + _ATTRIBUTE.size : start + length]
        start += (length + 3) & ~3
    return None


def _tcp_info(info: bytes) -> TcpInfo:
    def word(offset: int) -> int:
        return int(struct.unpack_from("=I", info, offset)[0])

    return TcpInfo(
        cwnd_segments=word(_CWND),
        rtt_us=word(_RTT_US),
        retransmits=word(_RETRANSMITS),
        bytes_acked=int(struct.unpack_from("=Q", info, _BYTES_ACKED)[0]),
    )
