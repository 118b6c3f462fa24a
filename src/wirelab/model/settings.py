"""Settings: what ``with:`` may say about a node, a port, a cable or the whole network."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Final, Literal, cast, get_args

from wirelab.errors import unknown
from wirelab.model.alpha import read_alpha
from wirelab.model.bond import BondMode, HashPolicy, LacpRate
from wirelab.model.bus import bus_of
from wirelab.model.metric import LINK, NETWORK, PRIORITIES
from wirelab.model.modes import AUTO, Duplex, parse_modes
from wirelab.model.packets import parse_packets
from wirelab.model.parts import PartKind, Parts
from wirelab.model.setting_table import SettingKind, settings_of
from wirelab.model.sysctls import fixed_sysctls
from wirelab.model.topology import NodeKind, Topology
from wirelab.model.trace_file import OFF, Traces
from wirelab.model.types import Congestion, Moderation, read_bit_error_rate, read_on_off
from wirelab.model.yamlfile import Loc, Report
from wirelab.units import COUNT, RATE, SIZE, TIME, Quantity, parse

Value = int | bool | str
QueueKind = Literal["fq_codel", "fq", "cake", "pfifo_fast", "pfifo", "bfifo", "red"]
Shaper = Literal["tbf", "htb", "cake", "police"]

PART: Final = "part"
FRAMES: Final = " frames"
SHAPE: Final = "shape"
"""It has settings of its own: ``shape: {rate: 50 Mbit/s}`` is ``shape.rate: 50 Mbit/s``."""
INSTEAD: Final[Mapping[str, str]] = {"length": "delay", "delay": "length"}
"""Of a cable what one says takes the place of what the other does."""
_MISTAKES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("txqueuelen", "qlen", "queue_length"), "queue_limit"),
    **dict.fromkeys(("latency", "rtt"), "delay"),
    **dict.fromkeys(("bandwidth", "bitrate"), "speed"),
}
"""What others call them."""
STATIC: Final = "off"
"""No ``alpha``: thresholds that do not move."""


@dataclass(frozen=True, slots=True)
class Target:
    """What a setting is about: a node, a port of one, a bond (``server.bond0``), a cable, or ``network``."""

    name: str
    port: str | None = None


@dataclass(frozen=True, slots=True)
class Setting:
    """One line of ``with:``, its value in base units, and where it stands."""

    target: Target
    name: str
    value: Value
    loc: Loc


Trust = Literal["pcp", "dscp"]
Layer = Literal["1", "2", "3"]


@dataclass(frozen=True, slots=True)
class SettingReader:
    """Reads ``with:`` of scenarios on one topology."""

    topology: Topology
    parts: Parts
    traces: Traces = field(default_factory=Traces)

    def read(self, settings: Mapping[str, str], loc: Loc, report: Report) -> tuple[Setting, ...]:
        """The sound lines of the mapping at ``loc``; what is wrong with the others is reported."""
        sound: dict[tuple[Target, str], Setting] = {}
        for key, text in settings.items():
            try:
                setting = self.setting(key, text, (*loc, key))
            except ValueError as error:
                report((*loc, key), str(error))
                continue
            target, name = setting.target, setting.name
            if (other := sound.get((target, name))) is not None:
                report((*loc, key), f"says the same as `{other.loc[-1]}` does: one of them is too much")
            elif (target, INSTEAD.get(name, "")) in sound:
                report((*loc, key), "give the length or the delay, not both")
            sound[target, name] = setting
        return tuple(sound.values())

    def setting(self, key: str, text: str, loc: Loc = ()) -> Setting:
        """One line of ``with:``. Raises ValueError that says what would be right."""
        target, name, kind = self._what(key)
        if isinstance(kind, SettingKind) and kind.kind == "trace":
            return Setting(target, name, self._trace(text), loc)
        return Setting(target, name, read_value(text, kind, self.parts), loc)

    def _trace(self, text: str) -> str:
        """The name of a trace that can be read; none for ``off``."""
        return "" if text == OFF else self.traces.of(text).name

    def place(self, key: str) -> tuple[Target, str]:
        """What a setting is of, and its name there. Raises ValueError for none."""
        target, name, _ = self._what(key)
        return target, name

    def fixed(self, key: str) -> str:
        """Why a setting cannot change while the network runs, empty if it can."""
        _, _, kind = self._what(key)
        return kind.fixed if isinstance(kind, SettingKind) else f"no {kind} is swapped while it runs"

    def quantity(self, key: str) -> Quantity | None:
        """What a setting is measured in, None for words. Raises ValueError if there is no such setting."""
        _, _, kind = self._what(key)
        return kind.quantity if isinstance(kind, SettingKind) else None

    def _what(self, key: str) -> tuple[Target, str, SettingKind | PartKind]:
        name, *rest = words = key.split(".")
        nearest = ".".join(filter(None, words))
        if nearest != key and nearest and self._is_known(nearest):
            raise ValueError(f"`{key}` has a dot too many; did you mean `{nearest}`?")
        if rest and rest[-1] == SHAPE:
            raise ValueError(f"write `{key}: {{rate: 50 Mbit/s}}`, or `{key}.rate: 50 Mbit/s`")
        if SHAPE in rest[-2:-1]:
            rest = [*rest[:-2], f"{SHAPE}.{rest[-1]}"]
        node = self.topology.nodes.get(name)
        if node is not None:
            return self._of_node(name, node.kind, rest, key)
        owners = {cable.name: "cable" for cable in self.topology.cables if cable.name} | {NETWORK: NETWORK}
        if name not in owners:
            self._require_no_setting(name, owners)
            raise ValueError(unknown("node", name, (*self.topology.nodes, *owners)))
        if len(rest) != 1:
            raise ValueError(f"write `{name}.<setting>`, one of {', '.join(settings_of(owners[name]))}")
        return self._setting(Target(name), rest[0], owners[name], key)

    def _is_known(self, key: str) -> bool:
        try:
            self._what(key)
        except ValueError:
            return False
        return True

    def _require_no_setting(self, name: str, owners: Mapping[str, str]) -> None:
        """Raise ValueError for a setting that stands without the one whose it is."""
        kinds: dict[str, str] = {**owners, **{node: of.kind for node, of in self.topology.nodes.items()}}
        ports = {f"{node}.<port>": f"{kind} port" for node, kind in kinds.items()}
        for owner, kind in (kinds | ports).items():
            if name in settings_of(kind):
                raise ValueError(f"`{name}` is a setting: write whose, as `{owner}.{name}`")

    def _of_node(
        self, name: str, kind: NodeKind, rest: list[str], key: str
    ) -> tuple[Target, str, SettingKind | PartKind]:
        if not rest:
            return Target(name), PART, kind
        *owner, setting = rest
        if not owner:
            return self._setting(Target(name), setting, kind, key)
        inside = ".".join([name, *owner])
        if inside in self.topology.bonds:
            return self._setting(Target(inside), setting, "bond", key)
        ref = self.topology.resolve(inside)
        if ref not in self.topology.ports():
            raise ValueError(f"no cable is in `{ref.node}.{ref.port}`")
        if kind == "host" and self.topology.bond_of(ref) is None:
            return self._setting(Target(name), setting, kind, key)
        return self._setting(Target(ref.node, ref.port), setting, f"{kind} port", key)

    def _setting(self, target: Target, name: str, owner: str, key: str) -> tuple[Target, str, SettingKind]:
        known = settings_of(owner)
        if name in known:
            return target, name, known[name]
        if target.port is None and name in settings_of(f"{owner} port"):
            raise ValueError(f"`{name}` is a setting of one port: write `{target.name}.<port>.{name}`")
        if target.port is not None and name in settings_of(node := owner.removesuffix(" port")):
            raise ValueError(f"`{name}` is a setting of the {node}: write `{target.name}.{name}`")
        if owner == "host" and name in fixed_sysctls():
            raise ValueError(f"`{name}` cannot be set: {fixed_sysctls()[name]}")
        raise ValueError(unknown(f"setting of {key.rpartition('.')[0]}", name, known, _MISTAKES))


def read_value(text: str, kind: SettingKind | PartKind, parts: Parts) -> Value:
    """The value of a setting, in base units, or a part's name. Raises ValueError for what does not fit."""
    if isinstance(kind, SettingKind):
        if kind.quantity:
            return kind.parse(text, kind.quantity)
        if kind.kind in _READERS:
            return _READERS[kind.kind](text)
        kind = cast("PartKind", kind.kind)
    if kind == "bus":
        bus_of(text, parts.buses)
        return text
    return part_name(parts, kind, text)


