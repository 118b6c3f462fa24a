"""The pages of the reference about what a scenario says of a network: settings and expectations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, get_args

from docs.fields import of_quantity
from docs.markdown import code, table, words
from docs.usage import examples
from wirelab.model.metric import Metric, SubjectKind, metrics_of
from wirelab.model.setting_table import settings_of
from wirelab.model.topology import NodeKind
from wirelab.units import Quantity, show

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wirelab.model.setting_table import SettingKind

_WORDS: Final[Mapping[str, str]] = {
    "on_off": "`on` or `off`",
    "bit_error_rate": "a number from 0 to 1, such as `1e-12`",
    "nic": "one of the [nics](parts.md#nics)",
    "line": "one of the [lines](parts.md#lines)",
    "layer": "`1`, `2` or `3`",
    "shaper": "`tbf`, `htb`, `cake` or `police`",
    "trace": "a file, or `off`",
    "storage": "one of the [storage](parts.md#storage)",
    "congestion": "`cubic`, `reno`, `bbr` or `dctcp`",
    "queue": "a word",
    "queue_limit": "a [size](units.md#size), a number of `frames`, or a [time](units.md#time)",
    "speed": "a [rate](units.md#rate), or `auto`",
    "duplex": "`full` or `half`",
    "link": "`up` or `down`",
    "modes": "[link modes](units.md#link-modes)",
    "bus": "one of the [buses](parts.md#buses), and its lanes",
    "priorities": "one of 0..7, or a list of them",
    "trust": "`pcp` or `dscp`",
    "alpha": "`off`, or `1/128`, `1/64` .. `1`, `2`, `4`, `8`",
    "moderation": "`first`, `last` or `interval`",
    "bond_mode": "`active-backup` or `802.3ad`",
    "hash_policy": "`layer2`, `layer2+3` or `layer3+4`",
    "lacp_rate": "`slow` or `fast`",
    "host_port": "one of its ports",
    "packets": "`tcp`, `udp` or `icmp`, perhaps a port; or a list of them",
}

_SUBJECTS: Final[Mapping[SubjectKind, str]] = {
    "flow": "An `iperf3` over TCP, by its name.",
    "UDP flow": "An `iperf3` with `protocol: udp`, by its name.",
    "copy": "A `copy`, by its name.",
    "ping": "A `ping`, by its name.",
    "port": "A port by its label: `switch.p1`, or the name of a host.",
    "network": "The word `network`: the sum over everything.",
}


def settings() -> str:
    """A section for each kind of node, for bonds, for cables and for the network."""
    return "\n".join(_settings(owner) for owner in (*get_args(NodeKind), "bond", "cable", "network"))


def _settings(owner: str) -> str:
    node, port = settings_of(owner), settings_of(f"{owner} port")
    titles = ("setting", "of", "value", "default", "meaning", "example", "since")
    rows = [
        (
            code(name),
            _owners(name, node, port) if port else "",
            _value(kind),
            words(kind.default),
            words(f"{kind.text}; no event changes it: {kind.fixed}" if kind.fixed else kind.text),
            code(kind.example),
            kind.since,
        )
        for name, kind in {**node, **port}.items()
    ]
    return f"## {owner}\n\n{table(titles, rows)}"


def _owners(name: str, node: Mapping[str, SettingKind], port: Mapping[str, SettingKind]) -> str:
    return ", ".join([*(["node"] if name in node else []), *(["port"] if name in port else [])])


def _value(setting: SettingKind) -> str:
    quantity = setting.quantity
    if quantity is None:
        return _WORDS[setting.kind]
    text = of_quantity(quantity).text
    low = show(setting.least, quantity) if setting.least else ""
    high = show(setting.most, quantity) if setting.most is not None else ""
    return f"{text}: {low}..{high}" if low or high else text


def expectations() -> str:
    """A section for each kind of subject."""
    titles = ("metric", "value", "meaning", "example", "since")
    return "\n".join(
        f"## {subject}\n\n{meaning}\n\n{table(titles, map(_metric, metrics_of(subject)))}"
        for subject, meaning in _SUBJECTS.items()
    )


def _metric(metric: Metric) -> tuple[str, ...]:
    quantity = metric.quantity
    if isinstance(quantity, Quantity):
        value = f"{of_quantity(quantity).text}, from..to"
        example = examples().get(("expect", metric.name), quantity.example_range)
    else:
        value, example = " or ".join(map(code, quantity.values)), quantity.values[-1]
    return code(metric.name), value, words(metric.meaning), code(example), metric.since
