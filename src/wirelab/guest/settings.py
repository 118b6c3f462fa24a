"""Every setting of a Plan: put into force, then read back and compared.

A tool that does not know a rate may shape nothing and say nothing; a lab that trusts its settings
measures something else than it says. What is read back is the proof.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wirelab.guest.ethtool import Ethtool
from wirelab.guest.namespace import inside, sysfs
from wirelab.guest.shell import run
from wirelab.plan import tc

if TYPE_CHECKING:
    from wirelab.guest.network import Network
    from wirelab.plan.types import Netem, Plan, Port


# A module has no stack and says nothing of its own: no neighbour discovery, no multicast reports.
_SILENT = {"net.ipv6.conf.all.disable_ipv6": "1", "net.ipv6.conf.default.disable_ipv6": "1"}


class SettingsMismatchError(Exception):
    """The lab did not take a setting."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting of one port (or host): what was asked for and what is in force."""

    port: str
    setting: str
    asked: int | str | bool
    actual: int | str | bool


def configure(port: Port, cable_delay_ns: int) -> None:
    """Set what belongs to the hardware, while the port is still in the lab's own namespace."""
    tool = Ethtool()
    tool.set_speed(port.name, port.speed_bps)
    tool.set_pause(port.name, rx=port.pause_rx, tx=port.pause_tx)
    tool.set_coalesce(port.name, rx_usecs=port.rx_usecs, rx_frames=port.rx_frames)
    tool.set_rings(port.name, rx_frames=port.rx_ring_frames, tx_frames=port.tx_ring_frames)
    tool.close()
    folder = sysfs(None) / "class/net" / port.name
    for name, value in _attributes(port, cable_delay_ns).items():
        (folder / name).write_text(f"{value}\n")


def _attributes(port: Port, cable_delay_ns: int) -> dict[str, int | str]:
    return {
        "mtu": port.mtu_bytes,
        "etherport/role": port.role,
        "etherport/buffer_bytes": port.buffer_bytes,
        "etherport/xoff_bytes": port.xoff_bytes,
        "etherport/xon_bytes": port.xon_bytes,
        "etherport/cable_delay_ns": cable_delay_ns,
    }


def silence_switches() -> None:
    """Keep the lab's own namespace, where the switches' ports are, from speaking by them."""
    for name, value in _SILENT.items():
        _sysctl(name).write_text(f"{value}\n")


def cable_delay_ns(plan: Plan, port: Port) -> int:
    """The delay of the cable in ``port``."""
    return next(cable.delay_ns for cable in plan.cables if port.name in (cable.a, cable.b))


def apply(network: Network) -> None:
    """Set what belongs to the node: sysctls, addresses, carrier, egress queues, the module's two ways."""
    plan = network.plan
    for module in plan.modules:
        _apply_sysctls(network, module.name, _SILENT)
    for host in plan.hosts:
        _apply_sysctls(network, host.name, {**plan.sysctls, **host.sysctls})
    for node in (*plan.switches, *plan.modules, *plan.hosts):
        ports = plan.ports_of(node.name)
        run(network.argv(node.name, ["ip", "-batch", "-"]), text="".join(map(_ip_lines, ports)))
    # Open vSwitch puts its own qdisc in the place of another's when it adds a port: queues come last.
    for node in (*plan.switches, *plan.modules, *plan.hosts):
        _tc(network, node.name, [line for port in plan.ports_of(node.name) for line in tc.egress(port)])
    for module in plan.modules:
        ways = ((module.host_port, module.line_port), (module.line_port, module.host_port))
        _tc(network, module.name, [line for source, target in ways for line in tc.redirect(source, target)])


def _tc(network: Network, node: str, lines: list[str]) -> None:
    if lines:
        run(network.argv(node, ["tc", "-batch", "-"]), text="".join(f"{line}\n" for line in lines))


def _apply_sysctls(network: Network, host: str, sysctls: dict[str, str]) -> None:
    # Written as from inside, for /proc/sys/net shows the writer's namespace.
    with inside(network.pid(host)):
        for name, value in sysctls.items():
            _sysctl(name).write_text(f"{value}\n")


def _sysctl(name: str) -> Path:
    return Path("/proc/sys") / name.replace(".", "/")


def _ip_lines(port: Port) -> str:
    address = f"addr add {port.address} dev {port.name}\n" if port.address else ""
    # netem holds and loses what it is handed, and that would be a whole TSO burst.
    single = f"link set {port.name} gso_max_segs 1\n" if port.netem else ""
    return f"{address}{single}link set {port.name} up\n"


