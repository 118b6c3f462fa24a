"""What TCP thinks of a connection: the kernel's tcp_info, as ``ss -ti`` shows it.

Asked over NETLINK_SOCK_DIAG in the node's namespace and not by running ss: a sample is taken many
times a virtual second. Source: include/uapi/linux/inet_diag.h and tcp.h, sock_diag(7).
"""

import socket
import struct

from wirelab.guest import netlink

_NETLINK_SOCK_DIAG = 4
_SOCK_DIAG_BY_FAMILY = 20
_DUMP = 0x300
_DONE = 3
_INET_DIAG_INFO = 2
_TCP_ESTABLISHED = 1

_REQUEST = struct.Struct("=BBBxI48x")  # family, protocol, extensions, states, any socket
_MESSAGE_LEN = 72  # struct inet_diag_msg
_PORTS = struct.Struct("!HH")

# What is sampled of struct tcp_info: the window, the smoothed RTT, what has arrived and what was sent again.
_SAMPLED = {
    "cwnd_segments": ("=I", 80),
    "rtt_us": ("=I", 68),
    "bytes_acked": ("=Q", 120),
    "retransmits": ("=I", 100),
}


class SockDiag:
    """The TCP sockets of one network namespace: the one the process is in when this is made."""

    def __init__(self) -> None:
        self._socket = netlink.open_socket(_NETLINK_SOCK_DIAG)

    def established(self) -> dict[tuple[int, int], dict[str, int]]:
        """What is sampled of every established IPv4 connection, by (local port, remote port)."""
        every = _REQUEST.pack(
            socket.AF_INET, socket.IPPROTO_TCP, 1 << (_INET_DIAG_INFO - 1), 1 << _TCP_ESTABLISHED
        )
        netlink.send(self._socket, _SOCK_DIAG_BY_FAMILY, every, _DUMP)
        connections: dict[tuple[int, int], dict[str, int]] = {}
        while True:
            for kind, body in netlink.messages(self._socket):
                if kind == _DONE:
                    return connections
                info = netlink.attributes(body[_MESSAGE_LEN:]).get(_INET_DIAG_INFO)
                if info is not None:
                    local, remote = _PORTS.unpack_from(body, 4)
                    connections[local, remote] = {
                        name: struct.unpack_from(form, info, offset)[0]
                        for name, (form, offset) in _SAMPLED.items()
                    }
