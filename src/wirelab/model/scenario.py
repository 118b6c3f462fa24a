"""Scenario: one experiment, its traffic and what must hold."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Generic, Literal, TypeVar

from pydantic import (
    BeforeValidator,
    GetJsonSchemaHandler,
    WithJsonSchema,
    create_model,
    field_validator,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from wirelab.model.metric import METRICS
from wirelab.model.traffic import Item, TrafficItem
from wirelab.model.types import Date, Model, Name, PositiveTime, Seconds, Text, Time, key, optional, range_of

R = TypeVar("R")


def _settings(value: object) -> object:
    """No settings for nothing; a list of words is the same words with commas between them.

    Settings below one stand for themselves: ``{line.shape: {rate: 50 Mbit/s}}``.
    """
    if not isinstance(value, dict):
        return {} if value is None else value
    settings: dict[object, object] = {}
    for name, words in (pair for owner, of in value.items() for pair in _below(owner, of)):
        settings[name] = _Twice() if name in settings else _joined(words)
    return settings


class _Twice:
    """What stands for a setting that is written twice: by itself, and below what it is of."""


def _once(value: object) -> object:
    if isinstance(value, _Twice):
        msg = "is set twice: by itself, and below what it is of"
        raise ValueError(msg)  # noqa: TRY004 - pydantic collects ValueError
    return value


def _below(key: object, value: object) -> list[tuple[object, object]]:
    if not isinstance(value, dict) or not value:
        return [(key, value)]
    return [(f"{key}.{name}", words) for name, words in value.items()]


def _joined(value: object) -> object:
    if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
        return ", ".join(value)
    return value


Settings = Annotated[
    dict[str, Annotated[Text, BeforeValidator(_once)]],
    BeforeValidator(_settings),
    WithJsonSchema(
        {
            "type": "object",
            "additionalProperties": {"type": ["string", "boolean", "integer", "array", "object"]},
        }
    ),
]
"""``with``: a node's part, or a setting of a node, a port, a cable or the network, to its value as text."""


def _rows(value: object) -> object:
    return [value] if isinstance(value, str) else value


Rows = Annotated[
    tuple[Text, ...],
    BeforeValidator(_rows),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
]
"""Names of rows of the measurements file; one may stand for itself."""


class Citation(Model):
    """Where the figures come from."""

    title: Text = key("What it is about, or where it was published.")
    date: Date | None = optional("When: a year, a month or a day.")
    measured: Rows = key(
        "The rows of `measurements.yaml` or `truth.yaml` that the scenario reproduces.", default=()
    )


class Bound(Model, Generic[R]):
    """A range and why it must hold; the range alone may stand for it."""

    range: R = key("What the figure must lie in, both ends included.")
    why: Text | None = optional("The reason, shown with the verdict.")

    @model_validator(mode="before")
    @classmethod
    def _range_alone(cls, value: object) -> object:
        return {"range": value} if isinstance(value, str) else value

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """The schema of the mapping or of the range alone."""
        mapping = handler.resolve_ref_schema(handler(core_schema))
        return {"anyOf": [mapping["properties"]["range"], dict(mapping)]}


_BOUNDS: dict[int, Any] = {
    id(metric.quantity): Bound.__class_getitem__(range_of(metric.quantity)) for metric in METRICS.values()
}
_RANGES: Any = {name: (_BOUNDS[id(metric.quantity)] | None, None) for name, metric in METRICS.items()}


class _Metrics(Model):
    """What others call them."""

    mistakes: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("throughput", "bandwidth", "bitrate", "rate"), "goodput"),
        **dict.fromkeys(("loss", "packet_loss"), "lost"),
        **dict.fromkeys(("latency", "delay"), "rtt"),
        **dict.fromkeys(("retransmissions", "retries"), "retransmits"),
        "time": "duration",
    }
    port_mistakes: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("bandwidth", "bitrate", "rate"), "speed"),
        **dict.fromkeys(("loss", "packet_loss", "dropped"), "drops"),
    }


_Ranges = create_model("_Ranges", __base__=_Metrics, **_RANGES)


class Window(_Ranges):  # type: ignore[misc, valid-type]  # its fields are the table of metrics
    """What must hold for a part of the time."""

    from_ns: Time = key("Its beginning, counted as `start` of traffic.", alias="from")
    to_ns: PositiveTime = key("Its end.", alias="to")
    why: Text | None = None


class Bounds(_Ranges):  # type: ignore[misc, valid-type]  # its fields are the table of metrics
    """What must hold for one subject; ``why`` is the reason for every range without its own."""

    windows: tuple[Window, ...] = ()
    why: Text | None = None