def part_name(parts: Parts, kind: PartKind, text: str) -> str:
    """``text`` if a part of this kind has that name. Raises ValueError if not."""
    if text in parts.of(kind):
        return text
    other = next((other for other in get_args(PartKind) if text in parts.of(other)), None)
    if other is not None:
        raise ValueError(f"`{text}` is a {other}, a {kind} is needed: {', '.join(parts.of(kind))}")
    raise ValueError(unknown(kind, text, parts.of(kind)))


def parse_priorities(text: str) -> tuple[int, ...]:
    """``3, 4`` as priorities of 802.1Q, in order. Raises ValueError for what is none."""
    try:
        priorities = {parse(word, COUNT) for word in text.split(",")}
    except ValueError:
        raise ValueError(f"`{text}` are no priorities; write for example `3` or `[3, 4]`") from None
    if max(priorities) >= PRIORITIES:
        raise ValueError(f"there is no priority {max(priorities)}; they are 0..{PRIORITIES - 1}")
    return tuple(sorted(priorities))


def is_time(text: str) -> bool:
    """Whether a limit of a queue is written as a time."""
    return text.lstrip("0123456789. ") in TIME.units


def _queue_limit(text: str) -> int | str:
    """``107 kB`` in bytes, ``1000 frames`` or ``100 ms`` as it is. Raises ValueError for anything else."""
    setting = settings_of("switch")["queue_limit"]
    if is_time(text):
        return _as_text(lambda time: parse(time, TIME), text)
    if not text.endswith(FRAMES):
        return setting.parse(text, SIZE)
    setting.parse(text.removesuffix(FRAMES), COUNT)
    return text


