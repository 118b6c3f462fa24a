"""Netlink messages: what the kernel is asked for and answers with where no ioctl will do. See netlink(7)."""

import os
import socket
import struct
from collections.abc import Iterator

ROUTE = 0  # NETLINK_ROUTE
TC_MESSAGE = struct.Struct("=BxxxiIII")  # struct tcmsg: family, interface, handle, parent, info

_REQUEST, _ACKNOWLEDGE = 1, 4
_ERROR = 2
_NESTED = 1 << 15
_KIND = 0x3FFF

_HEADER = struct.Struct("=IHHII")  # struct nlmsghdr: length, kind, flags, sequence, port
_ATTRIBUTE = struct.Struct("=HH")  # struct nlattr: length, kind


def open_socket(family: int) -> socket.socket:
    """A socket for a netlink family of the network namespace that the process is in."""
    return socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, family)


def send(to: socket.socket, kind: int, body: bytes, flags: int = 0) -> None:
    """Send a request."""
    to.send(_HEADER.pack(_HEADER.size + len(body), kind, _REQUEST | flags, 0, 0) + body)


def messages(of: socket.socket) -> Iterator[tuple[int, bytes]]:
    """Kind and content of every message in the next datagram. Raises OSError, with the kernel's reason."""
    for kind, body in _records(of.recv(1 << 16), _HEADER):
        # That of an acknowledgement is 0.
        if kind == _ERROR and (code := -struct.unpack_from("=i", body)[0]):
            raise OSError(code, os.strerror(code))
        yield kind, body


def ask(of: socket.socket, kind: int, body: bytes) -> bytes:
    """The content of the one message that answers a request. Raises as ``messages``."""
    send(of, kind, body)
    return next(messages(of))[1]


def tell(to: socket.socket, kind: int, body: bytes, flags: int = 0) -> None:
    """Have a request carried out. Raises as ``messages``."""
    send(to, kind, body, flags | _ACKNOWLEDGE)
    next(messages(to))


def attribute(kind: int, value: bytes, *, nested: bool = False) -> bytes:
    """An attribute; ``nested`` if its value is attributes again."""
    length = _ATTRIBUTE.size + len(value)
    return _ATTRIBUTE.pack(length, kind | nested * _NESTED) + value + bytes(-length % 4)


def attributes(data: bytes) -> dict[int, bytes]:
    """The values of attributes by their kind."""
    return {kind & _KIND: value for kind, value in _records(data, _ATTRIBUTE)}


def _records(data: bytes, header: struct.Struct) -> Iterator[tuple[int, bytes]]:
    """Kind and content of each: it begins with its length and its kind, and is aligned to 4."""
    start = 0
    while start + header.size <= len(data):
        length, kind, *_ = header.unpack_from(data, start)
        yield kind, data[start + header.size : start + length]
        start += (length + 3) & ~3
