"""The YAML reader: text stays text, everything has a place, nothing crashes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import yaml
from examples import ROOT
from hypothesis import given
from hypothesis import strategies as st

from wirelab.errors import InputError
from wirelab.model.yamlfile import DEEPEST, LONGEST_KEY, LONGEST_TEXT, MOST_VALUES, Place, dotted, parse, read

if TYPE_CHECKING:
    from pathlib import Path


def test_every_scalar_is_the_text_that_was_written() -> None:
    """No number is rounded, no date or boolean is guessed: a message can quote the author."""
    document = parse("{a: 2.50, b: on, c: 2022-07-30, d: 0x10, e: '5', f: ~, g: , h: 1e3}", "x.yaml")
    assert document.root == {
        "a": "2.50",
        "b": "on",
        "c": "2022-07-30",
        "d": "0x10",
        "e": "5",
        "f": None,
        "g": None,
        "h": "1e3",
    }


def test_everything_has_a_line_and_a_column() -> None:
    """Keys and values, in mappings and lists, from 1."""
    document = parse("name: x\ntraffic:\n  - iperf3: {to: client}\n", "x.yaml")
    loc = ("traffic", 0, "iperf3", "to")
    assert document.keys[loc] == Place(3, 14)
    assert document.values[loc] == Place(3, 18)
    assert document.place((*loc, "unknown")) == Place(3, 14)
    assert dotted(loc) == "traffic[0].iperf3.to"


def test_the_opening_comment_is_kept() -> None:
    """A file may tell its story in the comment it opens with."""
    assert parse("# One.\n#\n# Two.\na: 1 # three\n", "x.yaml").comment == "One.\n\nTwo."
    assert parse("a: 1\n# late\n", "x.yaml").comment == ""


def test_a_key_that_stands_twice_is_a_problem_and_the_rest_is_read() -> None:
    """PyYAML would keep the last one and say nothing."""
    document = parse("a: 1\nb: {c: 1, c: 2}\na: 3\n", "x.yaml")
    assert document.root == {"a": "1", "b": {"c": "1"}}
    assert [str(problem) for problem in document.problems] == [
        "x.yaml:2: b.c: duplicate key, first on line 2",
        "x.yaml:3: a: duplicate key, first on line 1",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "x.yaml:1: is empty"),
        ("# only a comment\n", "x.yaml:1: is empty"),
        (
            "a: [1\nb: 2\n",
            "x.yaml:2: is not YAML: expected ',' or ']', but got ':', in what begins on line 1",
        ),
        ("a: 1\n---\nb: 2\n", "x.yaml:2: is not YAML: expected a single document in the stream but found"),
        ("a: \x07", "x.yaml:1: has a character YAML forbids"),
        ("a: &x 1\nb: *x\n", "x.yaml:2: b: aliases are not allowed here: write the value of `*x` out"),
        (
            "a: 1\nb: !minutes 5 s\n",
            "x.yaml:2: b: tags are not allowed here: write the value without `!minutes`",
        ),
        (
            "a: !!null foo\n",
            "x.yaml:1: a: tags are not allowed here: write the value without `!!null`",
        ),
        ("a: !%1b%5b31m 1\n", "x.yaml:1: a: tags are not allowed here: write the value without `![31m`"),
        (
            "a: !include {b: 1}\n",
            "x.yaml:1: a: tags are not allowed here: write the value without `!include`",
        ),
        ("!x a: 1\n", "x.yaml:1: tags are not allowed here: write the value without `!x`"),
        ('a: 1\nb: "\\U00110000"\n', "x.yaml:2: is not YAML: a number or an escape is too large"),
        ('a: 1\nb: "\\UFFFFFFFF"\n', "x.yaml:2: is not YAML: a number or an escape is too large"),
        ("a: {b: Why?, c: 1}\nd: e: f\n", "x.yaml:2: is not YAML: mapping values are not allowed in this"),
        ("a: [", "x.yaml:1: is not YAML: expected the node content, but found"),
        ("a: {b: Why?, c: d: e}\n", "x.yaml:1: is not YAML: did not find expected ',' or '}'"),
        (f"%YAML {'9' * 5000}.1\n---\na: 1\n", "x.yaml:1: is not YAML: a number or an escape is too large"),
    ],
)
def test_what_is_not_yaml_is_said_with_its_line(text: str, message: str) -> None:
    """An unreadable text is one error that says where: at what is wrong, not at a question mark before it."""
    with pytest.raises(InputError) as caught:
        parse(text, "x.yaml")
    assert str(caught.value).startswith(message)


def test_a_key_tears_no_message_apart() -> None:
    """Tabs and new lines, which a key in quotes may have, are blanks where a problem names it."""
    assert dotted(("with", "a\tb\nc", 1)) == "with.a b c[1]"


def test_what_is_shipped_needs_no_libyaml(monkeypatch: pytest.MonkeyPatch) -> None:
    """PyYAML's own parser reads the same in every file, where a PyYAML has no other."""
    folders = ("exercises/*", "scenarios", "scenarios/truth", "topologies", "parts")
    texts = [path.read_text("utf-8") for folder in folders for path in ROOT.glob(f"{folder}/*.yaml")]
    quick = [parse(text, "x.yaml") for text in texts]
    monkeypatch.setattr(yaml, "__with_libyaml__", False)
    # What was read is remembered, by its text.
    assert [parse(f"{text}\n# again\n", "x.yaml").root for text in texts] == [one.root for one in quick]