class Event(Model):
    """Something that changes while the network runs."""

    at_ns: Time = key("When, after the network is ready, as `start` of traffic counts it.", alias="at")
    settings: Settings = key(
        "The settings that hold from then on; `link: down` shuts a port, or pulls a cable out.", alias="with"
    )
    for_ns: PositiveTime | None = optional(
        "For how long; then it is as it was before. Without it, for good.", alias="for"
    )
    every_ns: PositiveTime | None = optional(
        "That it happens again and again, and how long from one time to the next.", alias="every"
    )
    until_ns: PositiveTime | None = optional(
        "No more from then on; without it until the traffic ends.", alias="until"
    )


Events = tuple[Event, ...]


class Variant(Model):
    """One way to run a scenario."""

    name: Name = key("How verdicts, folders and `--variant` call it.")
    settings: Settings = key("Settings on top of the scenario's.", alias="with", default_factory=dict)
    expect: dict[Text, Bounds] = key(
        "What must hold for this variant; replaces the scenario's range for the same subject and metric.",
        default_factory=dict,
    )
    events: Events | None = optional("What happens instead of the scenario's events.")
    story: Text | None = optional("What it shows, in words.")


class Control(Model):
    """The same network without the cause: an expectation must fail, or it proves nothing."""

    name: Name | None = optional("How verdicts, folders and `--variant` call it.")
    variant: Name | None = optional("The variant that it is a control of; the first one if none is named.")
    settings: Settings = key(
        "What takes the cause away: settings on top of the variant's.", alias="with", default_factory=dict
    )
    events: Events | None = optional("What happens instead of the variant's events; `[]` for nothing.")
    breaks: Text = key("The expectation that must fail, as `download.retransmits`.")
    story: Text | None = optional("What it shows, in words.")


Grade = Literal["raw", "quoted", "shape"]
"""How well a published figure is known."""


class Cell(Model):
    """Published figures that one variant imitates."""

    variant: Name | None = optional("The variant that imitates them; the first one if none is named.")
    fitted: Text | None = optional(
        "What was chosen so that the lab gives these figures; without it they are predicted."
    )
    last_ns: Seconds | None = optional(
        "Goodput is that of the last so many seconds of each flow; else of all of it.", alias="last"
    )
    figures: dict[Text, Bounds] = key(
        "What was published, written as in `expect`; `why` is the known cause of what the lab gives instead."
    )


class Row(Model):
    """A row of independent measurements, to be held against what the lab gives."""

    grade: Grade = key(
        "`raw`: raw data or a table; `quoted`: figures of a text; `shape`: only the direction counts.",
        default="quoted",
    )
    differs: Text | None = optional("What of the set-up the lab cannot imitate.")
    cells: tuple[Cell, ...] = key("The figures, by the variants that imitate them.")


class Scenario(Model):
    """One experiment: wiring, settings, traffic, expectations and the controls that prove them."""

    name: Name = key("The name of the file without `.yaml`.")
    story: Text | None = optional("What it shows; if it is left out, the comment that the file begins with.")
    source: Citation = key("Where its figures come from.")
    fitted: Rows = key(
        "Those of the measured rows that a part was fitted to; the others are predicted.", default=()
    )
    topology: Name = key("The wiring: a file of `topologies/` without `.yaml`.")
    settings: Settings = key(
        "The part that a node is, and settings of nodes, ports, cables and the network.",
        alias="with",
        default_factory=dict,
    )
    traffic: tuple[TrafficItem, ...] = key("What happens, in order; each item under the name of its tool.")
    events: Events = key("What changes meanwhile, each at its instant.", default=())
    expect: dict[Text, Bounds] = key(
        "What must hold: a subject, its metrics and their ranges.", default_factory=dict
    )
    published: dict[Text, Row] = key(
        "The figures of rows of `source.measured`, which `wirelab truth` holds against the lab's.",
        default_factory=dict,
    )
    variants: tuple[Variant, ...] = key(
        "Several ways to run it; without any, it runs once as it stands.", default=()
    )
    controls: tuple[Control, ...] = key(
        "The same network without the cause: each must break an expectation.", default=()
    )

    @field_validator("topology", mode="before")
    @classmethod
    def _is_named(cls, value: object) -> object:
        if isinstance(value, dict):
            msg = "expected the name of a topology, found keys: nodes and cables are a file of `topologies/`"
            raise ValueError(msg)  # noqa: TRY004 - pydantic collects ValueError
        return value

    stub: ClassVar[Mapping[str, Any]] = {
        "name": "unnamed",
        "source": {"title": "none"},
        "topology": "unnamed",
        "traffic": [],
    }

    @property
    def items(self) -> tuple[Item, ...]:
        """The traffic, in the order it is written."""
        return tuple(entry.item for entry in self.traffic)
