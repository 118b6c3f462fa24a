"""VLANs: the one of an access port, or those of a trunk (IEEE 802.1Q)."""

from typing import Annotated, Final

from pydantic import BeforeValidator, WithJsonSchema

from wirelab.model.expected import kind_of

LARGEST_VLAN: Final = 4094
"""Of twelve bits 0 and 4095 are reserved (IEEE 802.1Q, 9.6)."""

_NUMBER: Final = {"type": "integer", "minimum": 1, "maximum": LARGEST_VLAN}


def _vlan(value: object) -> int:
    text = str(value)
    if isinstance(value, bool | dict | list | None) or not (text.isascii() and text.isdecimal()):
        raise ValueError(f"expected a VLAN such as `10`, found {kind_of(value)}")
    if len(text) > len(str(LARGEST_VLAN)) or not 1 <= int(text) <= LARGEST_VLAN:
        raise ValueError(f"there is no VLAN {text}; they are 1..{LARGEST_VLAN}")
    return int(text)


def _vlans(value: object) -> int | tuple[int, ...]:
    if not isinstance(value, list | tuple):
        return _vlan(value)
    if not value:
        raise ValueError("is a trunk of no VLAN")
    vlans = tuple(map(_vlan, value))
    twice = next((vlan for vlan in vlans if vlans.count(vlan) > 1), None)
    if twice is not None:
        raise ValueError(f"has VLAN {twice} twice")
    return tuple(sorted(vlans))


Vlans = Annotated[
    int | tuple[int, ...],
    BeforeValidator(_vlans),
    WithJsonSchema({"anyOf": [_NUMBER, {"type": "array", "items": _NUMBER, "minItems": 1}]}),
]
"""The VLAN of an access port, whose frames have no tag; a list is a trunk's, whose frames have one."""