def test_a_terminal_is_told_nothing() -> None:
    """Escape sequences, which YAML can write between quotes, are problems and never part of a message."""
    document = parse('why: "\\e[2J"\n"\\a": 1\nok: "two\\nlines"\n', "x.yaml")
    assert document.root == {"why": "[2J", "ok": "two\nlines"}
    assert [str(problem) for problem in document.problems] == [
        "x.yaml:1: why: has the invisible character U+001B",
        "x.yaml:2: this key has the invisible character U+0007",
    ]


@pytest.mark.parametrize("character", ["\xa0", "\xad", "\u200b", "\u202e", "\u2066", "\ufeff"])
def test_what_nobody_sees_is_named(character: str) -> None:
    """A blank or mark that is pasted with a word: the word would look right and be refused."""
    document = parse(f"a: {{k{character}ey: 1}}\nb: 16{character} KiB\n", "x.yaml")
    assert document.root == {"a": {}, "b": "16 KiB"}
    said = f"has the invisible character U+{ord(character):04X}"
    assert [str(problem) for problem in document.problems] == [
        f"x.yaml:1: a.key: this key {said}",
        f"x.yaml:2: b: {said}",
    ]


def test_half_a_character_is_no_text() -> None:
    """An escape can write a surrogate that no file and no terminal takes."""
    document = parse('a: "\\ud800b"\n', "x.yaml")
    assert document.root == {"a": "b"}
    assert str(document.problems[0]) == "x.yaml:1: a: has the invisible character U+D800"


DEEP = f"x.yaml:1: a{'[0]' * (DEEPEST - 1)}: is nested deeper than {DEEPEST} levels"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: " + "[" * 100_000, DEEP),
        ("a:\n  " + "- " * 100_000, DEEP.replace(":1:", ":2:")),
        (
            "{a: " * 50_000,
            f"x.yaml:1: {'.'.join('a' * (DEEPEST - 1))}: is nested deeper than {DEEPEST} levels",
        ),
        ("? " * 100_000, f"x.yaml:1: is nested deeper than {DEEPEST} levels"),
        (
            "a:\n" + "- b\n" * MOST_VALUES,
            f"x.yaml:{MOST_VALUES - 1}: a[{MOST_VALUES - 3}]: is beyond the limit of {MOST_VALUES} keys and",
        ),
        (
            "".join(f"k{number}: b\n" for number in range(MOST_VALUES)),
            f"x.yaml:{MOST_VALUES // 2}: k{MOST_VALUES // 2 - 1}: is beyond the limit of",
        ),
    ],
    ids=["flow", "block", "mappings", "keys", "items", "many-keys"],
)
def test_a_file_without_end_is_refused_where_it_exceeds_the_limit(text: str, message: str) -> None:
    """Depth, keys and values have a limit, so an answer takes no longer than reading up to it."""
    with pytest.raises(InputError) as caught:
        parse(text, "x.yaml")
    assert str(caught.value).startswith(message)


