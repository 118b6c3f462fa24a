"""Where a change may help a flow: the places that the table of settings speaks of, as keys of ``with``."""

from dataclasses import dataclass, replace

from wirelab.model.setting_table import Place, SettingKind, settings_of
from wirelab.model.settings import Target
from wirelab.model.topology import PortRef
from wirelab.model.types import figure_value
from wirelab.model.wiring import Wiring
from wirelab.plan.cpu import COSTS
from wirelab.plan.path import flow_path, priority
from wirelab.plan.traffic import Flow
from wirelab.plan.types import Plan
from wirelab.verdict.explanation import Bottleneck, Mechanism

_HOSTS = ("host", "firewall")


@dataclass(frozen=True, slots=True)
class Places:
    """The places around the bottleneck of a flow.

    ``begun`` is the Plan that was measured, ``plan`` has what the ports agreed on, ``wiring`` is what a
    scenario says of the same network. ``words`` are what of the table of settings may help.
    """

    wiring: Wiring
    begun: Plan
    plan: Plan
    flow: Flow
    found: Bottleneck
    words: tuple[str, ...]

    def has(self, *mechanisms: Mechanism) -> bool:
        """Whether what helps against one of these may help."""
        return not set(self.words).isdisjoint(mechanisms)

    def of_setting(self, kind: SettingKind) -> list[tuple[Place, tuple[str, ...]]]:
        """Where a setting may help, and the values to be tried there, empty for all that it may have."""
        found: dict[Place, tuple[str, ...]] = {}
        for word in self.words:
            for place in kind.helps.get(word, ()):
                found.setdefault(place, kind.tries_for.get(word, kind.tries))
        return list(found.items())

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
            "peer": [self._peers()],
            "switches": [self._switches()],
            "marking": [(self.flow.sender, *self._ports()[:1])],
            "before": [(before,) if (before := self.before()) else ()],
            "way": [self._way()],
            "network": [self._network()],
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

    def before(self) -> str:
        """The port by which the flow comes to a shaped line at the place; empty where there is none."""
        refs = [ref for ref in self._refs()[:1] if self.wiring.value(ref, "shape.rate") is not None]
        for hop in flow_path(self.plan, self.flow) if refs else ():
            if hop.into.node == refs[0].node:
                return hop.out.label
        return ""

    def ref(self, label: str) -> PortRef | None:
        """The port of a label; None of what is a node."""
        topology = self.wiring.topology
        return next((ref for ref in topology.ports() if topology.label(ref) == label), None)

    def place(self) -> PortRef | None:
        """The bottleneck's own port, None where it is none."""
        return next(iter(self._refs()), None)

    def priorities(self) -> list[int]:
        """Those that the frames of all that runs beside the flow would have if its DSCP told them."""
        port = next(iter(self.plan.ports_of(self.flow.sender)))
        sorting = replace(port, pfc=(0,), trust="dscp")
        beside = [one for one in self.plan.flows if one.overlaps(self.flow)]
        return sorted({priority(sorting, one.dscp or 0) for one in beside})

    def _switches(self) -> tuple[str, ...]:
        """Those on the way of the flow."""
        nodes = dict.fromkeys(hop.into.node for hop in flow_path(self.plan, self.flow))
        return tuple(node for node in nodes if self._kind(node) == "switch")

    def _way(self) -> tuple[str, ...]:
        """The nodes on the ways of all that runs beside the flow, and of itself."""
        beside = [one for one in self.plan.flows if one.overlaps(self.flow)]
        ways = [hop for one in beside for hop in flow_path(self.plan, one)]
        return tuple(dict.fromkeys(port.node for hop in ways for port in (hop.out, hop.into)))

    def _network(self) -> tuple[str, ...]:
        """All of it, unless a part is a provider's: nobody can change that with their own."""
        cables = self.wiring.topology.cables
        return () if any(self.wiring.line(cable) for cable in cables) else ("network",)

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
        if kind == "host" and name in COSTS:
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
