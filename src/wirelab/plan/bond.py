"""A bond of a Plan: ports of a node that are one to all above them. Standard library only, for the guest."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Literal, Self

BondMode = Literal["active-backup", "802.3ad"]
HashPolicy = Literal["layer2", "layer2+3", "layer3+4"]
LacpRate = Literal["slow", "fast"]

LACP = "802.3ad"


@dataclass(frozen=True, slots=True)
class Bond:
    """Some ``ports`` of a node, by name, which have its ``mac`` and, at a host, its ``address``.

    It looks every ``miimon_ms`` whether they have a link (0: never), and believes what it sees when it has
    been so for ``downdelay_ms`` or ``updelay_ms``. With ``active-backup`` the port ``active`` carries, which
    is ``primary`` whenever it can; with another one it says so by ``num_grat_arp`` gratuitous ARPs. With LACP
    all carry, each frame by ``xmit_hash_policy``; one alone where the other end does not ``agree``.
    """

    name: str
    label: str
    node: str
    ports: tuple[str, ...]
    mode: BondMode
    mac: str
    mtu_bytes: int
    miimon_ms: int
    active: str
    address: str | None = None
    primary: str | None = None
    downdelay_ms: int = 0
    updelay_ms: int = 0
    num_grat_arp: int = 1
    xmit_hash_policy: HashPolicy = "layer2"
    lacp_rate: LacpRate = "slow"
    agrees: bool = False
    gso_max_segs: int | None = None

    @property
    def shares(self) -> bool:
        """Whether all its ports carry."""
        return self.mode == LACP and self.agrees

    @property
    def spreads(self) -> bool:
        """Whether it spreads connections between the same two hosts: only their ports tell them apart."""
        return self.shares and self.xmit_hash_policy == "layer3+4"

    def carrying(self, linked: Collection[str]) -> tuple[str, ...]:
        """Which of its ports carry while those that are ``linked`` can."""
        if not self.shares:
            return (self.active,)
        return tuple(name for name in self.ports if name in linked) or self.ports

    def after(self, linked: Collection[str]) -> Self:
        """The bond when it has noticed that those of its ports have a link."""
        if not self.miimon_ms:
            return self
        wished = (self.primary, self.active, *self.ports)
        active = next((name for name in wished if name in linked), self.active)
        return replace(self, active=active or self.active)
