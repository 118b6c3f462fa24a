"""The events of a Plan: what changes while the network runs, each at its virtual instant."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wirelab.guest import clock, settings
from wirelab.guest.ethtool import Ethtool
from wirelab.guest.interfaces import Interfaces
from wirelab.guest.readback import Readback, verify
from wirelab.plan.event import UNPLUGGED, after, changed_lines, changed_settings, pulled_end, ways_again
from wirelab.plan.types import Cable, Event, Plan, Port

if TYPE_CHECKING:  # Mininet is in the lab alone, and the schedule is tested without it
    from wirelab.guest.network import Network

FILE = "events.json"

_UP, _LINK = _LINKS = ("up", "link")
_MODERATION = "ethtool -C"


class Events:
    """Carries out each event of a network's Plan, which is then the Plan of what the network has become."""

    def __init__(self, network: "Network") -> None:
        self._network = network
        self._left = list(network.plan.events)
        self._done: list[dict[str, Any]] = []

    @property
    def next_ns(self) -> int | None:
        """When the next one is due, None after the last."""
        return self._left[0].at_ns if self._left else None

    def carry_out(self, ready_ns: int) -> None:
        """The next one, now. Raises SettingsMismatchError for what does not hold after it."""
        # To read the clock takes 52 ns of virtual time, and tc some microseconds.
        at_ns = clock.now_ns() - ready_ns
        found = change(self._network, self._left.pop(0))
        self._done.append({"at_ns": at_ns, "settings": [asdict(setting) for setting in found]})
        verify(found)

    def write(self, folder: Path) -> None:
        """Write ``events.json``, if there are any: what was done when, and every setting as it is by now.

        Raises SettingsMismatchError for one that no longer holds.
        """
        if not self._done and not self._left:
            return
        last = settings.read_back(self._network)
        told = {"events": self._done, "last": [asdict(setting) for setting in last]}
        (folder / FILE).write_text(json.dumps(told, indent=1) + "\n")
        verify(last)


def shut(network: "Network", event: Event) -> list[Readback]:
    """Make of a network that is set up what it begins as; returns every setting as it then is."""
    found = change(network, event)
    clock.sleep_until(clock.now_ns() + clock.NS_PER_S + _noticed_ns(network.plan))
    return settings.read_back(network) + [setting for setting in found if setting.setting in _LINKS]


def _noticed_ns(plan: Plan) -> int:
    """How long its bonds take until they believe what they see."""
    looks_ms = [2 * bond.miimon_ms + bond.downdelay_ms for bond in plan.bonds]
    return max(looks_ms, default=0) * clock.NS_PER_MS


def change(network: "Network", event: Event) -> list[Readback]:
    """Make of a network what an event makes of it; returns what is then in force of all that it is about."""
    before = network.plan
    network.plan = after(before, event)
    ports = _touched(network.plan, event)
    _pull_out(network, event)
    for name in dict.fromkeys(port.node for port in ports):
        with network.inside(name):
            tool, interfaces = Ethtool(), Interfaces()
        for port in (port for port in ports if port.node == name):
            was, cable_was = before.port(port.name), before.cable_of(port.name)
            _set(network, port, was, cable_was, tool)
            if port.up != was.up:
                with network.inside(name):
                    interfaces.set_up(port)
                network.batch(name, "ip", ways_again(network.plan, port) if port.up else ())
            network.batch(name, "tc", changed_lines(was, port))
    return _read_back(network, event)


def _touched(plan: Plan, event: Event) -> list[Port]:
    """The ports that an event is about, itself or by their cable."""
    cabled = {name for cable in event.cables for name in (cable.a, cable.b)}
    names = {port.name for port in event.ports} | cabled
    return [port for port in plan.ports if port.name in names]


def _set(network: "Network", port: Port, was: Port, cable_was: Cable, tool: Ethtool) -> None:
    """Have the tools set what has changed."""
    cable = network.plan.cable_of(port.name)
    folder = network.ports_folder(port.node) / port.name
    files: dict[str, int | str | bool] = {}
    options: dict[str, dict[str, int | str | bool]] = {}
    for setting, value in changed_settings(was, cable_was, port, cable):
        values = files if setting.tool == "sysfs" else options.setdefault(setting.tool, {})
        values[setting.option] = value
    # An algorithm is taken away that nobody goes by any more.
    if not port.adapts and (moderation := options.pop(_MODERATION, None)):
        tool.set(port.name, _MODERATION, moderation)
    for file, value in files.items():
        (folder / file).write_text(f"{value}\n")
    if mode := options.pop("ethtool -s", None):
        tool.set_link(port.name, mode)
    for command, values in options.items():
        tool.set(port.name, command, values)


def _pull_out(network: "Network", event: Event) -> None:
    """Pull out, or plug in, what an event says."""
    for cable in event.cables:
        end = pulled_end(network.plan, cable)
        file = network.ports_folder(end.node) / end.name / "etherport/follow"
        file.write_text(f"{(end.follow or '') if cable.plugged else UNPLUGGED}\n")


def _read_back(network: "Network", event: Event) -> list[Readback]:
    """What an event has set, as it is in force; a link that is negotiated comes later."""
    plan, touched = network.plan, _touched(network.plan, event)
    found: list[Readback] = []
    for name in dict.fromkeys(port.node for port in touched):
        found += settings.read_ports(network, name, [port for port in touched if port.node == name])
    for port in event.ports:
        flags = int((network.ports_folder(port.node) / port.name / "flags").read_text(), 0)
        found.append(Readback(port.name, _UP, port.up, bool(flags & 1)))
    for cable in event.cables:
        if not cable.plugged:
            ends = (plan.port(cable.a), plan.port(cable.b))
            found += [Readback(end.name, _LINK, cable.plugged, network.link(end).up) for end in ends]
    return found
