"""Settings and counters of a port by the ethtool ioctl: what ``ethtool -s -A -C -G -K -S`` do.

The lab sets and reads back some fifteen settings a port and samples every counter many times a virtual
second; a process for each would be most of a run's wall time. Source: include/uapi/linux/ethtool.h.
"""

import ctypes
import fcntl
import socket
import struct
from collections.abc import Mapping
from dataclasses import dataclass

SIOCETHTOOL = 0x8946

_GLINK = 0x0A
_GSTRINGS, _GSTATS, _GSSET_INFO = 0x1B, 0x1D, 0x37
_GLINKSETTINGS, _SLINKSETTINGS = 0x4C, 0x4D

_SS_STATS = 1
_STRING_LEN = 32
_DUPLEXES = ("half", "full")
_SPEED_UNKNOWN = 0xFFFFFFFF
_MBPS = 1_000_000
_MOST_MASK_WORDS = 127

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

_COALESCE = {
    "rx-usecs": 1,
    "rx-frames": 2,
    "tx-usecs": 5,
    "tx-frames": 6,
    "adaptive-rx": 10,
    "adaptive-tx": 11,
}

# A command whose argument is an array of 32-bit words: how it is read and set, how many words it has, and
# which word is which option. struct ethtool_pauseparam, ethtool_coalesce, ethtool_ringparam, ethtool_value.
_WORDS = {
    "ethtool -A": (0x12, 0x13, 4, {"autoneg": 1, "rx": 2, "tx": 3}),
    "ethtool -C": (0x0E, 0x0F, 23, _COALESCE),
    "ethtool -G": (0x10, 0x11, 9, {"rx": 5, "tx": 8}),
    "ethtool -K": (0x2B, 0x2C, 2, {"gro": 1}),
}
COMMANDS = tuple(_WORDS)
"""What ``get`` and ``set`` can do."""


class _LinkSettings(ctypes.Structure):
    """struct ethtool_link_settings with its bitmaps: supported, advertised and the peer's modes."""

    _fields_ = (
        ("command", ctypes.c_uint32),
        ("speed_mbps", ctypes.c_uint32),
        ("duplex", ctypes.c_uint8),
        ("port_and_address", ctypes.c_uint8 * 2),
        ("autoneg", ctypes.c_uint8),
        ("mdio_and_mdix", ctypes.c_uint8 * 3),
        ("mask_words", ctypes.c_int8),
        ("of_no_use_here", ctypes.c_uint8 * 32),
        ("masks", ctypes.c_uint8 * (3 * 4 * _MOST_MASK_WORDS)),
    )

    @property
    def advertised(self) -> slice:
        """Where in ``masks`` the modes are that the port offers."""
        length = 4 * self.mask_words
        return slice(length, 2 * length)


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

    def _call(self, port: str, data: bytearray | ctypes.Structure | ctypes.Array[ctypes.c_uint32]) -> None:
        address = ctypes.addressof(ctypes.c_char.from_buffer(data))
        fcntl.ioctl(self._socket, SIOCETHTOOL, struct.pack("16sP16x", port.encode(), address))

    def _words(self, port: str, command: int, count: int) -> ctypes.Array[ctypes.c_uint32]:
        words = (ctypes.c_uint32 * count)(command)
        self._call(port, words)
        return words

    def get(self, port: str, command: str) -> dict[str, int]:
        """What a port is set to, by the options of one of COMMANDS."""
        read, _, count, options = _WORDS[command]
        words = self._words(port, read, count)
        return {option: words[index] for option, index in options.items()}

    def set(self, port: str, command: str, values: Mapping[str, int | str | bool]) -> None:
        """Set options of one of COMMANDS and leave its others alone."""
        read, write, count, options = _WORDS[command]
        words = self._words(port, read, count)
        words[0] = write
        for option, value in values.items():
            words[options[option]] = int(value)
        self._call(port, words)

    def link(self, port: str) -> Link:
        """What the PHY is set to, and whether there is a link."""
        settings = self._link_settings(port)
        speed, duplex = settings.speed_mbps, settings.duplex
        advertised = int.from_bytes(settings.masks[settings.advertised], "little")
        return Link(
            up=bool(self._words(port, _GLINK, 2)[1]),
            speed_bps=None if speed == _SPEED_UNKNOWN else speed * _MBPS,
            duplex=_DUPLEXES[duplex] if duplex < len(_DUPLEXES) else None,
            autoneg=settings.autoneg == 1,
            advertise=tuple(name for name, bit in _MODES.items() if advertised >> bit & 1),
        )

    def set_link(self, port: str, values: Mapping[str, int | str | bool]) -> None:
        """``ethtool -s``: with ``autoneg`` offer the modes ``advertise``, else force speed and duplex."""
        settings = self._link_settings(port)
        settings.command = _SLINKSETTINGS
        settings.autoneg = int(values["autoneg"])
        if values["autoneg"]:
            modes = sum(1 << _MODES[name] for name in str(values["advertise"]).split()) | 1 << _AUTONEG_BIT
            settings.masks[settings.advertised] = tuple(modes.to_bytes(4 * settings.mask_words, "little"))
        else:
            settings.speed_mbps = int(values["speed"]) // _MBPS
            settings.duplex = _DUPLEXES.index(str(values["duplex"]))
        self._call(port, settings)

    def _link_settings(self, port: str) -> _LinkSettings:
        settings = _LinkSettings(command=_GLINKSETTINGS)
        # Asked with a bitmap length of 0, the kernel answers with the length it has, negative.
        self._call(port, settings)
        settings.command, settings.mask_words = _GLINKSETTINGS, -settings.mask_words
        self._call(port, settings)
        return settings

    def raw_stats(self, port: str) -> bytes:
        """The counters of ``ethtool -S`` as the kernel tells them."""
        if port not in self._stat_names:
            self._stat_names[port] = self._names(port)
        count = len(self._stat_names[port])
        data = bytearray(struct.pack(f"=II{8 * count}x", _GSTATS, count))
        self._call(port, data)
        return bytes(data)

    def named(self, port: str, raw: bytes) -> dict[str, int]:
        """What ``raw_stats`` has told, by name."""
        names = self._stat_names[port]
        return dict(zip(names, struct.unpack_from(f"={len(names)}Q", raw, 8), strict=True))

    def _names(self, port: str) -> tuple[str, ...]:
        info = bytearray(struct.pack("=IIQI", _GSSET_INFO, 0, 1 << _SS_STATS, 0))
        self._call(port, info)
        (count,) = struct.unpack_from("=I", info, 16)
        data = bytearray(struct.pack(f"=III{_STRING_LEN * count}x", _GSTRINGS, _SS_STATS, count))
        self._call(port, data)
        raw = struct.iter_unpack(f"{_STRING_LEN}s", memoryview(data)[12:])
        return tuple(name.partition(b"\0")[0].decode() for (name,) in raw)
