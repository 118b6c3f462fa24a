"""What belongs to a port and not to its node, written and read back by the table of settings."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wirelab.guest import ethtool
from wirelab.guest.network import Network
from wirelab.guest.readback import Readback, readbacks
from wirelab.guest.shell import run
from wirelab.plan import iproute2
from wirelab.plan.port_settings import Value, settings_of
from wirelab.plan.types import Cable, Port

_BURSTS = {"gso_max_segs": "gso_max_segs", "gro_max_bytes": "gro_max_size"}

# A port is made with its address, bounded in its bursts when it is where it stays, tied to another one's
# link when that is there, too.
_NOT_YET = ("mac", *_BURSTS, "follow")

# Where a kernel before 6.2, which has no `dcb apptrust`, is told what to trust.
_TRUST_FILE = "etherport/trust"


def configure(port: Port, cable: Cable, tool: ethtool.Ethtool) -> None:
    """Set all that can be set while the port is still in the lab's own namespace, and down."""
    folder = Path("/sys/class/net", port.name)
    for file, value in _asked(port, cable, "sysfs", "ip link set").items():
        (folder / file).write_text(f"{value}\n")
    tool.set_link(port.name, _asked(port, cable, "ethtool -s"))
    for command in ethtool.COMMANDS:
        tool.set(port.name, command, _asked(port, cable, command))
    if port.pfc:
        lines = f"{iproute2.pfc(port)}\n"
        if (folder / _TRUST_FILE).exists():
            (folder / _TRUST_FILE).write_text(f"{port.trust}\n")
        else:
            lines += f"{iproute2.trust(port)}\n"
        run(["dcb", "-b", "-"], text=lines)


def _asked(port: Port, cable: Cable, *tools: str) -> dict[str, Value]:
    """What is set of a port by some tools, by their options, in the order of the table."""
    return {
        setting.option: value
        for setting, value in settings_of(port, cable)
        if setting.tool in tools and setting.name not in _NOT_YET
    }


def read_back(network: Network, port: Port, bursts: Mapping[str, int]) -> list[Readback]:
    """Every setting of the table as it is in force; ``bursts`` is what `ip link` says, if it was asked."""
    tool, cable = network.tools[port.node], network.plan.cable_of(port.name)
    folder = network.ports_folder(port.node) / port.name
    link = tool.link(port.name)
    in_force: dict[tuple[str, str], Value] = {
        ("ethtool -s", "autoneg"): link.autoneg,
        ("ethtool -s", "speed"): link.speed_bps or 0,
        ("ethtool -s", "duplex"): link.duplex or "unknown",
        ("ethtool -s", "advertise"): _in_order(port, link.advertise),
        **{("ip link set", option): bursts.get(option, 0) for option in _BURSTS.values()},
    }
    if port.pfc:
        in_force |= _priorities(network, port, folder)
    for command in ethtool.COMMANDS:
        in_force |= {(command, option): value for option, value in tool.get(port.name, command).items()}
    pairs: dict[str, tuple[Value, Value]] = {}
    for setting, asked in settings_of(port, cable):
        actual = in_force.get((setting.tool, setting.option))
        if actual is None:
            actual = (folder / setting.option).read_text().strip()
        pairs[setting.name] = (asked, _like(asked, actual))
    return readbacks(port.name, pairs)


def _priorities(network: Network, port: Port, folder: Path) -> dict[tuple[str, str], Value]:
    """PFC and what the port trusts."""
    pfc = _dcb(network, port, "pfc")["prio_pfc"]
    if (folder / _TRUST_FILE).exists():
        trust = (folder / _TRUST_FILE).read_text().strip()
    else:
        trust = " ".join(_dcb(network, port, "apptrust")["order"])
    lossless = " ".join(str(priority) for priority, on in enumerate(pfc) if on)
    return {("dcb pfc", "prio-pfc"): lossless, ("dcb apptrust", "order"): trust}


def _dcb(network: Network, port: Port, what: str) -> dict[str, list[Any]]:
    """What dcb shows of a port."""
    shown: dict[str, list[Any]] = json.loads(
        network.run(port.node, "dcb", "-j", what, "show", "dev", port.name)
    )
    return shown


def _in_order(port: Port, modes: tuple[str, ...]) -> str:
    """Modes in the order in which the Plan has them, what it does not have behind."""
    return " ".join(
        (*(mode for mode in port.advertise if mode in modes), *(set(modes) - set(port.advertise)))
    )


def _like(asked: Value, actual: Value) -> Value:
    """What a file or an ioctl says, as what was asked for is written."""
    if isinstance(asked, bool):
        return bool(actual)
    return int(actual, 0) if isinstance(asked, int) and isinstance(actual, str) else actual
