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
    from collections.abc import Mapping

SIOCETHTOOL = 0x8946

_GLINK = 0x0A
_GSTRINGS, _GSTATS, _GSSET_INFO = 0x1B, 0x1D, 0x37
_GLINKSETTINGS, _SLINKSETTINGS = 0x4C, 0x4D

_SS_STATS = 1
_STRING_LEN = 32
_DUPLEXES = {0: "half", 1: "full"}
_AUTONEG_OFF, _AUTONEG_ON = 0, 1
_SPEED_UNKNOWN = 0xFFFFFFFF
_MBPS = 1_000_000

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
class _Words:
    """A command whose argument is an array of 32-bit words: which word is which option."""

    get: int
    set: int
    count: int
    options: Mapping[str, int]


_WORDS = {
    "ethtool -A": _Words(0x12, 0x13, 4, {"autoneg": 1, "rx": 2, "tx": 3}),
    "ethtool -C": _Words(0x0E, 0x0F, 23, {"rx-usecs": 1, "rx-frames": 2}),
    "ethtool -G": _Words(0x10, 0x11, 9, {"rx": 5, "tx": 8}),
}
COMMANDS = tuple(_WORDS)
"""What ``get`` and ``set`` can do: struct ethtool_pauseparam, ethtool_coalesce, ethtool_ringparam."""


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

    def get(self, port: str, command: str) -> dict[str, int]:
        """What a port is set to, by the options of one of COMMANDS."""
        form = _WORDS[command]
        words = self._words(port, form.get, form.count)
        return {option: words[index] for option, index in form.options.items()}

    def set(self, port: str, command: str, values: Mapping[str, int]) -> None:
        """Set options of one of COMMANDS and leave its others alone."""
        form = _WORDS[command]
        words = self._words(port, form.get, form.count)
        words[0] = form.set
        for option, value in values.items():
            words[form.options[option]] = value
        self._call(port, bytearray(words))

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

    def set_link(self, port: str, values: Mapping[str, int | str | bool]) -> None:
        """``ethtool -s``: with ``autoneg`` offer the modes ``advertise``, else force speed and duplex."""
        data = self._link(port)
        fields = list(_LINK.unpack_from(data))
        fields[0] = _SLINKSETTINGS
        fields[_LINK_AUTONEG] = _AUTONEG_ON if values["autoneg"] else _AUTONEG_OFF
        if not values["autoneg"]:
            fields[_LINK_SPEED] = int(values["speed"]) // _MBPS
            fields[_LINK_DUPLEX] = next(
                number for number, word in _DUPLEXES.items() if word == values["duplex"]
            )
        _LINK.pack_into(data, 0, *fields)
        if values["autoneg"]:
            length = 4 * fields[_LINK_WORDS]
            mask = sum(1 << _MODES[name] for name in str(values["advertise"]).split()) | 1 << _AUTONEG_BIT
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
        return tuple(name.split(b"\0", 1)[0].decode() for name in raw)
