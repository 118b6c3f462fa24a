"""The catalogued parts as text and as JSON: nothing that a part's file says is left out."""

from __future__ import annotations

import io
import json
import re
from typing import Any, cast, get_args

import pytest
from examples import ROOT, SHIPPED
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from wirelab.model.parts import KINDS, PartKind, Parts, Temperature
from wirelab.model.types import ByteRate, Count, Figure, Model, OnOff, Rate, Text
from wirelab.model.yamlfile import read
from wirelab.report.parts import ListedPart, document, entries, print_kind, print_part, print_parts
from wirelab.units import RATE, parse

PARTS = SHIPPED.parts()
ROWS = SHIPPED.measurements()
ENTRIES = entries(PARTS)
WRITTEN: dict[tuple[str, str], dict[str, Any]] = {
    (section, name): part
    for path in (ROOT / "parts").glob("*.yaml")
    for section, parts in read(path).tree.items()
    for name, part in parts.items()
}
WHERE = {
    "fanless_switch_29c": "switch without fan, room at 29 C",
    "fan_switch_31c": "switch with fan, room at 31 C",
}
MODULES = {"aquantia": "aqr113c"}
"""The parts of modules that the measurements call by another name."""

each_part = pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)


class _Console(Console):
    """A console without a screen that keeps what is printed."""

    def __init__(self, width: int = 400, *, terminal: bool = False) -> None:
        super().__init__(
            file=io.StringIO(), width=width, force_terminal=terminal, no_color=not terminal, highlight=False
        )

    @property
    def text(self) -> str:
        return cast("io.StringIO", self.file).getvalue()

    @property
    def cells(self) -> list[list[str]]:
        """Each line as its cells."""
        return [re.split(" {3,}", line) for line in self.text.splitlines()]


def whole(entry: ListedPart, parts: Parts = PARTS) -> _Console:
    """A console with one part on it, no line of it wrapped."""
    console = _Console()
    print_part(console, parts, entry, ROWS)
    return console


def one(name: str) -> ListedPart:
    """The shipped part of that name."""
    return next(entry for entry in ENTRIES if entry.name == name)


def written(entry: ListedPart) -> dict[str, Any]:
    """What stands in the file of a shipped part."""
    section = next(key for key in KINDS if getattr(PARTS, key) is PARTS.of(entry.kind))
    return WRITTEN[section, entry.name]


def rebuilt(said: dict[str, Any], part: type[Model]) -> Model:
    """The part that a document says, read from the words in it alone."""

    def words(value: Any) -> Any:  # noqa: ANN401 - what JSON can hold
        return value["text"] if isinstance(value, dict) else value

    fields: dict[str, Any] = {
        key: value for key, value in said.items() if key not in ("kind", "name", "figures")
    }
    for key, value in fields.items():
        if isinstance(value, list):
            fields[key] = [{name: words(cell) for name, cell in item.items()} for item in value]
    for key, figure in said["figures"].items():
        text = figure["text"].split(", ") if isinstance(figure["value"], list) else figure["text"]
        fields[key] = {"value": text, "from": figure["from"], "note": figure["note"]}
    return part.model_validate(fields)


def test_every_part_of_every_file_has_a_line() -> None:
    """Its kind, its name and its title."""
    console = _Console()
    print_parts(console, ENTRIES)
    lines = [cells[1:] for cells in console.cells[1:]]
    assert sorted(lines) == sorted([name, part["title"]] for (_, name), part in WRITTEN.items())
    assert [cells[0] for cells in console.cells[1:]] == [entry.kind for entry in ENTRIES]


@each_part
def test_every_figure_has_its_provenance_and_its_note(entry: ListedPart) -> None:
    """One line for each key of the part's file: what stands there, no more and no less."""
    rows = {cells[0]: cells[1:] for cells in whole(entry).cells[3:] if len(cells) > 1}
    said = written(entry)
    for key, value in said.items():
        if isinstance(value, dict):
            text, provenance, note = rows.pop(key)
            assert provenance.split(" to ")[0] == value["from"]
            assert note == " ".join(value["note"].split())
            figure = getattr(entry.part, key)
            same = {"value": text.split(", ") if isinstance(value["value"], list) else text}
            assert type(figure).model_validate({**value, **same}) == figure
    assert {key: cells[0] for key, cells in rows.items() if key in type(entry.part).model_fields} == {
        key: value for key, value in said.items() if isinstance(value, str) and key != "title"
    }


@each_part
def test_a_document_reads_back_to_the_part(entry: ListedPart) -> None:
    """From its words alone, so nothing is lost; each number is what its words say, in the unit beside it."""
    said = json.loads(json.dumps(document(entry, ROWS)))
    assert (said["kind"], said["name"]) == (entry.kind, entry.name)
    assert rebuilt(said, type(entry.part)) == entry.part
    for key, figure in said["figures"].items():
        value = getattr(entry.part, key).value
        if isinstance(value, bool | int):
            assert figure["value"] == value
    for figure in said["figures"].values():
        if figure["unit"] == "bit/s":
            assert figure["value"] == parse(figure["text"], RATE)


