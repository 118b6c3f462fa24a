"""Settings and counters of a port by the ethtool ioctl: what ``ethtool -s -A -C -G -S`` do.

The lab sets and reads back some fifteen settings a port and samples every counter many times a virtual
second; a process for each would be most of a run's wall time. Source: include/uapi/linux/ethtool.h.
"""

from __future__ import annotations

import ctypes
import fcntl
import socket
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

SIOCETHTOOL = 0x8946

_GCOALESCE, _SCOALESCE = 0x0E, 0x0F
_GRINGPARAM, _SRINGPARAM = 0x10, 0x11
_GPAUSEPARAM, _SPAUSEPARAM = 0x12, 0x13
_GLINK = 0x0A
_GSTRINGS, _GSTATS, _GSSET_INFO = 0x1B, 0x1D, 0x37
_GLINKSETTINGS, _SLINKSETTINGS = 0x4C, 0x4D

_SS_STATS = 1
_STRING_LEN = 32
_DUPLEXES = {0: "half", 1: "full"}
_AUTONEG_OFF, _AUTONEG_ON = 0, 1
_SPEED_UNKNOWN = 0xFFFFFFFF
_MBPS = 1_000_000

_COALESCE_WORDS = 23
_COALESCE_RX_USECS, _COALESCE_RX_FRAMES = 1, 2
_RING_WORDS = 9
_RING_RX, _RING_TX = 5, 8

_LINK = struct.Struct("=II8b4B28x")
_LINK_SPEED, _LINK_DUPLEX, _LINK_AUTONEG, _LINK_WORDS = 1, 2, 5, 9

# The bits of enum ethtool_link_mode_bit_indices, the slowest mode first.
_MODES = {
    "10baseT_Half": 0,
    "10baseT_Full": 1,
    "100baseT_Half": 2,
    "100baseT_Full": 3,
    "1000baseT_Full": 5,
    "2500baseT_Full": 47,
    "5000baseT_Full": 48,
    "10000baseT_Full": 12,
    "25000baseCR_Full": 31,
}
_AUTONEG_BIT = 6


@dataclass(frozen=True)
class Link:
    """The PHY of a port: what it is set to, and what the link is at, None where that is not known.

    ``advertise`` holds the modes that it offers, by the kernel's names without their ending.
    """

    up: bool
    speed_bps: int | None
    duplex: str | None
    autoneg: bool
    advertise: tuple[str, ...]


