"""pcapng, as far as a capture of a lab needs it: several interfaces, nanoseconds, numbers, comments.

draft-ietf-opsawg-pcapng; the sections named below are its.
"""

import struct
from dataclasses import dataclass, field
from typing import BinaryIO, Final, Literal

from wirelab.units import NS_PER_S

_SECTION: Final = 0x0A0D0D0A
_INTERFACE: Final = 1
_PACKET: Final = 6
_BYTE_ORDER: Final = 0x1A2B3C4D
_UNKNOWN_LENGTH: Final = 0xFFFF_FFFF_FFFF_FFFF
_ETHERNET: Final = 1
_NANOSECONDS: Final = b"\x09"

# Section 3.5: options of any block, then those of a section, of an interface and of a packet.
_END, _COMMENT = 0, 1
_APPLICATION: Final = 4
_NAME, _DESCRIPTION, _SPEED, _RESOLUTION, _OFFSET = 2, 3, 8, 9, 14
_FLAGS, _NUMBER = 2, 5

Direction = Literal["inbound", "outbound"]
_DIRECTIONS: Final[dict[Direction, int]] = {"inbound": 1, "outbound": 2}

_OPTION: Final = struct.Struct("<HH")
_LENGTHS: Final = struct.Struct("<II")
_PACKET_HEAD: Final = struct.Struct("<IIIII")


@dataclass(slots=True)
class PcapngWriter:
    """Writes one section; an interface comes before its packets.

    Times may be negative, but no earlier than ``from_ns``.
    """

    file: BinaryIO
    application: str
    kept_bytes: int
    from_ns: int = 0
    _offset_s: int = field(default=0, init=False)
    _interfaces: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        """Begin the section."""
        # Stamps are unsigned: what is before 0 counts from whole seconds before it.
        self._offset_s = min(self.from_ns // NS_PER_S, 0)
        head = struct.pack("<IHHQ", _BYTE_ORDER, 1, 0, _UNKNOWN_LENGTH)
        self._block(_SECTION, head + _options((_APPLICATION, self.application.encode())))

    def interface(self, name: str, description: str, speed_bps: int) -> int:
        """Add an Ethernet interface. Returns its number."""
        options = [
            (_NAME, name.encode()),
            (_DESCRIPTION, description.encode()),
            (_SPEED, struct.pack("<Q", speed_bps)),
            (_RESOLUTION, _NANOSECONDS),
        ]
        if self._offset_s:
            options.append((_OFFSET, struct.pack("<q", self._offset_s)))
        self._block(_INTERFACE, struct.pack("<HHI", _ETHERNET, 0, self.kept_bytes) + _options(*options))
        self._interfaces += 1
        return self._interfaces - 1

    def packet(  # noqa: PLR0913 - what a packet has
        self,
        interface: int,
        at_ns: int,
        content: bytes,
        *,
        length_bytes: int,
        direction: Direction,
        number: int,
        comment: str = "",
    ) -> None:
        """Add a frame. ``content`` is what is kept of its ``length_bytes``."""
        stamp = at_ns - self._offset_s * NS_PER_S
        head = _PACKET_HEAD.pack(
            interface, stamp >> 32, stamp & 0xFFFF_FFFF, len(content), max(length_bytes, len(content))
        )
        options = [(_FLAGS, struct.pack("<I", _DIRECTIONS[direction])), (_NUMBER, struct.pack("<Q", number))]
        if comment:
            options.append((_COMMENT, comment.encode()))
        self._block(_PACKET, head + _padded(content) + _options(*options))

    def _block(self, kind: int, body: bytes) -> None:
        length_bytes = len(body) + 12
        self.file.write(_LENGTHS.pack(kind, length_bytes) + body + length_bytes.to_bytes(4, "little"))


def _padded(content: bytes) -> bytes:
    return content + bytes(-len(content) % 4)


def _options(*options: tuple[int, bytes]) -> bytes:
    return b"".join(
        _OPTION.pack(code, len(value)) + _padded(value) for code, value in (*options, (_END, b""))
    )
