"""Scenario: one experiment, its traffic and what must hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Generic, TypeVar

from pydantic import BeforeValidator, Field, WithJsonSchema, create_model, model_validator

from wirelab.model.metric import METRICS
from wirelab.model.traffic import TrafficItem  # noqa: TC001 - pydantic needs it at run time
from wirelab.model.types import Date, Model, Name, Text, range_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import GetJsonSchemaHandler
    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core import CoreSchema

    from wirelab.model.traffic import Item

R = TypeVar("R")


def _settings(value: object) -> object:
    """No settings for nothing; a list of words is the same words with commas between them."""
    if not isinstance(value, dict):
        return {} if value is None else value
    return {key: _joined(words) for key, words in value.items()}


def _joined(value: object) -> object:
    if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
        return ", ".join(value)
    return value


Settings = Annotated[
    dict[str, Text],
    BeforeValidator(_settings),
    WithJsonSchema(
        {"type": "object", "additionalProperties": {"type": ["string", "boolean", "integer", "array"]}}
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
    """Where the figures come from. ``measured`` names the rows of the measurements that it is about."""

    title: Text
    date: Date | None = None
    measured: Rows = ()


class Bound(Model, Generic[R]):
    """A range and why it must hold; the range alone may stand for it."""

    range: R
    why: Text | None = None

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
_Ranges = create_model("_Ranges", __base__=Model, **_RANGES)


class Bounds(_Ranges):  # type: ignore[misc, valid-type]  # its fields are the table of metrics
    """What must hold for one subject; ``why`` is the reason for every range without its own."""

    why: Text | None = None


class Variant(Model):
    """One way to run a scenario: its settings on top of the scenario's, and what must hold then.

    A range given here replaces the scenario's for the same subject and metric.
    """

    name: Name
    settings: Settings = Field(default_factory=dict, alias="with")
    expect: dict[Text, Bounds] = Field(default_factory=dict)
    story: Text | None = None


class Control(Model):
    """Settings with which the expectation ``breaks`` must fail, or it proves nothing.

    They stand on top of the settings of ``variant``, the first one if none is named.
    """

    name: Name | None = None
    variant: Name | None = None
    settings: Settings = Field(alias="with")
    breaks: Text
    story: Text | None = None


class Scenario(Model):
    """One experiment: wiring, settings, traffic, expectations and the controls that prove them.

    ``fitted`` names those of the measured rows that a figure of a part was fitted to: the others are
    predictions.
    """

    name: Name
    story: Text | None = None
    source: Citation
    fitted: Rows = ()
    topology: Name
    settings: Settings = Field(default_factory=dict, alias="with")
    traffic: tuple[TrafficItem, ...]
    expect: dict[Text, Bounds] = Field(default_factory=dict)
    variants: tuple[Variant, ...] = ()
    controls: tuple[Control, ...] = ()

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