def read_back(network: Network) -> tuple[Setting, ...]:
    """Every setting as it is in force, beside what the Plan asks for."""
    plan = network.plan
    settings: list[Setting] = []
    for node in (*plan.switches, *plan.modules, *plan.hosts):
        pid = network.pid(node.name)
        qdiscs = json.loads(run(network.argv(node.name, ["tc", "-j", "qdisc", "show"])))
        with inside(pid):
            tool = Ethtool()
        for port in plan.ports_of(node.name):
            settings += _read_port(
                port, tool, sysfs(pid) / "class/net" / port.name, cable_delay_ns(plan, port)
            )
            settings += _read_queue(port, qdiscs)
        tool.close()
    for host in plan.hosts:
        with inside(network.pid(host.name)):
            for name, asked in {**plan.sysctls, **host.sysctls}.items():
                actual = " ".join(_sysctl(name).read_text().split())
                settings.append(Setting(host.name, name, asked, actual))
    return tuple(settings)


def _read_port(port: Port, tool: Ethtool, folder: Path, delay_ns: int) -> list[Setting]:
    pause_rx, pause_tx = tool.pause(port.name)
    rx_usecs, rx_frames = tool.coalesce(port.name)
    rx_ring, tx_ring = tool.rings(port.name)
    pairs: dict[str, tuple[int | str | bool, int | str | bool]] = {
        "speed_bps": (port.speed_bps, tool.speed_bps(port.name)),
        "pause_rx": (port.pause_rx, pause_rx),
        "pause_tx": (port.pause_tx, pause_tx),
        "rx_usecs": (port.rx_usecs, rx_usecs),
        "rx_frames": (port.rx_frames, rx_frames),
        "rx_ring_frames": (port.rx_ring_frames, rx_ring),
        "tx_ring_frames": (port.tx_ring_frames, tx_ring),
        "mac": (port.mac, (folder / "address").read_text().strip()),
        "carrier": (1, int((folder / "carrier").read_text())),
    }
    for name, asked in _attributes(port, delay_ns).items():
        text = (folder / name).read_text().strip()
        pairs[name.rpartition("/")[2]] = (asked, int(text) if isinstance(asked, int) else text)
    return [Setting(port.name, name, asked, actual) for name, (asked, actual) in pairs.items()]


def _read_queue(port: Port, qdiscs: list[dict[str, Any]]) -> list[Setting]:
    own = [each for each in qdiscs if each.get("dev") == port.name]
    root = next((each for each in own if each.get("root")), {})
    below = next((each for each in own if each.get("parent") == "1:"), {})
    settings = _read_netem(port.name, port.netem, root) if port.netem else []
    if port.queue is not None:
        queue = below if port.netem else root
        settings.append(Setting(port.name, "qdisc", port.queue.kind, queue.get("kind", "none")))
        if port.queue.limit_bytes is not None:
            limit = queue.get("options", {}).get("limit", 0)
            settings.append(Setting(port.name, "queue_limit_bytes", port.queue.limit_bytes, limit))
    return settings


def _read_netem(name: str, asked: Netem, qdisc: dict[str, Any]) -> list[Setting]:
    options = qdisc.get("options", {})
    delay, loss = options.get("delay", {}), options.get("loss-random", {})
    pairs: dict[str, tuple[int | str, int | str]] = {
        "path": ("netem", qdisc.get("kind", "none")),
        "netem_delay_ns": (asked.delay_ns, round(delay.get("delay", 0) * 1e9)),
        "netem_jitter_ns": (asked.jitter_ns, round(delay.get("jitter", 0) * 1e9)),
        # netem keeps a probability in 32 bits.
        "netem_loss_ppm": (round(asked.loss_ratio * 1e6), round(loss.get("loss", 0) * 1e6)),
        "netem_limit_packets": (asked.limit_packets, options.get("limit", 0)),
    }
    return [Setting(name, setting, ask, actual) for setting, (ask, actual) in pairs.items()]


def verify(settings: tuple[Setting, ...]) -> None:
    """Raise SettingsMismatchError, naming every setting that is not in force."""
    wrong = [each for each in settings if each.asked != each.actual]
    if wrong:
        raise SettingsMismatchError(
            "; ".join(
                f"{each.port}: {each.setting} is {each.actual}, asked for {each.asked}" for each in wrong
            )
        )


def to_json(settings: tuple[Setting, ...]) -> str:
    """``settings.json``: one object a line."""
    return "[\n" + ",\n".join(json.dumps(asdict(each)) for each in settings) + "\n]\n"
