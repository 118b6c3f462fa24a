"""Samples over virtual time and whole snapshots, of every port and every flow."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wirelab.guest.sockdiag import SockDiag
from wirelab.plan.node import Firewall
from wirelab.plan.types import Port

if TYPE_CHECKING:  # Mininet is in the lab alone, and some of this is tested without it
    from wirelab.guest.network import Network

# What still has a way before it.
_WAITING = ("tx_ring_frames", "tx_flight_frames", "rx_ring_frames", "buffer_bytes", "pool_used_bytes")
# Counted since the port was made, by cause; a sample gives their sum.
_DROPS = ("queue_dropped_", "rx_dropped_", "tx_dropped_")

Ports = dict[str, dict[str, int]]
Qdiscs = dict[str, list[Any]]
Condition = Callable[[Ports, Qdiscs], bool]
"""What a snapshot may wait for, by what ports and qdiscs tell."""

# How a rule of a firewall ends that counts what it blocks.
_COUNTED = " counter drop"


class Probe:
    """Reads the ports and the sockets of a network; keeps what it has read until ``write``."""

    def __init__(self, network: "Network") -> None:
        self._network = network
        self._plan = network.plan
        self._sockets: dict[str, SockDiag] = {}
        self._samples: list[dict[str, Any]] = []
        self._snapshots: list[dict[str, Any]] = []
        self._ports = [port for node in self._plan.nodes for port in self._plan.ports_of(node.name)]
        for sender in sorted({flow.sender for flow in self._plan.flows if flow.protocol == "tcp"}):
            with network.inside(sender):
                self._sockets[sender] = SockDiag()

    def sample(self, at_ns: int) -> None:
        """Take one sample: queues, buffers, pause state, drops; window and RTT of the flows.

        A port that counts as in the last one is left out.
        """
        ports = {}
        for port in self._ports:
            stats = self._network.tools[port.node].changed(port.name)
            if stats is None:
                continue
            ports[port.name] = {
                "queue_bytes": stats["queue_bytes"],
                "buffer_bytes": stats["buffer_bytes"],
                "paused": stats["tx_paused"],
                "dropped_frames": sum(n for name, n in stats.items() if name.startswith(_DROPS)),
                "tx_bytes": stats["tx_bytes"],
                "rx_bytes": stats["rx_bytes"],
            }
        self._samples.append({"at_ns": at_ns, "ports": ports, "flows": self._flows()})

    def _flows(self) -> dict[str, dict[str, int]]:
        connections = {sender: diag.established() for sender, diag in self._sockets.items()}
        infos = {
            flow.name: connections.get(flow.sender, {}).get((flow.client_port, flow.port))
            for flow in self._plan.flows
        }
        return {name: info for name, info in infos.items() if info is not None}

    def snapshot(self, *names: str, at_ns: int, only_if: Condition | None = None) -> bool:
        """Keep every counter of every port, qdisc and firewall rule as it is now, and the links.

        What the instant is called for has several ``names`` where several things happen. Nothing is kept
        where ``only_if`` does not hold. Returns whether it was kept.
        """
        ports = {port.name: self._network.tools[port.node].every(port.name) for port in self._ports}
        links = {port.name: self._link(port, ports[port.name]) for port in self._ports}
        qdiscs: Qdiscs = {}
        for node in self._plan.nodes:
            told = self._network.told(node.name, "tc", "qdisc show")
            for port in self._plan.ports_of(node.name):
                qdiscs[port.name] = [qdisc for qdisc in told if qdisc.get("dev") == port.name]
        if only_if is not None and not only_if(ports, qdiscs):
            return False
        counted: dict[str, Any] = {"ports": ports, "qdiscs": qdiscs, "links": links}
        if self._plan.firewalls:
            rules = ("nft", "-j", "list", "ruleset")
            counted["blocked"] = {
                firewall.name: blocked(firewall, self._network.run(firewall.name, *rules))
                for firewall in self._plan.firewalls
            }
        self._snapshots += [{"name": name, "at_ns": at_ns, **counted} for name in names]
        return True

    def _link(self, port: Port, stats: dict[str, int]) -> dict[str, Any]:
        link = self._network.link(port)
        return {
            "up": link.up,
            "speed_bps": link.speed_bps if link.up else None,
            "duplex": link.duplex if link.up else None,
            # A kernel that negotiates nothing does not count what came of it.
            "pause_rx": bool(stats.get("pause_rx_active", port.pause_rx)),
            "pause_tx": bool(stats.get("pause_tx_active", port.pause_tx)),
        }

    def write(self, folder: Path) -> None:
        """Write ``samples.jsonl`` and ``counters.json``."""
        lines = "".join(json.dumps(sample, separators=(",", ":")) + "\n" for sample in self._samples)
        (folder / "samples.jsonl").write_text(lines)
        (folder / "counters.json").write_text(json.dumps({"snapshots": self._snapshots}, indent=1) + "\n")


def still(ports: Ports, _: Qdiscs) -> bool:
    """Whether no frame is in a port or on a cable; on a long path there may be some."""
    return not any(stats.get(name) for stats in ports.values() for name in _WAITING)


def drained(ports: Ports, qdiscs: Qdiscs) -> bool:
    """Whether no frame is on its way at all."""
    return still(ports, qdiscs) and not any(
        qdisc.get("qlen") for queues in qdiscs.values() for qdisc in queues
    )


def blocked(firewall: Firewall, ruleset: str) -> dict[str, int]:
    """Frames that each rule which counts them has dropped, by what it matches, as the Plan has it.

    ``ruleset`` is what ``nft -j list ruleset`` tells: rules in the order in which they were added.
    Raises ValueError when they are not as many.
    """
    listed = [entry["rule"]["expr"] for entry in json.loads(ruleset)["nftables"] if "rule" in entry]
    return {
        rule.removesuffix(_COUNTED): sum(part["counter"]["packets"] for part in expr if "counter" in part)
        for rule, expr in zip(firewall.rules, listed, strict=True)
        if rule.endswith(_COUNTED)
    }
