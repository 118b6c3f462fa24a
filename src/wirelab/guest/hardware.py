"""What belongs to a port and not to its node, written and read back by the table of settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wirelab.guest import dcb, ethtool
from wirelab.guest.ethtool import Ethtool
from wirelab.guest.namespace import sysfs
from wirelab.guest.readback import Readback, Value, readbacks
from wirelab.plan.port_settings import PORT_SETTINGS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from wirelab.plan.types import Cable, Port

# A port is made with its address, bounded in its bursts when it is where it stays, tied to another one's
# link when that is there, too.
_NOT_YET = ("mac", "gso_max_segs", "follow")


def configure(port: Port, cable: Cable) -> None:
    """Set all that can be set while the port is still in the lab's own namespace, and down."""
    tool = Ethtool()
    tool.set_link(port.name, _asked(port, cable, "ethtool -s"))
    for command in ethtool.COMMANDS:
        values = _asked(port, cable, command)
        tool.set(port.name, command, {option: int(value) for option, value in values.items()})
    tool.close()
    folder = sysfs(None) / "class/net" / port.name
    for file, value in _asked(port, cable, "sysfs", "ip link").items():
        (folder / file).write_text(f"{value}\n")
    dcb.configure(port, folder)


def _asked(port: Port, cable: Cable, *tools: str) -> dict[str, Value]:
    """What is set of a port by some tools, by their options, in the order of the table."""
    settings = (
        setting for setting in PORT_SETTINGS if setting.tool in tools and setting.name not in _NOT_YET
    )
    values = {setting.option: setting.value(port, cable) for setting in settings}
    return {option: value for option, value in values.items() if value is not None}


def read_back(
    port: Port, cable: Cable, tool: Ethtool, folder: Path, by_tools: Mapping[tuple[str, str], Value]
) -> list[Readback]:
    """Every setting of the table as it is in force.

    ``folder`` is the port's in sysfs, ``by_tools`` what other tools than ethtool tell, by tool and option.
    """
    link = tool.link(port.name)
    in_force: dict[tuple[str, str], Value] = {
        ("ethtool -s", "autoneg"): link.autoneg,
        ("ethtool -s", "speed"): link.speed_bps or 0,
        ("ethtool -s", "duplex"): link.duplex or "unknown",
        ("ethtool -s", "advertise"): _in_order(port, link.advertise),
        **by_tools,
    }
    for command in ethtool.COMMANDS:
        in_force |= {(command, option): value for option, value in tool.get(port.name, command).items()}
    pairs: dict[str, tuple[Value, Value]] = {}
    for setting in PORT_SETTINGS:
        asked = setting.value(port, cable)
        if asked is not None:
            actual = in_force.get((setting.tool, setting.option))
            if actual is None:
                actual = (folder / setting.option).read_text().strip()
            pairs[setting.name] = (asked, _like(asked, actual))
    return readbacks(port.name, pairs)


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
