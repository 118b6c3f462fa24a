"""All that a port counts: ``ip -s link``, ``ethtool -I -a``, and in ``ethtool -S`` what is in neither.

Asked over netlink and ioctl and not by these tools, for the same reason as in ethtool.py. Sources:
include/uapi/linux/if_link.h, genetlink.h and ethtool_netlink.h.
"""

import fcntl
import socket
import struct

from wirelab.guest import netlink
from wirelab.guest.ethtool import Ethtool

_NETLINK_GENERIC = 16
_SIOCGIFINDEX = 0x8933

_RTM_GETSTATS = 94
_STATS = struct.Struct("=BxxxII")  # struct if_stats_msg: family, interface, a bit for each set of statistics
_STATS_LINK_64 = 1
# Where struct rtnl_link_stats64 has what, in words of eight octets.
_LINK_STATS = {
    "rx_frames": 0,
    "tx_frames": 1,
    "rx_bytes": 2,
    "tx_bytes": 3,
    "tx_collisions": 9,
    "tx_late_collisions": 20,  # tx_window_errors
}

_FILTERED = "rx_filtered_frames"

_GENERIC = struct.Struct("=BBxx")  # struct genlmsghdr: command, version
_CONTROLLER, _GET_FAMILY, _FAMILY_ID, _FAMILY_NAME = 0x10, 3, 1, 2
_PAUSE_GET, _PAUSE_HEADER, _PAUSE_STATS = 21, 1, 5
_PORT_NAME, _FLAGS = 2, 3
_WITH_STATS = struct.pack("=I", 4)
_PAUSE_FRAMES = {"tx_pause_frames": 2, "rx_pause_frames": 3}


class Counters(Ethtool):
    """The ports of one network namespace, as of :class:`Ethtool`, and all that they count."""

    def __init__(self) -> None:
        super().__init__()
        self._route = netlink.open_socket(netlink.ROUTE)
        self._generic = netlink.open_socket(_NETLINK_GENERIC)
        name = netlink.attribute(_FAMILY_NAME, b"ethtool\0")
        family = self._ask_generic(_CONTROLLER, _GET_FAMILY, name)[_FAMILY_ID]
        self._family = int.from_bytes(family, "little")
        self._indexes: dict[str, int] = {}
        self._told: dict[str, tuple[bytes, bytes]] = {}

    def _ask_generic(self, family: int, command: int, request: bytes) -> dict[int, bytes]:
        told = netlink.ask(self._generic, family, _GENERIC.pack(command, 1) + request)
        return netlink.attributes(told[_GENERIC.size :])

    def stats(self, port: str) -> dict[str, int]:
        """Every counter but those of :meth:`every`."""
        return self._counted(port, self._standard(port), self.raw_stats(port))

    def changed(self, port: str) -> dict[str, int] | None:
        """As :meth:`stats`; None where all is as at the last call of this. To look costs the most."""
        told = self._standard(port), self.raw_stats(port)
        if told == self._told.get(port):
            return None
        self._told[port] = told
        return self._counted(port, *told)

    def _standard(self, port: str) -> bytes:
        """What `ip -s link` shows, as the kernel tells it."""
        if port not in self._indexes:
            answer = fcntl.ioctl(self._socket, _SIOCGIFINDEX, struct.pack("16s16x", port.encode()))
            self._indexes[port] = struct.unpack_from("=i", answer, 16)[0]
        request = _STATS.pack(socket.AF_UNSPEC, self._indexes[port], 1 << (_STATS_LINK_64 - 1))
        return netlink.ask(self._route, _RTM_GETSTATS, request)

    def _counted(self, port: str, standard: bytes, own: bytes) -> dict[str, int]:
        words = memoryview(netlink.attributes(standard[_STATS.size :])[_STATS_LINK_64]).cast("Q")
        counted = {**{name: words[index] for name, index in _LINK_STATS.items()}, **self.named(port, own)}
        # Only who is on a hub, or what a switch has flooded to, has seen frames for others.
        if not counted.get(_FILTERED):
            counted.pop(_FILTERED, None)
        return counted

    def every(self, port: str) -> dict[str, int]:
        """Every counter, PAUSE frames too."""
        asked = netlink.attribute(_PORT_NAME, port.encode() + b"\0") + netlink.attribute(_FLAGS, _WITH_STATS)
        header = netlink.attribute(_PAUSE_HEADER, asked, nested=True)
        told = netlink.attributes(self._ask_generic(self._family, _PAUSE_GET, header)[_PAUSE_STATS])
        pause = {name: int.from_bytes(told[kind], "little") for name, kind in _PAUSE_FRAMES.items()}
        return {**self.stats(port), **pause}
