"""What has the tags of a VLAN at a host (IEEE 802.1Q). Standard library only, for the guest."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tagged:
    """What writes and reads the tag of a ``vlan`` at a host, ``on`` a port or a bond."""

    name: str
    node: str
    on: str
    vlan: int
    mtu_bytes: int
    address: str | None = None
    gso_max_segs: int | None = None
