"""Where a change may help a flow: the places that the table of settings speaks of, as keys of ``with``."""

from dataclasses import dataclass

from wirelab.model.setting_table import Place, settings_of
from wirelab.model.settings import Target
from wirelab.model.topology import PortRef
from wirelab.model.types import figure_value
from wirelab.model.wiring import Wiring
from wirelab.plan.path import flow_path
from wirelab.plan.traffic import Flow
from wirelab.plan.types import Plan
from wirelab.verdict.explanation import Bottleneck

_HOSTS = ("host", "firewall")
_COSTS = ("rx_frame", "rx_byte", "tx_frame", "tx_byte")


@dataclass(frozen=True, slots=True)
class Places:
    """The places around the bottleneck of a flow.

    ``begun`` is the Plan that was measured, ``plan`` has what the ports agreed on, ``wiring`` is what a
    scenario says of the same network.
    """

    wiring: Wiring
    begun: Plan
    plan: Plan
    flow: Flow
    found: Bottleneck

    def keys(self, place: Place, name: str) -> list[tuple[str, ...]]:
        """The keys of a setting at a place; those of one tuple are one change."""
        alternatives: dict[str, list[tuple[str, ...]]] = {
            "place": [self._ports()[:1]],
            "node": [self._nodes()[:1]],
            "card": [(node,) for node in self._nodes() if self._kind(node) in _HOSTS],
            "cable": [self._cable()],
            "bond": [(bond,) for ref in self._refs() if (bond := self.wiring.topology.bond_of(ref))],
            "sender": [(self.flow.sender,)],
            "receiver": [(self.flow.receiver,)],
            "ends": [(self.flow.sender, self.flow.receiver)],
            "path": [self.silent()],
            "pauser": [self._peers()],
            "network": [("network",)],
        }
        found = [
            tuple(key for owner in together if (key := self._key(owner, name)))
            for together in dict.fromkeys(alternatives[place])
        ]
        return [keys for keys in found if keys]

    def part_keys(self) -> list[str]:
        """The nodes at the place that may be another part."""
        return list(self._nodes())

    def silent(self) -> tuple[str, ...]:
        """The nodes that do not obey PAUSE, or do not say it, on the way from the sender to the place."""
        nodes: list[str] = []
        for hop in flow_path(self.begun, self.flow):
            nodes += [] if hop.out.pause_rx else [hop.out.node]
            nodes += [] if hop.into.pause_tx else [hop.into.node]
            if hop.into.node in self._nodes():
                break
        return tuple(dict.fromkeys(nodes))

    def current(self, key: str) -> int | None:
        """What a setting is now, in base units; None where that is no number, or nobody knows it."""
        owner, _, name = key.rpartition(".")
        if owner.endswith(".shape"):
            owner, name = owner.removesuffix(".shape"), f"shape.{name}"
        topology = self.wiring.topology
        refs = [ref for ref in topology.ports() if owner in {ref.node, topology.label(ref)}]
        cables = [cable for cable in topology.cables if cable.name == owner]
        refs += [topology.ends(cable)[0] for cable in cables]
        if owner in topology.nodes and (said := self.wiring.settings.get((Target(owner), name))):
            return None if isinstance(said.value, str) else int(said.value)
        if not refs:
            return None
        return self._figure(refs[0], name)

    def _figure(self, ref: PortRef, name: str) -> int | None:
        wiring, node = self.wiring, ref.node
        kind = wiring.topology.nodes[node].kind
        port = self.plan.port(ref.interface)
        if name == "queue_limit":
            return port.queue.limit_bytes if port.queue else None
        if name == "fifo":
            return wiring.fifo_bytes(ref)
        if kind == "host" and name in _COSTS:
            parts = (wiring.host(node), wiring.nic(node))
            return sum(int(figure_value(part, name) or 0) for part in parts) or None
        value = wiring.value(ref, name)
        if value is None and kind == "host":
            value = wiring.of_host(node, name)
        if value is None and kind == "firewall":
            value = figure_value(wiring.firewall(node), name)
        return None if value is None or isinstance(value, str) else int(value)

    def _refs(self) -> list[PortRef]:
        labels = {self.wiring.topology.label(ref): ref for ref in self.wiring.topology.ports()}
        return [labels[label] for label in self.found.at if label in labels]

    def _ports(self) -> tuple[str, ...]:
        labels = [self.wiring.topology.label(ref) for ref in self._refs()]
        return tuple(labels) or self.found.at

    def _nodes(self) -> tuple[str, ...]:
        named = [at for at in self.found.at if at in self.wiring.topology.nodes]
        return tuple(dict.fromkeys([*(ref.node for ref in self._refs()), *named]))

    def _cable(self) -> tuple[str, ...]:
        """The name of the cable at the place, or both its ends where it has none."""
        for ref in self._refs()[:1]:
            cable = self.wiring.topology.cable_of(ref)
            if cable.name:
                return (cable.name,)
            return tuple(self.wiring.topology.label(end) for end in self.wiring.topology.ends(cable))
        return ()

    def _peers(self) -> tuple[str, ...]:
        return tuple(self.wiring.topology.peer(ref).node for ref in self._refs())

    def _kind(self, node: str) -> str:
        return self.wiring.topology.nodes[node].kind

    def _key(self, owner: str, name: str) -> str:
        """The key of a setting of an owner, or of its node; empty where neither has it."""
        topology = self.wiring.topology
        node, _, port = owner.partition(".")
        if owner in topology.bonds:
            kinds = [(owner, "bond")]
        elif node not in topology.nodes:
            kinds = [(owner, "network" if owner == "network" else "cable")]
        else:
            kind = self._kind(node)
            kinds = [(owner, f"{kind} port")] if port else []
            kinds.append((node, kind))
        return next((f"{of}.{name}" for of, kind in kinds if name in settings_of(kind)), "")
