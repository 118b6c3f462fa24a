"""``wirelab parts`` as its users have it: kinds, names, JSON, and words that mean nothing."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, get_args

import pytest
from examples import ROOT, SHIPPED
from standin import Wirelab

from wirelab.model.parts import PartKind
from wirelab.report.parts import document, entries

if TYPE_CHECKING:
    from pathlib import Path

ENTRIES = entries(SHIPPED.parts())
ROWS = SHIPPED.measurements()


@pytest.fixture
def wirelab(tmp_path: Path) -> Wirelab:
    """The command line in a folder with nothing of parts in it."""
    return Wirelab.make(tmp_path)


def test_all_parts(wirelab: Wirelab) -> None:
    """One line for each that is shipped, kind by kind."""
    code, out, err = wirelab("parts")
    assert (code, err) == (0, "")
    lines = [line.split(None, 2) for line in out.splitlines()[1:]]
    assert lines == [[entry.kind, entry.name, entry.part.title] for entry in ENTRIES]


def test_one_kind(wirelab: Wirelab) -> None:
    """By its name or by that of its section in the files: the parts of that kind and no other."""
    code, out, err = wirelab("parts", "module")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].split()[:4] == ["name", "host_speed", "line_speeds", "fifo"]
    names = [entry.name for entry in ENTRIES if entry.kind == "module"]
    assert [line.split()[0] for line in lines[1:-1]] == names
    assert wirelab("parts", "modules") == (0, out, "")


def test_one_part(wirelab: Wirelab) -> None:
    """Whole: its figures with what they were fitted to, and its temperatures."""
    code, out, err = wirelab("parts", "aqr113c")
    assert (code, err) == (0, "")
    assert out.startswith("aqr113c  module\nAquantia AQR113C module")
    words = " ".join(out.split())
    assert "host_pause on datasheet Aquantia documentation" in words
    assert "fifo_unheeded 20 KiB fitted to" in words
    assert "2.5 Gbit/s 38 C switch with fan, room at 31 C measured sfp.temperature_c" in words
    assert all(line == line.rstrip() and len(line) <= 120 for line in out.splitlines())


def test_json_has_the_same(wirelab: Wirelab) -> None:
    """All, one kind or one part: a list of what a program can read, as the catalogue has it."""
    documents = json.loads(json.dumps([document(entry, ROWS) for entry in ENTRIES]))
    code, out, err = wirelab("parts", "--json")
    assert (code, err) == (0, "")
    assert json.loads(out) == documents
    code, out, _ = wirelab("parts", "nic", "--json")
    assert json.loads(out) == [part for part in documents if part["kind"] == "nic"] != []
    code, out, _ = wirelab("parts", "--json", "aqr113c")
    assert json.loads(out) == [part for part in documents if part["name"] == "aqr113c"] != []


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (("modul",), "unknown part or kind `modul`; did you mean `module`?"),
        (("nicks", "--json"), "unknown part or kind `nicks`; did you mean `nic`?"),
        (("aqr113",), "unknown part or kind `aqr113`; did you mean `aqr113c`?"),
        (("ASF-10G-T",), "unknown part or kind `ASF-10G-T`; did you mean `asf-10g-t`?"),
        (("0",), f"unknown part or kind `0`; known: {', '.join(get_args(PartKind))}"),
        (("",), f"unknown part or kind ``; known: {', '.join(get_args(PartKind))}"),
    ],
)
def test_an_unknown_word(argv: tuple[str, ...], message: str, wirelab: Wirelab) -> None:
    """Exit code 2, the nearest right word or else the kinds, and where to find the rest."""
    assert wirelab("parts", *argv) == (2, "", f"error: {message}\nhint: wirelab parts\n")


def own_part(folder: Path, text: str) -> None:
    """A catalogue of the user's own in ``folder``, with one file of parts."""
    (folder / "scenarios").mkdir()
    (folder / "parts").mkdir()
    (folder / "parts" / "mine.yaml").write_text(text, encoding="utf-8")


def test_parts_of_ones_own(wirelab: Wirelab) -> None:
    """They come with the shipped ones, and hide one of the same name; two kinds may share a name."""
    text = (ROOT / "parts" / "hubs.yaml").read_text(encoding="utf-8")
    own_part(wirelab.folder, text.replace("10BASE-T hub", "My old hub").replace("hub-100:", "asf-10g-t:"))
    code, out, _ = wirelab("parts", "hub-10")
    assert code == 0
    assert out.startswith("hub-10  hub\nMy old hub\n")
    _, out, _ = wirelab("parts", "hub")
    assert [line.split()[0] for line in out.splitlines()[1:-1]] == ["hub-10", "hub-100", "asf-10g-t"]
    _, out, _ = wirelab("parts", "asf-10g-t")
    assert "asf-10g-t  hub\n" in out
    assert "asf-10g-t  module\n" in out


def test_a_broken_file_of_parts(wirelab: Wirelab) -> None:
    """Exit code 2, with file, line, field and the nearest right word: half a catalogue helps nobody."""
    text = (ROOT / "parts" / "hubs.yaml").read_text(encoding="utf-8").replace("speed:", "sped:", 1)
    own_part(wirelab.folder, text)
    line = 1 + next(number for number, row in enumerate(text.splitlines()) if "sped:" in row)
    code, out, err = wirelab("parts")
    assert (code, out) == (2, "")
    assert err == (
        f"error: parts/mine.yaml:{line}: hubs.hub-10.sped: unknown key `sped`; did you mean `speed`?\n"
    )


@pytest.mark.parametrize("argv", [("parts",), ("parts", "nic"), ("parts", "--json")])
def test_a_reader_that_goes_away(argv: tuple[str, ...], wirelab: Wirelab) -> None:
    """A closed pipe is no error that anybody has to read about."""
    reader, writer = os.pipe()
    os.close(reader)
    process = wirelab.start(*argv, stdout=writer)
    os.close(writer)
    _, err = process.communicate(timeout=120)
    assert err == ""
    assert process.returncode in (0, 141)