class Ethtool:
    """The ports of one network namespace: the one the process is in when this is made."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._stat_names: dict[str, tuple[str, ...]] = {}

    def close(self) -> None:
        """Give the namespace back."""
        self._socket.close()

    def _call(self, port: str, data: bytearray) -> None:
        buffer = (ctypes.c_char * len(data)).from_buffer(data)
        request = struct.pack("16sP16x", port.encode(), ctypes.addressof(buffer))
        fcntl.ioctl(self._socket, SIOCETHTOOL, request)

    def _words(self, port: str, command: int, count: int) -> memoryview[int]:
        data = bytearray(4 * count)
        words = memoryview(data).cast("I")
        words[0] = command
        self._call(port, data)
        return words

    def link(self, port: str) -> Link:
        """What the PHY is set to, and whether there is a link."""
        data = self._link(port)
        fields = _LINK.unpack_from(data)
        speed = int(fields[_LINK_SPEED])
        length = 4 * fields[_LINK_WORDS]
        advertised = int.from_bytes(data[_LINK.size + length : _LINK.size + 2 * length], "little")
        return Link(
            up=bool(self._words(port, _GLINK, 2)[1]),
            speed_bps=None if speed == _SPEED_UNKNOWN else speed * _MBPS,
            duplex=_DUPLEXES.get(fields[_LINK_DUPLEX]),
            autoneg=fields[_LINK_AUTONEG] == _AUTONEG_ON,
            advertise=tuple(name for name, bit in _MODES.items() if advertised >> bit & 1),
        )

    def force_link(self, port: str, speed_bps: int, duplex: str) -> None:
        """``ethtool -s``: this speed and this duplex, without negotiation."""
        data = self._link(port)
        fields = list(_LINK.unpack_from(data))
        fields[0] = _SLINKSETTINGS
        fields[_LINK_SPEED] = speed_bps // _MBPS
        fields[_LINK_DUPLEX] = next(number for number, word in _DUPLEXES.items() if word == duplex)
        fields[_LINK_AUTONEG] = _AUTONEG_OFF
        _LINK.pack_into(data, 0, *fields)
        self._call(port, data)

    def negotiate_link(self, port: str, advertise: Sequence[str]) -> None:
        """``ethtool -s ... autoneg on advertise``: offer these modes, the best common one holds."""
        data = self._link(port)
        fields = list(_LINK.unpack_from(data))
        fields[0] = _SLINKSETTINGS
        fields[_LINK_AUTONEG] = _AUTONEG_ON
        _LINK.pack_into(data, 0, *fields)
        length = 4 * fields[_LINK_WORDS]
        mask = sum(1 << _MODES[name] for name in advertise) | 1 << _AUTONEG_BIT
        data[_LINK.size + length : _LINK.size + 2 * length] = mask.to_bytes(length, "little")
        self._call(port, data)

    def _link(self, port: str) -> bytearray:
        # Asked with a bitmap length of 0, the kernel answers with the length it has, negative.
        probe = bytearray(_LINK.size)
        struct.pack_into("=I", probe, 0, _GLINKSETTINGS)
        self._call(port, probe)
        words = -_LINK.unpack_from(probe)[_LINK_WORDS]
        data = bytearray(_LINK.size + 3 * 4 * words)
        fields = list(_LINK.unpack_from(probe))
        fields[0], fields[_LINK_WORDS] = _GLINKSETTINGS, words
        _LINK.pack_into(data, 0, *fields)
        self._call(port, data)
        return data

    def pause(self, port: str) -> tuple[bool, bool, bool]:
        """Whether PAUSE is negotiated, whether the port (wants to) obey it, and to send it."""
        words = self._words(port, _GPAUSEPARAM, 4)
        return bool(words[1]), bool(words[2]), bool(words[3])

    def set_pause(self, port: str, *, autoneg: bool, rx: bool, tx: bool) -> None:
        """``ethtool -A``: obey PAUSE (``rx``), send it (``tx``); with ``autoneg`` that is only offered."""
        self._call(port, bytearray(struct.pack("=4I", _SPAUSEPARAM, autoneg, rx, tx)))

    def coalesce(self, port: str) -> tuple[int, int]:
        """Interrupt moderation: (rx_usecs, rx_frames)."""
        words = self._words(port, _GCOALESCE, _COALESCE_WORDS)
        return words[_COALESCE_RX_USECS], words[_COALESCE_RX_FRAMES]

    def set_coalesce(self, port: str, *, rx_usecs: int, rx_frames: int) -> None:
        """``ethtool -C``: interrupt so long after the first frame, or with the so-manieth (0: never)."""
        words = self._words(port, _GCOALESCE, _COALESCE_WORDS)
        words[0] = _SCOALESCE
        words[_COALESCE_RX_USECS], words[_COALESCE_RX_FRAMES] = rx_usecs, rx_frames
        self._call(port, bytearray(words))

    def rings(self, port: str) -> tuple[int, int]:
        """Ring sizes in frames: (rx, tx)."""
        words = self._words(port, _GRINGPARAM, _RING_WORDS)
        return words[_RING_RX], words[_RING_TX]

    def set_rings(self, port: str, *, rx_frames: int, tx_frames: int) -> None:
        """``ethtool -G``: ring sizes in frames."""
        words = self._words(port, _GRINGPARAM, _RING_WORDS)
        words[0] = _SRINGPARAM
        words[_RING_RX], words[_RING_TX] = rx_frames, tx_frames
        self._call(port, bytearray(words))

    def stats(self, port: str) -> dict[str, int]:
        """``ethtool -S``: every counter of the port."""
        names = self._stat_names.get(port)
        if names is None:
            names = self._stat_names[port] = self._names(port)
        data = bytearray(8 + 8 * len(names))
        struct.pack_into("=II", data, 0, _GSTATS, len(names))
        self._call(port, data)
        return dict(zip(names, struct.unpack_from(f"={len(names)}Q", data, 8), strict=True))

    def _names(self, port: str) -> tuple[str, ...]:
        info = bytearray(struct.pack("=IIQI", _GSSET_INFO, 0, 1 << _SS_STATS, 0))
        self._call(port, info)
        count = struct.unpack_from("=I", info, 16)[0]
        data = bytearray(12 + _STRING_LEN * count)
        struct.pack_into("=III", data, 0, _GSTRINGS, _SS_STATS, count)
        self._call(port, data)
        raw = (bytes(data[12 + _STRING_LEN * i : 12 + _STRING_LEN * (i + 1)]) for i in range(count))
        return tuple(each.split(b"\0", 1)[0].decode() for each in raw)
