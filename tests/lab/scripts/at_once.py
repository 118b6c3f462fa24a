"""What ports say by ioctl, several of them at one instant: a program that is started to ask takes time.

Source: include/uapi/linux/ethtool.h.
"""

from __future__ import annotations

import ctypes
import fcntl
import socket
import struct
from pathlib import Path

SIOCETHTOOL = 0x8946
GCOALESCE, GSTRINGS, GSTATS, GSSET_INFO = 0x0E, 0x1B, 0x1D, 0x37
SS_STATS = 1
STRING_LEN = 32


def coalescing(port: str) -> dict[str, int]:
    """What `ethtool -c` says of frames that come."""
    told = bytearray(struct.pack("=I88x", GCOALESCE))
    _call(port, told)
    usecs, frames = struct.unpack_from("=II", told, 4)
    return {"rx-usecs": usecs, "rx-frames": frames}


def counted(port: str) -> dict[str, int]:
    """What `ethtool -S` says without groups, and the frames received of `ip -s link`."""
    info = bytearray(struct.pack("=IIQI", GSSET_INFO, 0, 1 << SS_STATS, 0))
    _call(port, info)
    (count,) = struct.unpack_from("=I", info, 16)
    names = bytearray(struct.pack(f"=III{STRING_LEN * count}x", GSTRINGS, SS_STATS, count))
    _call(port, names)
    values = bytearray(struct.pack(f"=II{8 * count}x", GSTATS, count))
    _call(port, values)
    texts = struct.iter_unpack(f"{STRING_LEN}s", bytes(names[12:]))
    each = (text.partition(b"\0")[0].decode() for (text,) in texts)
    received = Path(f"/sys/class/net/{port}/statistics/rx_packets").read_text()
    return {
        **dict(zip(each, struct.unpack_from(f"={count}Q", values, 8), strict=True)),
        "rx_frames": int(received),
    }


def _call(port: str, data: bytearray) -> None:
    address = ctypes.addressof(ctypes.c_char.from_buffer(data))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        fcntl.ioctl(asked, SIOCETHTOOL, struct.pack("16sP16x", port.encode(), address))
