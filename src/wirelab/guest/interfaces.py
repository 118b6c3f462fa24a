"""What ``ip address add`` and ``ip link set ... up`` do, over netlink.

A hundred hosts would have a program of their own for these two lines. Sources: include/uapi/linux/if_addr.h,
if_link.h and rtnetlink.h, rtnetlink(7).
"""

import ipaddress
import socket
import struct

from wirelab.guest import netlink
from wirelab.plan.types import Port

_NEW_LINK, _NEW_ADDRESS = 16, 20
_NEW = 0x600  # NLM_F_EXCL | NLM_F_CREATE

_LINK = struct.Struct("=BxHiII")  # struct ifinfomsg: family, type, index, flags, which of them change
_UP = 1
_GSO_MAX_SEGS, _GRO_MAX_SIZE = 40, 58

_ADDRESS = struct.Struct("=BBBBI")  # struct ifaddrmsg: family, prefix length, flags, scope, index
_PEER, _LOCAL = 1, 2


class Interfaces:
    """Those of one network namespace: the one that the process is in when this is made, and is used."""

    def __init__(self) -> None:
        self._socket = netlink.open_socket(netlink.ROUTE)

    def bring_up(self, port: Port) -> None:
        """Give a port its address and its longest bursts, if it has any, and its carrier."""
        index = socket.if_nametoindex(port.name)
        if port.address:
            own = ipaddress.IPv4Interface(port.address)
            body = _ADDRESS.pack(socket.AF_INET, own.network.prefixlen, 0, 0, index)
            body += b"".join(netlink.attribute(kind, own.ip.packed) for kind in (_LOCAL, _PEER))
            netlink.tell(self._socket, _NEW_ADDRESS, body, _NEW)
        body = _LINK.pack(socket.AF_UNSPEC, 0, index, _UP, _UP)
        for kind, longest in ((_GSO_MAX_SEGS, port.gso_max_segs), (_GRO_MAX_SIZE, port.gro_max_bytes)):
            if longest:
                body += netlink.attribute(kind, struct.pack("=I", longest))
        netlink.tell(self._socket, _NEW_LINK, body)

    def set_up(self, port: Port) -> None:
        """Open a port, or shut it: ``ip link set ... up`` or ``down``."""
        flags = _UP if port.up else 0
        index = socket.if_nametoindex(port.name)
        netlink.tell(self._socket, _NEW_LINK, _LINK.pack(socket.AF_UNSPEC, 0, index, flags, _UP))
