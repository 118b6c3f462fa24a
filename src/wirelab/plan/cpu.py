"""What frames cost the CPU of a node, and the rules of a firewall that the cost follows from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from wirelab.model.packets import Packets, parse_packets
from wirelab.model.settings import Target
from wirelab.plan.types import Cpu
from wirelab.units import PS_PER_NS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wirelab.model.settings import Value
    from wirelab.model.wiring import Wiring

ADD_RULE: Final = "add rule inet firewall forward"

_COSTS: Final = ("rx_frame", "rx_byte", "tx_frame", "tx_byte")
_BYTE: Final = 256


def host_cpu(wiring: Wiring, node: str, number: int) -> Cpu | None:
    """What a frame costs a host: its system and the driver of its card; None if nothing."""
    cost = {name: _host_cost(wiring, node, name) for name in _COSTS}
    if not any(cost.values()):
        return None
    return Cpu(
        number,
        rx_frame_ns=_ns(cost["rx_frame"]),
        rx_byte_ps=cost["rx_byte"],
        tx_frame_ns=_ns(cost["tx_frame"]),
        tx_byte_ps=cost["tx_byte"],
    )


def firewall_cpu(wiring: Wiring, node: str, number: int) -> Cpu:
    """What a frame costs a firewall, all of it on its way in: the base and every rule it is compared with."""
    cost = _figure(wiring, node, "frame") + _compared(wiring, node) * _figure(wiring, node, "rule")
    return Cpu(number, rx_frame_ns=_ns(cost), rx_byte_ps=_figure(wiring, node, "byte"))


def firewall_rules(wiring: Wiring, node: str) -> str:
    """The rule set of a firewall as nft's commands, one a line."""
    hook = "type filter hook forward priority filter; policy drop;"
    lines = ["add table inet firewall", f"add chain inet firewall forward {{ {hook} }}"]
    lines += [f"{ADD_RULE} {rule}" for rule in _rules(wiring, node)]
    return "".join(f"{line}\n" for line in lines)


def _rules(wiring: Wiring, node: str) -> Iterator[str]:
    if _figure(wiring, node, "stateful"):
        yield "ct state established,related accept"
    for packets in _blocked(wiring, node):
        yield f"{_match(packets)} counter drop"
    for index in range(_figure(wiring, node, "rules")):
        # 198.18.0.0/16 is set aside for tests (RFC 2544): nobody here has such an address.
        yield f"ip saddr 198.18.{index // _BYTE}.{index % _BYTE} drop"
    yield "counter accept"


def _compared(wiring: Wiring, node: str) -> int:
    """With how many rules a frame of a running connection is compared, the one that accepts it included."""
    if _figure(wiring, node, "stateful"):
        return 1
    return len(_blocked(wiring, node)) + _figure(wiring, node, "rules") + 1


def _blocked(wiring: Wiring, node: str) -> tuple[Packets, ...]:
    setting = wiring.settings.get((Target(node), "block"))
    return () if setting is None else parse_packets(str(setting.value))


def _match(packets: Packets) -> str:
    if packets.port is None:
        return f"meta l4proto {packets.protocol}"
    return f"{packets.protocol} dport {packets.port}"


def _figure(wiring: Wiring, node: str, name: str) -> int:
    setting = wiring.settings.get((Target(node), name))
    if setting is not None:
        return int(setting.value)
    figure = getattr(wiring.firewall(node), name)
    return 0 if figure is None else int(figure.value)


def _host_cost(wiring: Wiring, node: str, name: str) -> int:
    setting = wiring.settings.get((Target(node), name))
    if setting is not None:
        return int(setting.value)
    figures = (getattr(part, name) for part in (wiring.host(node), wiring.nic(node)))
    values: list[Value] = [figure.value for figure in figures if figure is not None]
    return sum(map(int, values))


def _ns(cost_ps: int) -> int:
    return round(cost_ps / PS_PER_NS)