def test_numbers_have_their_base_units() -> None:
    """Bytes, picoseconds, parts per million; a count, a word and on or off have none."""
    figures = {
        (name, key): (figure["value"], figure["unit"], figure["text"])
        for name in ("aqr113c", "macbook-2019-security", "pcie-3", "rtl9303", "rtl8125", "2g5base-t")
        for key, figure in document(one(name), ROWS)["figures"].items()
    }
    assert figures["aqr113c", "fifo"] == (65_536, "B", "64 KiB")
    assert figures["aqr113c", "host_speed"] == (10_000_000_000, "bit/s", "10 Gbit/s")
    assert figures["aqr113c", "host_pause"] == (True, None, "on")
    assert figures["2g5base-t", "host_speed"] == ("line", None, "line")
    assert figures["macbook-2019-security", "rx_byte"] == (4_200, "ps", "4.2 ns")
    assert figures["pcie-3", "coding"] == (984_615, "ppm", "98.4615 %")
    assert figures["rtl9303", "ports"] == (8, None, "8")
    assert figures["rtl8125", "rx_usecs"] == (0, "us", "0 us")
    modes, _, text = figures["rtl8125", "speeds"]
    assert modes[:2] == [
        {"speed_bps": 10_000_000, "duplex": "half"},
        {"speed_bps": 10_000_000, "duplex": "full"},
    ]
    assert text.startswith("10 Mbit/s half, 10 Mbit/s, ")


@each_part
def test_a_fitted_figure_names_its_measurement(entry: ListedPart) -> None:
    """Those and no others, and each with a row that its note names."""
    for key, figure in document(entry, ROWS)["figures"].items():
        assert bool(figure["fitted_to"]) == (figure["from"] == "fitted")
        assert all(row in ROWS and row in figure["note"] for row in figure["fitted_to"])
        for row in figure["fitted_to"]:
            assert re.search(rf"^{key} .* fitted to {re.escape(row)} ", whole(entry).text, re.MULTILINE)


def test_a_fitted_figure_that_names_no_measurement_is_just_fitted() -> None:
    """A word that begins like a row is not that row."""
    hub = one("hub-10").part
    ports = Figure[Count].model_validate({"value": "4", "from": "fitted", "note": "sfp.asf-10g-tx, pcie.x16"})
    entry = ListedPart("hub", "mine", hub.model_copy(update={"ports": ports}))
    assert document(entry, ROWS)["figures"]["ports"]["fitted_to"] == []
    assert ["ports", "4", "fitted", "sfp.asf-10g-tx, pcie.x16"] in whole(entry).cells


def measured_temperatures() -> dict[tuple[str, int, str], float]:
    """The temperatures of the measurements, by part, speed in bit/s and switch."""
    rows = read(ROOT / "measurements.yaml").tree["sfp"]["temperature_c"]
    measured = {}
    for switch, temperatures in rows.items():
        for what, celsius in temperatures.items():
            module, _, speed = what.partition(" at ")
            speed_bps = parse(speed.replace("G", " Gbit/s"), RATE)
            measured[MODULES.get(module, module), speed_bps, WHERE[switch]] = float(celsius)
    return measured


def test_the_temperatures_of_the_parts_are_those_that_were_measured() -> None:
    """The same numbers in both files, for the same module, speed and switch; each says where it is from."""
    carried = [(name, reading) for name, module in PARTS.modules.items() for reading in module.temperatures]
    assert {
        (name, reading.speed, reading.where): reading.celsius for name, reading in carried
    } == measured_temperatures()
    assert len(carried) == len(measured_temperatures()) == 7
    assert {(reading.provenance, reading.note) for _, reading in carried} == {
        ("measured", "sfp.temperature_c")
    }
    assert "sfp.temperature_c" in ROWS


@pytest.mark.parametrize("name", PARTS.modules)
def test_temperatures_are_shown(name: str) -> None:
    """A line for each that was measured at this module, and no table where there was none."""
    expected = sorted(
        [f"{speed_bps / 1e9:g} Gbit/s", f"{celsius:g} C", where, "measured", "sfp.temperature_c"]
        for (module, speed_bps, where), celsius in measured_temperatures().items()
        if module == name
    )
    cells = whole(one(name)).cells
    assert sorted(row for row in cells if "measured" in row and "sfp.temperature_c" in row) == expected
    assert (["speed", "celsius", "where", "provenance", "note"] in cells) == bool(expected)
    said = document(one(name), ROWS)["temperatures"]
    assert sorted([row["speed"]["text"], row["celsius"]["text"]] for row in said) == [
        row[:2] for row in expected
    ]