def _word(known: object, what: str, text: str) -> str:
    """``text`` if it is one of the words of a Literal."""
    words: tuple[str, ...] = get_args(known)
    if text not in words:
        raise ValueError(unknown(what, text, words))
    return text


def _as_text(parse_text: Callable[[str], object], text: str) -> str:
    """``text`` as it is written, if it can be parsed."""
    parse_text(text)
    return text


def _alpha(text: str) -> str:
    return text if text == STATIC else read_alpha(text)


_READERS: Final[Mapping[str, Callable[[str], Value]]] = {
    "on_off": read_on_off,
    "bit_error_rate": read_bit_error_rate,
    "congestion": partial(_word, Congestion, "congestion control"),
    "queue": partial(_word, QueueKind, "queue"),
    "queue_limit": _queue_limit,
    "layer": lambda text: int(_word(Layer, "layer", text)),
    "shaper": partial(_word, Shaper, "shaper"),
    "speed": lambda text: AUTO if text == AUTO else parse(text, RATE),
    "duplex": partial(_word, Duplex, "duplex"),
    "link": lambda text: LINK.parse(text)[0] == LINK.values.index("up"),
    "modes": partial(_as_text, parse_modes),
    "priorities": partial(_as_text, parse_priorities),
    "trust": partial(_word, Trust, "trust"),
    "moderation": partial(_word, Moderation, "moderation"),
    "alpha": _alpha,
    "packets": partial(_as_text, parse_packets),
    "bond_mode": partial(_word, BondMode, "mode of a bond"),
    "hash_policy": partial(_word, HashPolicy, "hash policy"),
    "lacp_rate": partial(_word, LacpRate, "rate of LACP"),
    "host_port": str,
}
