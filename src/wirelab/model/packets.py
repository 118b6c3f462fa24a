"""Kinds of packets, as a firewall's ``block:`` names them: ``udp``, ``tcp 5202``, ``icmp``."""

import re
from typing import Final

from wirelab.errors import unknown

_WORDS: Final = re.compile(r"([a-z]+)(?:\s+([0-9]{1,5}))?", re.ASCII)
_PROTOCOLS: Final = ("tcp", "udp", "icmp")
_LARGEST_PORT: Final = 65_535


Packets = tuple[str, int | None]
"""All packets of a protocol, or those of it to one destination port."""


def parse_packets(text: str) -> tuple[Packets, ...]:
    """Kinds of packets separated by commas. Raises ValueError for what is none."""
    return tuple(_one(words.strip()) for words in text.split(","))


def _one(text: str) -> Packets:
    match = _WORDS.fullmatch(text)
    if match is None:
        msg = f"`{text}` names no packets; write a protocol and perhaps its port, such as `udp` or `tcp 5202`"
        raise ValueError(msg)
    protocol, port = match[1], match[2]
    if protocol not in _PROTOCOLS:
        raise ValueError(unknown("protocol", protocol, _PROTOCOLS))
    if port is None:
        return protocol, None
    if protocol == "icmp" or not 0 < int(port) <= _LARGEST_PORT:
        raise ValueError(f"`{text}`: {protocol} has no port {port}")
    return protocol, int(port)
