"""The catalogued parts as a person reads them, and as a program does.

What a kind of part has is read off its model: a new kind or figure needs no line here.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from inspect import get_annotations
from itertools import accumulate
from typing import Any, Final, TypeGuard, cast, get_args

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from wirelab.model.modes import MODES
from wirelab.model.parts import Part, PartKind, Parts
from wirelab.model.spelling import spelling, unit
from wirelab.model.types import Figure, Model
from wirelab.report.tables import NOTHING
from wirelab.report.text import COLUMN_GAP, print_table

_TITLE: Final = "title"
_ROW: Final = re.compile(r"[\w-]+(?:\.[\w-]+)+", re.ASCII)
_STYLES: Final = {"datasheet": "green", "measured": "green", "fitted": "yellow", "assumed": "yellow"}


@dataclass(frozen=True, slots=True)
class ListedPart:
    """A part of the catalogue."""

    kind: PartKind
    name: str
    part: Part


def entries(parts: Parts) -> tuple[ListedPart, ...]:
    """Every part, kind by kind."""
    return tuple(
        ListedPart(kind, name, part) for kind in get_args(PartKind) for name, part in parts.of(kind).items()
    )


def fitted_to(figure: Figure[Any], rows: Collection[str]) -> tuple[str, ...]:
    """Which ``rows`` of the measurements a fitted figure was fitted to, as its note names them."""
    if figure.provenance != "fitted":
        return ()
    return tuple(dict.fromkeys(word for word in _ROW.findall(figure.note) if word in rows))


def document(entry: ListedPart, rows: Collection[str]) -> dict[str, Any]:
    """A part for a program: every number in its base unit, with that unit and as its file spells it.

    ``rows`` are the names of the measurements.
    """
    plain: dict[str, Any] = {}
    figures: dict[str, Any] = {}
    lists: dict[str, Any] = {}
    for key in _fields(entry.part):
        value = getattr(entry.part, key)
        if isinstance(value, Figure):
            origin = {"from": value.provenance, "note": value.note, "fitted_to": list(fitted_to(value, rows))}
            figures[key] = {**_number(value, "value"), **origin}
        elif _is_list(value):
            lists[key] = [
                {field.alias or of: _plain(item, of) for of, field in type(item).model_fields.items()}
                for item in value
            ]
        elif value is not None:
            plain[key] = _plain(entry.part, key)
    return {"kind": entry.kind, "name": entry.name, **plain, "figures": figures, **lists}


def print_parts(console: Console, listed: Sequence[ListedPart]) -> None:
    """Print a line for each part: its kind, name and title."""
    rows = [
        (Text(entry.kind, style="dim"), Text(entry.name, style="bold"), entry.part.title) for entry in listed
    ]
    print_table(console, ("kind", "name", _TITLE), rows)


def print_kind(console: Console, kind: PartKind, listed: Sequence[ListedPart]) -> None:
    """Print a line for each part of a kind, with as many figures as fit the console, at least one."""
    if not listed:
        console.print(Text(f"there is no {kind} here"), soft_wrap=True)
        return
    columns: dict[str, list[str]] = {"name": [entry.name for entry in listed]}
    for key in _fields(listed[0].part):
        cells = [_headline(getattr(entry.part, key)) for entry in listed]
        if key != _TITLE and set(cells) != {NOTHING}:
            columns[key] = cells
    ends = accumulate(max(map(cell_len, (key, *cells))) + COLUMN_GAP for key, cells in columns.items())
    fitting = max(2, sum(end - COLUMN_GAP <= console.width for end in ends))
    shown, left_out = list(columns)[:fitting], list(columns)[fitting:]
    names, *figures = (columns[key] for key in shown)
    rows = [(Text(name, style="bold"), *cells) for name, *cells in zip(names, *figures, strict=True)]
    print_table(console, shown, rows, numbers=[key for key in shown if _is_count(key, listed)])
    also = f"also {', '.join(left_out)}; " if left_out else ""
    console.print(Text(f"{also}each with its provenance: wirelab parts NAME", style="dim"), soft_wrap=True)


def print_part(console: Console, parts: Parts, entry: ListedPart, rows: Collection[str]) -> None:
    """Print a part whole: each figure with who says so, then what was measured at it.

    ``parts`` are those that it may name, ``rows`` the names of the measurements.
    """
    console.print(Text.assemble((entry.name, "bold"), f"  {entry.kind}"), soft_wrap=True)
    console.print(Text(entry.part.title), soft_wrap=True)
    figures: list[tuple[str | Text, ...]] = []
    lists: dict[str, tuple[Model, ...]] = {}
    for key in _fields(entry.part):
        value = getattr(entry.part, key)
        if isinstance(value, Figure):
            figures.append((key, _spelled(value, "value"), _provenance(value, rows), value.note))
        elif _is_list(value):
            lists[key] = value
        elif value is not None and key != _TITLE:
            figures.append((key, _spelled(entry.part, key), "", _title(parts, key, value)))
    print_table(console, ("figure", "value", "provenance", "note"), figures, whole=("figure",))
    for key, items in lists.items():
        if items:
            console.print(Text(key, style="bold"), soft_wrap=True)
            titles = tuple(type(items[0]).model_fields)
            print_table(console, titles, [[_item_cell(item, title) for title in titles] for item in items])


def _item_cell(item: Model, key: str) -> Text:
    said = _spelled(item, key)
    return Text.assemble((said, _STYLES.get(said, "") if key == "provenance" else ""))


def _fields(part: Part) -> tuple[str, ...]:
    """The fields of a part: its title and those of its own kind first, then what it shares with others."""
    own = {_TITLE, *get_annotations(type(part))}
    return tuple(sorted(type(part).model_fields, key=lambda key: key not in own))


def _is_list(value: object) -> TypeGuard[tuple[Model, ...]]:
    """Whether it is a list of what has fields of its own."""
    return isinstance(value, tuple) and all(isinstance(item, Model) for item in value)


def _number(model: Model, key: str) -> dict[str, Any]:
    value, field = getattr(model, key), type(model).model_fields[key]
    dumped = model.model_dump(mode="json", include={key})[key]
    return {"value": dumped, "unit": unit(value, field), "text": spelling(value, field)}


def _plain(model: Model, key: str) -> Any:  # noqa: ANN401 - what JSON can hold
    number = _number(model, key)
    return number if number["unit"] else number["value"]


def _spelled(model: Model, key: str) -> str:
    return spelling(getattr(model, key), type(model).model_fields[key])


def _is_count(key: str, listed: Sequence[ListedPart]) -> bool:
    """Whether the figures that parts have by this name are whole numbers."""
    values = [getattr(entry.part, key, None) for entry in listed]
    return {type(value.value) for value in values if isinstance(value, Figure)} == {int}


def _headline(figure: object) -> str:
    """A figure in short, the modes of a port as the slowest and the fastest; for what is none, nothing."""
    if isinstance(figure, str):
        return figure
    if not isinstance(figure, Figure):
        return NOTHING
    if isinstance(figure.value, tuple) and set(figure.value) <= set(MODES):
        modes = [str(mode) for mode in MODES if mode in figure.value]
        return "..".join(dict.fromkeys(modes[:1] + modes[-1:])) or NOTHING
    return _spelled(figure, "value")


def _provenance(figure: Figure[Any], rows: Collection[str]) -> Text:
    to = fitted_to(figure, rows)
    said = f"{figure.provenance} to {', '.join(to)}" if to else figure.provenance
    return Text(said, style=_STYLES.get(figure.provenance, ""))


def _title(parts: Parts, key: str, name: str) -> str:
    """The title of the part that a field named for its kind names, empty for another field."""
    named = parts.of(cast("PartKind", key)).get(name) if key in get_args(PartKind) else None
    return named.title if named else ""
