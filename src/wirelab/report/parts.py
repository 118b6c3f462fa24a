"""The catalogued parts as a person reads them, and as a program does.

What a kind of part has is read off its model: a new kind or figure needs no line here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from inspect import get_annotations
from typing import TYPE_CHECKING, Any, Final, TypeGuard, cast, get_args

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from wirelab.model.modes import MODES
from wirelab.model.parts import PartKind
from wirelab.model.spelling import spelling, unit
from wirelab.model.types import Figure, Model
from wirelab.report.text import print_table

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from rich.console import Console

    from wirelab.model.parts import Part, Parts

_NOTHING: Final = "-"
_GAP: Final = 3
_TITLE: Final = "title"
_ROW: Final = re.compile(r"[\w-]+(?:\.[\w-]+)+", re.ASCII)
_STYLES: Final = {"datasheet": "green", "measured": "green", "fitted": "yellow", "assumed": "yellow"}


@dataclass(frozen=True, slots=True)
class Entry:
    """A part of the catalogue."""

    kind: PartKind
    name: str
    part: Part


@dataclass(frozen=True, slots=True)
class _Column:
    """The cells below a title, aligned as ``numbers`` or as words."""

    title: str
    cells: tuple[str, ...]
    numbers: bool = False

    @property
    def width(self) -> int:
        return max(map(cell_len, (self.title, *self.cells)))


def entries(parts: Parts) -> tuple[Entry, ...]:
    """Every part, kind by kind."""
    return tuple(
        Entry(kind, name, part) for kind in get_args(PartKind) for name, part in parts.of(kind).items()
    )


def fitted_to(figure: Figure[Any], rows: Collection[str]) -> tuple[str, ...]:
    """Which ``rows`` of the measurements a fitted figure was fitted to, as its note names them."""
    if figure.provenance != "fitted":
        return ()
    return tuple(dict.fromkeys(word for word in _ROW.findall(figure.note) if word in rows))


def document(entry: Entry, rows: Collection[str]) -> dict[str, Any]:
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
            lists[key] = [_item(item) for item in value]
        elif value is not None:
            plain[key] = _plain(entry.part, key)
    return {"kind": entry.kind, "name": entry.name, **plain, "figures": figures, **lists}


def print_parts(console: Console, listed: Sequence[Entry]) -> None:
    """Print a line for each part: its kind, name and title."""
    table = _table("kind", "name", _TITLE)
    for entry in listed:
        table.add_row(Text(entry.kind, style="dim"), Text(entry.name, style="bold"), Text(entry.part.title))
    print_table(console, table)


def print_kind(console: Console, kind: PartKind, listed: Sequence[Entry]) -> None:
    """Print a line for each part of a kind: as many of its figures as the console is wide."""
    if not listed:
        console.print(Text(f"there is no {kind} here"), soft_wrap=True)
        return
    columns = [_column(key, listed) for key in _fields(listed[0].part) if key != _TITLE]
    columns = [column for column in columns if set(column.cells) != {_NOTHING}]
    shown = _fitting([_Column("name", tuple(entry.name for entry in listed)), *columns], console.width)
    table = _table(*(column.title for column in shown))
    for number, column in enumerate(shown):
        table.columns[number].justify = "right" if column.numbers else "left"
    for name, *figures in zip(*(column.cells for column in shown), strict=True):
        table.add_row(Text(name, style="bold"), *map(Text, figures))
    print_table(console, table)
    left_out = ", ".join(column.title for column in columns[len(shown) - 1 :])
    also = f"also {left_out}; " if left_out else ""
    console.print(Text(f"{also}each with its provenance: wirelab parts NAME", style="dim"), soft_wrap=True)


def print_part(console: Console, parts: Parts, entry: Entry, rows: Collection[str]) -> None:
    """Print a part whole: each figure with who says so, then what was measured at it.

    ``parts`` are those that it may name, ``rows`` the names of the measurements.
    """
    console.print(Text.assemble((entry.name, "bold"), f"  {entry.kind}"), soft_wrap=True)
    console.print(Text(entry.part.title), soft_wrap=True)
    table = _table("figure", "value", "provenance", "note", whole=("figure",))
    lists: list[tuple[str, tuple[Model, ...]]] = []
    for key in _fields(entry.part):
        value = getattr(entry.part, key)
        if isinstance(value, Figure):
            table.add_row(key, Text(_spelled(value, "value")), _provenance(value, rows), Text(value.note))
        elif _is_list(value):
            lists.append((key, value))
        elif value is not None and key != _TITLE:
            table.add_row(key, Text(_spelled(entry.part, key)), "", Text(_title(parts, key, value)))
    print_table(console, table)
    for key, items in lists:
        if items:
            console.print(Text(key, style="bold"), soft_wrap=True)
            print_table(console, _item_table(items))


def _item_table(items: Sequence[Model]) -> Table:
    titles = tuple(type(items[0]).model_fields)
    table = _table(*titles)
    for item in items:
        cells = [Text(_spelled(item, key)) for key in titles]
        for key, cell in zip(titles, cells, strict=True):
            cell.stylize(_STYLES.get(cell.plain, "") if key == "provenance" else "")
        table.add_row(*cells)
    return table


def _table(*titles: str, whole: Collection[str] = ()) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="dim", show_edge=False)
    for title in titles:
        table.add_column(title, overflow="fold", no_wrap=title in whole)
    return table


def _fields(part: Part) -> tuple[str, ...]:
    """The fields of a part: those of its own kind first, then what it shares with others."""
    own = get_annotations(type(part))
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


def _item(item: Model) -> dict[str, Any]:
    return {field.alias or key: _plain(item, key) for key, field in type(item).model_fields.items()}


def _spelled(model: Model, key: str) -> str:
    return spelling(getattr(model, key), type(model).model_fields[key])


def _column(key: str, listed: Sequence[Entry]) -> _Column:
    values = [getattr(entry.part, key) for entry in listed]
    numbers = {type(value.value) for value in values if isinstance(value, Figure)} == {int}
    return _Column(key, tuple(map(_headline, values)), numbers)


def _headline(figure: object) -> str:
    """A figure in short, the modes of a port as the slowest and the fastest; for what is none, nothing."""
    if isinstance(figure, str):
        return figure
    if not isinstance(figure, Figure):
        return _NOTHING
    if isinstance(figure.value, tuple) and set(figure.value) <= set(MODES):
        modes = [str(mode) for mode in MODES if mode in figure.value]
        return "..".join(dict.fromkeys(modes[:1] + modes[-1:])) or _NOTHING
    return _spelled(figure, "value")


def _fitting(columns: Sequence[_Column], width: int) -> list[_Column]:
    """The first columns, at least two, that fit into a line."""
    shown = list(columns[:2])
    used = sum(column.width + _GAP for column in shown)
    for column in columns[2:]:
        used += column.width + _GAP
        if used - _GAP > width:
            break
        shown.append(column)
    return shown


def _provenance(figure: Figure[Any], rows: Collection[str]) -> Text:
    to = fitted_to(figure, rows)
    said = f"{figure.provenance} to {', '.join(to)}" if to else figure.provenance
    return Text(said, style=_STYLES.get(figure.provenance, ""))


def _title(parts: Parts, key: str, name: str) -> str:
    """The title of the part that a field named for its kind names, empty for another field."""
    named = parts.of(cast("PartKind", key)).get(name) if key in get_args(PartKind) else None
    return named.title if named else ""
