"""What frames cost the CPU of a node, and what that follows from: a firewall's rules, a capture."""

from collections.abc import Iterator
from typing import Final

from wirelab.model.packets import parse_packets
from wirelab.model.parts import CAPTURE
from wirelab.model.types import figure_value
from wirelab.model.wiring import Wiring
from wirelab.plan.capture import Capture
from wirelab.plan.types import Cpu
from wirelab.units import PS_PER_NS

COSTS: Final = ("rx_frame", "rx_byte", "tx_frame", "tx_byte")
"""The figures of what a frame costs a host: on its way in, on its way out, and each of its bytes."""
_BYTE: Final = 256


def node_cpu(wiring: Wiring, node: str, number: int) -> Cpu | None:
    """What a frame costs a host, its system and the driver of its card together, or a firewall.

    A firewall pays all of it on the way in: the base, and every rule that a frame of a running connection is
    compared with. A stateful one accepts it by the first, else the last does. None where frames cost nothing.
    """
    kind = wiring.topology.nodes[node].kind
    if kind == "firewall":
        compared = 1 if _figure(wiring, node, "stateful") else len(list(_rules(wiring, node)))
        cost_ps = _figure(wiring, node, "frame") + compared * _figure(wiring, node, "rule")
        return Cpu(number, rx_frame_ns=round(cost_ps / PS_PER_NS), rx_byte_ps=_figure(wiring, node, "byte"))
    costs = [_figure(wiring, node, name) if kind == "host" else 0 for name in COSTS]
    if not any(costs) and node_capture(wiring, node) is None:
        return None
    rx_frame_ps, rx_byte_ps, tx_frame_ps, tx_byte_ps = costs
    return Cpu(number, round(rx_frame_ps / PS_PER_NS), rx_byte_ps, round(tx_frame_ps / PS_PER_NS), tx_byte_ps)


def node_capture(wiring: Wiring, node: str) -> Capture | None:
    """What a host keeps a copy of its frames with, None for one that keeps none."""
    if wiring.topology.nodes[node].kind != "host":
        return None
    frame_ps, backlog_bytes, bytes_per_s = (_figure(wiring, node, name) for name in CAPTURE)
    return Capture(round(frame_ps / PS_PER_NS), backlog_bytes, bytes_per_s) if backlog_bytes else None


def firewall_rules(wiring: Wiring, node: str) -> str:
    """The rule set of a firewall as nft's commands, one a line."""
    hook = "type filter hook forward priority filter; policy drop;"
    lines = ["add table inet firewall", f"add chain inet firewall forward {{ {hook} }}"]
    lines += [f"add rule inet firewall forward {rule}" for rule in _rules(wiring, node)]
    return "".join(f"{line}\n" for line in lines)


def _rules(wiring: Wiring, node: str) -> Iterator[str]:
    if _figure(wiring, node, "stateful"):
        yield "ct state established,related accept"
    blocked = wiring.own(node, "block")
    for protocol, port in () if blocked is None else parse_packets(str(blocked)):
        match = f"meta l4proto {protocol}" if port is None else f"{protocol} dport {port}"
        yield f"{match} counter drop"
    for index in range(_figure(wiring, node, "rules")):
        # 198.18.0.0/16 is set aside for tests (RFC 2544): nobody here has such an address.
        yield f"ip saddr 198.18.{index // _BYTE}.{index % _BYTE} drop"
    yield "counter accept"


def _figure(wiring: Wiring, node: str, name: str) -> int:
    """What a setting says of a node, else what all of its parts have together."""
    said = wiring.own(node, name)
    if said is not None:
        return int(said)
    firewall = wiring.topology.nodes[node].kind == "firewall"
    parts = (wiring.firewall(node),) if firewall else (wiring.host(node), wiring.nic(node))
    return sum(int(figure_value(part, name) or 0) for part in parts)
