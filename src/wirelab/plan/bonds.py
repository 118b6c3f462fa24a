"""The bonds of a wiring in base units."""

from typing import cast

from wirelab.model.bond import LACP
from wirelab.model.wiring import Wiring
from wirelab.plan.addresses import Addresses
from wirelab.plan.bond import Bond, LacpRate
from wirelab.plan.types import Port


def bonds(wiring: Wiring, ports: tuple[Port, ...], addresses: Addresses) -> tuple[Bond, ...]:
    """Every bond of a wiring whose ports are among ``ports``, in the order of the topology."""
    by_name = {port.name: port for port in ports}
    return tuple(_bond(wiring, name, by_name, addresses) for name in wiring.topology.bonds)


def _bond(wiring: Wiring, name: str, ports: dict[str, Port], addresses: Addresses) -> Bond:
    topology = wiring.topology
    refs = [topology.resolve(text) for text in topology.bonds[name].ports]
    names = tuple(ref.interface for ref in refs)
    first = ports[names[0]]
    said = {key: wiring.own(name, key) for key in ("primary", "num_grat_arp", "lacp_rate")}
    primary = next((ref.interface for ref in refs if ref.port == said["primary"]), None)
    sharing = wiring.bond_mode(name) == LACP
    own = min(refs, key=lambda ref: ref.number)
    return Bond(
        name=name.replace(".", "-"),
        label=name,
        node=first.node,
        ports=names,
        mode=wiring.bond_mode(name),
        mac=first.mac,
        mtu_bytes=first.mtu_bytes,
        miimon_ms=wiring.miimon_ms(name),
        active=primary or names[0],
        address=None if topology.is_tagged(own) else addresses.with_prefix(own),
        primary=primary,
        downdelay_ms=int(wiring.own(name, "downdelay") or 0),
        updelay_ms=int(wiring.own(name, "updelay") or 0),
        num_grat_arp=1 if said["num_grat_arp"] is None else int(said["num_grat_arp"]),
        xmit_hash_policy=wiring.hash_policy(name) if sharing else "layer2",
        lacp_rate=cast("LacpRate", said["lacp_rate"] or "slow"),
        agrees=sharing and topology.bond_of(topology.peer(refs[0])) is not None,
        gso_max_segs=min((longest for name in names if (longest := ports[name].gso_max_segs)), default=None),
    )
