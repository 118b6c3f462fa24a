"""The reference's pages, made from the models and tables that read the files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, get_args

import typer
from pydantic_core import PydanticUndefined

from docs import python, subjects
from docs.commands import DOCS
from docs.fields import value_of
from docs.markdown import code, table, words
from docs.usage import examples
from wirelab.cli.app import app
from wirelab.model import exercise, traffic
from wirelab.model.bond import Bond
from wirelab.model.parts import PartsFile, PhyLatency, Temperature
from wirelab.model.scenario import Bound, Cell, Citation, Control, Event, Row, Scenario, Variant
from wirelab.model.spelling import spelling
from wirelab.model.topology import Cable, Node, Topology
from wirelab.model.types import Figure
from wirelab.units import BYTE_RATE, COST, COUNT, LENGTH, RATE, RATIO, SIZE, TIME

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic import BaseModel
    from pydantic.fields import FieldInfo

SINCE: Final = "0.1.0"
"""The version that has had every key which does not say otherwise."""

_COLUMNS: Final = ("key", "value", "default", "meaning", "example", "since")
_INTRODUCTIONS: Final = DOCS / "introductions"


def pages() -> Iterator[tuple[str, str]]:
    """Every page, as (address in the site, Markdown)."""
    contents = {
        "index": "",
        "scenario": _models(
            (Scenario, "scenarios"),
            (Citation, "source"),
            (Variant, "variants"),
            (Control, "controls"),
            (Event, "events"),
            (Row, "published"),
            (Cell, "cells"),
            (Bound, "bound"),
        ),
        "topology": _models((Topology, "topologies"), (Node, "nodes"), (Cable, "cables"), (Bond, "bonds")),
        "with": subjects.settings(),
        "traffic": _models((traffic.Iperf3, "iperf3"), (traffic.Ping, "ping"), (traffic.Copy, "copy")),
        "expect": subjects.expectations(),
        "parts": _parts(),
        "exercise": _models(
            (exercise.ExerciseFile, "exercises"),
            (exercise.Drawn, "figures"),
            (exercise.Run, "runs"),
            (exercise.Prediction, "predictions"),
            (exercise.Experiments, "experiments"),
            (exercise.Allowed, "allowed"),
            (exercise.Question, "questions"),
            (exercise.PortQuestion, "port"),
            (exercise.PausedQuestion, "paused"),
            (exercise.MechanismQuestion, "mechanism"),
            (exercise.ElementQuestion, "element"),
            (exercise.NumberQuestion, "number"),
            (exercise.ChoiceQuestion, "choice"),
            (exercise.Option, "options"),
            (exercise.TextQuestion, "text"),
            (exercise.FaultQuestion, "fault"),
            (exercise.Fault, "faults"),
            (exercise.Repair, "repair"),
            (exercise.RepairControl, "control"),
        ),
        "units": _units(),
        "commands": _commands(),
        "python": python.reference(),
    }
    for name, content in contents.items():
        introduction = (_INTRODUCTIONS / f"{name}.md").read_text(encoding="utf-8")
        yield f"reference/{name}.md", f"{introduction}\n{content}"


def keys_of(model: type[BaseModel]) -> Iterator[tuple[str, FieldInfo]]:
    """The keys of a model as a file writes them, each with its field."""
    for name, field in model.model_fields.items():
        yield field.alias or name, field


def _models(*models: tuple[type[BaseModel], str]) -> str:
    """A section for each model, with the section of a file in which its keys stand."""
    return "\n".join(
        f"## {model.__name__.lower()}\n\n{_summary(model)}\n\n{_keys(model, section)}"
        for model, section in models
    )


def _summary(model: type[BaseModel]) -> str:
    return words((model.__doc__ or "").replace("``", "`"))


def _keys(model: type[BaseModel], section: str) -> str:
    return table(_COLUMNS, (_key(name, field, section) for name, field in keys_of(model)))


def _key(name: str, field: FieldInfo, section: str) -> tuple[str, ...]:
    value = value_of(field)
    extra = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
    return (
        code(name),
        value.text,
        "required" if field.is_required() else code(_default(field)),
        words(field.description or ""),
        code(examples().get((section, name), value.example)),
        str(extra.get("since", SINCE)),
    )


def _default(field: FieldInfo) -> str:
    if field.default in (None, (), {}, PydanticUndefined):
        return ""
    return spelling(field.default, field)


def _parts() -> str:
    sections = []
    for section, field in keys_of(PartsFile):
        model = get_args(field.annotation)[1]
        figures = [name for name, of in keys_of(model) if _is_figure(of)]
        sections.append(
            f"## {section}\n\n{_summary(model)}\n\n{_keys(model, section)}\n"
            f"With a provenance: {', '.join(map(code, figures)) or 'none'}.\n"
        )
    sections.append(_models((PhyLatency, "phy_latency"), (Temperature, "temperatures")))
    return "\n".join(sections)


def _is_figure(field: FieldInfo) -> bool:
    kinds = (field.annotation, *get_args(field.annotation))
    return any(isinstance(kind, type) and issubclass(kind, Figure) for kind in kinds)


_UNITS: Final = (RATE, BYTE_RATE, SIZE, TIME, LENGTH, RATIO, COUNT)


def _units() -> str:
    sections = []
    for quantity in _UNITS:
        text = f"## {quantity.name}\n\nFor example `{quantity.example}`; a range: `{quantity.example_range}`."
        if quantity.units:
            names = list(dict.fromkeys([*(COST.units if quantity is TIME else ()), *quantity.units]))
            text += f" Units: {', '.join(map(code, names))}."
        if quantity is TIME:
            text += " `ps` is for what a frame or a byte costs a CPU."
        sections.append(f"{text}\n")
    return "\n".join(sections)


def _commands() -> str:
    root: Any = typer.main.get_command(app)
    return "\n".join(_command(root, ()))


def _command(group: Any, path: tuple[str, ...]) -> Iterator[str]:  # noqa: ANN401 - of click, or of typer's copy
    for name, command in group.commands.items():
        here = (*path, name)
        if hasattr(command, "commands"):
            yield from _command(command, here)
            continue
        yield f"## wirelab {' '.join(here)}\n"
        yield from (f"{words(paragraph)}\n" for paragraph in (command.help or "").split("\n\n"))
        rows = [
            (
                _parameter(parameter),
                words((parameter.help or "").replace("[default: ", "Default: ").replace("]", ".")),
                "" if parameter.default in (None, False, True) else code(str(parameter.default)),
            )
            for parameter in command.params
            if not getattr(parameter, "hidden", False) and parameter.name != "help"
        ]
        if rows:
            yield table(("argument", "meaning", "default"), rows)


def _parameter(parameter: Any) -> str:  # noqa: ANN401 - see above
    value = parameter.metavar or parameter.name.upper()
    if parameter.param_type_name == "argument":
        return code(value)
    names = ", ".join([*parameter.opts, *parameter.secondary_opts])
    return code(names if parameter.is_flag else f"{names} {value}")