def test_a_text_and_a_key_have_a_limit() -> None:
    """The message says how long it is and how long it may be, and does not repeat all of it."""
    document = parse(f"a: {'b' * (LONGEST_TEXT + 1)}\n{'k' * (LONGEST_KEY + 1)}: 1\n", "x.yaml")
    assert document.root == {"a": "b" * LONGEST_TEXT}
    key = "k" * LONGEST_KEY
    assert [str(problem) for problem in document.problems] == [
        f"x.yaml:1: a: has {LONGEST_TEXT + 1} characters; the limit is {LONGEST_TEXT}",
        f"x.yaml:2: {key}: this key has {LONGEST_KEY + 1} characters; the limit is {LONGEST_KEY}",
    ]


def test_a_merge_key_is_no_key() -> None:
    """The tricks of YAML that hide what a file says are problems, not read and not crashed on."""
    document = parse("<<: {a: 1}\n? [b]\n: 2\n' ': 3\n", "x.yaml")
    assert [str(problem) for problem in document.problems] == [
        "x.yaml:1: a key must be a word",
        "x.yaml:2: a key must be a word",
        "x.yaml:4: a key must be a word",
    ]


@given(st.text(max_size=200) | st.text(alphabet="ab:-[]{},&*!|>'\"#%@\n\t ?~", max_size=60))
def test_no_text_crashes_the_reader(text: str) -> None:
    """Whatever is in a file, the reader returns a tree or one error of its own."""
    try:
        document = parse(text, "x.yaml")
    except InputError as error:
        said = str(error)
    else:
        said = "x.yaml"
        assert set(document.keys) <= set(document.values)
    assert said.startswith("x.yaml")


def test_a_file_that_cannot_be_read_is_an_input_error(tmp_path: Path) -> None:
    """Missing, a folder, not UTF-8, far too large or without end: each says what it is."""
    (tmp_path / "latin.yaml").write_bytes(b"a: 1\nb: caf\xe9\n")
    (tmp_path / "huge.yaml").write_bytes(b"#" * ((256 << 10) + 1))
    messages = {}
    (tmp_path / "endless.yaml").symlink_to("/dev/zero")
    for name in ("none.yaml", ".", "latin.yaml", "huge.yaml", "endless.yaml", "n" * 300):
        with pytest.raises(InputError) as caught:
            read(tmp_path / name)
        messages[name] = caught.value.problems[0]
    assert messages["none.yaml"].message == "there is no such file"
    assert messages["."].message == "cannot be read: Is a directory"
    assert (messages["latin.yaml"].message, messages["latin.yaml"].line) == ("is not UTF-8 text", 2)
    for name in ("huge.yaml", "endless.yaml"):
        assert messages[name].message == "is larger than the limit of 256 KiB"
    assert messages["n" * 300].message == "cannot be read: File name too long"


def test_a_file_below_the_current_folder_is_named_relative_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Messages name files the way the user would."""
    (tmp_path / "a.yaml").write_text("a: 1\n", encoding="utf-8")
    assert read(tmp_path / "a.yaml").file == str(tmp_path / "a.yaml")
    monkeypatch.chdir(tmp_path)
    assert read(tmp_path / "a.yaml").file == "a.yaml"