def test_a_host_shows_which_card_it_has() -> None:
    """By name and title: a card is a part of its own."""
    title = PARTS.nics["x520"].title
    assert ["nic", "x520", title] in whole(one("ubuntu20")).cells


@pytest.mark.parametrize("kind", sorted({entry.kind for entry in ENTRIES}))
@given(width=st.integers(1, 300))
def test_a_kind_is_a_table_as_wide_as_the_console(kind: PartKind, width: int) -> None:
    """Every part has a line; every figure that one of them has is a column, or is named as left out."""
    of_kind = [entry for entry in ENTRIES if entry.kind == kind]
    console = _Console(width)
    print_kind(console, kind, of_kind)
    titles, *lines, last = console.text.splitlines()
    figures = {key for entry in of_kind for key in written(entry)} - {"title", "temperatures", "phy_latency"}
    left_out = last.removeprefix("also ").split("; ")[0].split(", ") if last.startswith("also ") else []
    if width >= 70:
        assert [line.split()[0] for line in lines] == [entry.name for entry in of_kind]
        assert all(len(line) <= width for line in (titles, *lines))
        assert sorted([*titles.split(), *left_out]) == sorted(["name", *figures])
    assert set(left_out) < figures
    assert last.endswith("each with its provenance: wirelab parts NAME")


def test_the_figures_of_a_kind_lead_with_its_own() -> None:
    """What a card is comes before what its driver costs; modes are their slowest and fastest."""
    console = _Console(120)
    print_kind(console, "nic", [one("rtl8156b"), one("lance"), one("x520")])
    assert [line[:4] for line in console.cells[:4]] == [
        ["name", "speeds", "bus", "rx_moderation"],
        ["rtl8156b", "10 Mbit/s half..2.5 Gbit/s", "usb-3", "-"],
        ["lance", "10 Mbit/s half", "-", "-"],
        ["x520", "1 Gbit/s..10 Gbit/s", "-", "interval"],
    ]


def test_a_kind_without_parts_says_so() -> None:
    """Rather than nothing."""
    console = _Console()
    print_kind(console, "hub", [])
    assert console.text == "there is no hub here\n"


def test_what_a_file_says_is_no_markup() -> None:
    """Brackets are printed as they stand; colours are for a screen only."""
    hub = one("hub-10").part.model_copy(update={"title": "[bold]4 ports[/bold] [red]"})
    assert whole(ListedPart("hub", "mine", hub)).text.splitlines()[1] == "[bold]4 ports[/bold] [red]"
    assert "\x1b" not in whole(one("aqr113c")).text
    screen = _Console(terminal=True)
    print_part(screen, PARTS, one("aqr113c"), ROWS)
    assert "\x1b" in screen.text


class _Tape(Model):
    """A kind of part that there is not yet, with a figure that may be absent and a list of its own."""

    title: Text
    read: Figure[ByteRate]
    plain: Rate | None = None
    loops: Figure[Count] | None = None
    spare: Figure[tuple[Count, ...]] | None = None
    sealed: Figure[OnOff]
    readings: tuple[Temperature, ...] = ()


def test_a_kind_to_come_needs_nothing_new() -> None:
    """Figures, units and lists are read off the model."""
    origin = {"from": "assumed", "note": "a test"}
    reading = {"speed": "1 Gbit/s", "celsius": "37.5 C", "where": "inside", **origin}
    tape = _Tape.model_validate(
        {
            "title": "A tape",
            "read": {"value": "512.6 MB/s", **origin},
            "plain": "100 Mbit/s",
            "spare": {"value": ["1", "2"], **origin},
            "sealed": {"value": "no", **origin},
            "readings": [reading],
        }
    )
    entry = cast("Any", ListedPart)("tape", "mine", tape)
    assert whole(entry).cells == [
        ["mine  tape"],
        ["A tape"],
        ["figure", "value", "provenance", "note"],
        ["read", "512.6 MB/s", "assumed", "a test"],
        ["plain", "100 Mbit/s"],
        ["spare", "1, 2", "assumed", "a test"],
        ["sealed", "off", "assumed", "a test"],
        ["readings"],
        ["speed", "celsius", "where", "provenance", "note"],
        ["1 Gbit/s", "37.5 C", "inside", "assumed", "a test"],
    ]
    said = document(entry, ROWS)
    assert said["figures"]["read"]["value"] == 512_600_000
    assert said["figures"]["read"]["unit"] == "B/s"
    assert said["plain"] == {"value": 100_000_000, "unit": "bit/s", "text": "100 Mbit/s"}
    assert rebuilt({**said, "plain": "100 Mbit/s"}, _Tape) == tape


def test_every_section_of_the_files_is_of_a_kind() -> None:
    """One whose kind nobody knows would be checked, and never shown."""
    shown = [id(PARTS.of(kind)) for kind in get_args(PartKind)]
    assert sorted(shown) == sorted(id(getattr(PARTS, section)) for section in KINDS)
