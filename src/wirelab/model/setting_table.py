"""The settings that ``with`` may have: ``setting_table.yaml`` and the sysctls of hosts, read once."""

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal

from wirelab import units
from wirelab.model.sysctls import Sysctl, setting_name, sysctls
from wirelab.model.topology import NodeKind
from wirelab.model.types import Model
from wirelab.model.yamlfile import read
from wirelab.units import COUNT, Quantity, UnitError, parse, show

Owner = Literal[
    NodeKind, "host port", "firewall port", "switch port", "module port", "bond", "cable", "network"
]

Place = Literal[
    "place",
    "node",
    "card",
    "cable",
    "bond",
    "sender",
    "receiver",
    "ends",
    "path",
    "peer",
    "switches",
    "marking",
    "before",
    "way",
    "network",
]
"""Where a change may help a flow, seen from its bottleneck."""

_QUANTITIES: Final[Mapping[str, Quantity]] = {
    name.lower(): value for name, value in vars(units).items() if isinstance(value, Quantity)
}


class SettingKind(Model):
    """One setting.

    ``kind`` is the quantity it is measured in, or the word for how it is written. ``default`` is what
    holds where nobody says anything. ``least`` and ``most`` are in the base unit, ``reason`` is what sets
    the limit. ``fixed`` says why it cannot change while the network runs, empty if it can. ``helps`` says
    against which bottlenecks a change may help, and at which of a flow's places; ``tries`` are the values
    that are tried then, in its own words or as a factor (``x2``), unless ``tries_for`` one of the bottlenecks
    there are others; ``together`` is what is changed with others; ``hardware`` cannot be set at the device
    that is there.
    """

    name: str
    text: str
    kind: str
    owners: tuple[Owner, ...]
    default: str = "the part's"
    example: str
    least: int = 0
    most: int | None = None
    reason: str = ""
    fixed: str = ""
    helps: Mapping[str, tuple[Place, ...]] = {}
    tries: tuple[str, ...] = ()
    tries_for: Mapping[str, tuple[str, ...]] = {}
    together: str = ""
    hardware: bool = False
    since: str = "0.1.0"

    @property
    def quantity(self) -> Quantity | None:
        """What it is measured in, None if it is written in words."""
        return _QUANTITIES.get(self.kind)

    def parse(self, text: str, quantity: Quantity) -> int:
        """A value of it in the base unit. Raises UnitError, for one out of its limits, too."""
        value = parse(text, quantity)
        if problem := self.problem(value, quantity, text.strip()):
            raise UnitError(problem)
        return value

    def problem(self, value: int, quantity: Quantity, text: str = "") -> str | None:
        """What is wrong with a value beyond its limits, None where nothing is; ``text`` is how it stands."""
        shown = text or show(value, quantity)
        if value < self.least:
            return f"`{shown}` is less than `{self.name}` can be, {show(self.least, quantity)}"
        if self.most is not None and value > self.most:
            return f"`{shown}` is more than `{self.name}` can be, {show(self.most, quantity)}: {self.reason}"
        return None


@functools.cache
def settings_of(owner: str) -> Mapping[str, SettingKind]:
    """The settings of an owner by name, none of what is no Owner."""
    return {setting.name: setting for setting in _settings() if owner in setting.owners}


@functools.cache
def _settings() -> tuple[SettingKind, ...]:
    """The lines of the table and the sysctls, with groups written out and limits as numbers."""
    table = read(Path(__file__).with_suffix(".yaml")).tree
    of_sysctls = {setting_name(name): _entry(name, of) for name, of in sysctls().items() if not of.fixed}
    settings = []
    for name, entry in {**table["settings"], **of_sysctls}.items():
        quantity = _QUANTITIES.get(entry["kind"], COUNT)
        limits = {limit: parse(entry[limit], quantity) for limit in ("least", "most") if limit in entry}
        owners = [owner for word in entry["owners"] for owner in table["groups"].get(word, [word])]
        settings.append(SettingKind.model_validate({**entry, **limits, "name": name, "owners": owners}))
    return tuple(settings)


def _entry(name: str, sysctl: Sysctl) -> dict[str, Any]:
    """A sysctl as a line of the table."""
    largest = show(int(sysctl.value.split()[-1]), _QUANTITIES[sysctl.kind])
    limits = {limit: value for limit in ("least", "most") if (value := getattr(sysctl, limit))}
    return {
        "text": f"the sysctl `{name}`{', the largest of its three' if ' ' in sysctl.value else ''}",
        "kind": sysctl.kind,
        "owners": ["host"],
        "default": largest,
        "example": largest,
        "reason": "Linux takes no more",
        "fixed": "programs and connections have read it when they began",
        **limits,
        **({"helps": sysctl.helps, "tries": ("x4",)} if sysctl.helps else {}),
    }
