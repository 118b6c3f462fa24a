"""An exercise's file: figures that differ, formulas, scales, and the words that say what is wrong."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from examples import ROOT
from jsonschema import Draft202012Validator

from wirelab.errors import InputError
from wirelab.model.catalogue import around
from wirelab.model.exercise import Range
from wirelab.model.exercise_reader import load_exercise, read_exercise
from wirelab.model.files import check_file, schema
from wirelab.model.fill import filled_setting, filled_text, unfilled_text
from wirelab.model.formula import FormulaError, Number, amount_of, powers_of, read_formula
from wirelab.model.scale import Scale
from wirelab.units import COUNT, SIZE, TIME

if TYPE_CHECKING:
    from pathlib import Path

FIGURES = {"fifo": "16 KiB", "line": "2.5 Gbit/s", "queue": "fq_codel"}


@pytest.mark.parametrize("name", around(ROOT).exercises())
def test_what_is_shipped_is_sound(name: str) -> None:
    """Each exercise is found by its name, and checked by its folder."""
    exercise = load_exercise(name, ROOT)
    assert exercise.name == name
    assert exercise.points > 0
    check_file(ROOT / "exercises" / name)


def test_what_is_offered_may_need_another_setting_with_it(tmp_path: Path) -> None:
    """A module that says stop needs a larger FIFO: where both may change, it is no mistake to offer it."""
    text = (ROOT / "tests/bad-input/exercise/never.yaml").read_text(encoding="utf-8")
    (tmp_path / "exercise.yaml").write_text(
        text.replace(", 20 ms]", "]").replace("expect:", "most: 2\n  expect:"), encoding="utf-8"
    )
    check_file(tmp_path)
    assert read_exercise(tmp_path / "exercise.yaml").repairs["module"].listed == ("asf-10g-t", "aqr113c")


def test_an_unknown_name_has_the_nearest_one() -> None:
    """As with scenarios."""
    with pytest.raises(InputError, match="unknown exercise `shalow-buffer`; did you mean `shallow-buffer`"):
        load_exercise("shalow-buffer", ROOT)


def test_an_exercise_of_ones_own_draws_on_what_is_shipped(tmp_path: Path) -> None:
    """A folder anywhere, with a scenario of the catalogue; a broken one of its own is told with its place."""
    folder = tmp_path / "exercises" / "mine"
    folder.mkdir(parents=True)
    text = (ROOT / "exercises/shallow-buffer/exercise.yaml").read_text()
    (folder / "exercise.yaml").write_text(text.replace("scenario: scenario.yaml", "scenario: sfp-mismatch"))
    assert load_exercise("mine", tmp_path).experiment.scenario.name == "sfp-mismatch"
    (folder / "exercise.yaml").write_text(text)
    (folder / "scenario.yaml").write_text("name: x\n")
    with pytest.raises(InputError) as caught:
        read_exercise(folder / "exercise.yaml")
    files = {problem.file and problem.file.rpartition("/")[2] for problem in caught.value.problems}
    assert files == {"exercise.yaml", "scenario.yaml"}


@pytest.mark.parametrize(
    ("formula", "told"),
    [
        ("1 / (20 KiB - fifo)", "is divided by nothing where a student has `fifo` 20 KiB, `line` 1 Gbit/s"),
        ("1 / (1 Gbit/s - line)", "is divided by nothing"),
    ],
)
def test_a_text_can_be_written_for_every_student(tmp_path: Path, formula: str, told: str) -> None:
    """Whatever values they have: that a formula gives nothing for some is told to who writes it."""
    folder = tmp_path / "exercises" / "mine"
    shutil.copytree(ROOT / "exercises/shallow-buffer", folder)
    file = folder / "exercise.yaml"
    unit = "KiB" if "KiB" in formula else "Gbit/s"
    text = f"  Here it is {{1 {unit} * 1 {unit} * {formula} in {unit}}}.\n"
    file.write_text(file.read_text().replace("story: |\n", f"story: |\n{text}"))
    with pytest.raises(InputError) as caught:
        read_exercise(file)
    assert [problem.message.partition(")` ")[2] for problem in caught.value.problems] == [told]


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("8 - 2 - 1", 5),
        ("16 KiB / (1 - 2.5 Gbit/s / 10 Gbit/s)", 16 * 1024 * 8 / 0.75),
        ("100 Mbit/s * 40 ms", 4_000_000),
        ("sqrt(9) + min(1, 2, 3) + max(50 %, 25 %)", 4.5),
        ("1 / 0", None),
        ("1 / (1 - 1)", None),
    ],
)
def test_a_formula_is_reckoned_in_bits_and_seconds(text: str, amount: float | None) -> None:
    """A rate times a time is a size; what is divided by nothing gives nothing."""
    found = amount_of(read_formula(text), lambda _: 0.0)
    assert found == (amount if amount is None else pytest.approx(amount))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 +", "expected a number or a name, found its end"),
        ("1 2", "`2` is too much"),
        ("(1", "a bracket stays open"),
        ("1 ; 2", "is no formula from `; 2` on"),
        ("log(1)", "unknown function `log`"),
        ("sqrt(1, 2)", "`sqrt` is of one part"),
        ("(" * 40 + "1" + ")" * 40, "is nested deeper than 30 levels"),
        ("1" * 500, "500 characters are no formula"),
        ("__import__('os')", "is no formula from"),
    ],
)
def test_what_is_no_formula(text: str, message: str) -> None:
    """It says from where on."""
    with pytest.raises(FormulaError) as caught:
        read_formula(text)
    assert message in str(caught.value)


@pytest.mark.parametrize("text", ["1 s + 1", "1 KiB + 1 Gbit/s", "max(1 s, 1 B)", "sqrt(1 s)"])
def test_unlike_things_are_not_added(text: str) -> None:
    """Nor compared; and there is no root of a time."""
    with pytest.raises(FormulaError):
        powers_of(read_formula(text), lambda _: (0, 0, 0))


def test_nobody_is_asked_for_what_samples_do_not_tell(tmp_path: Path) -> None:
    """They follow one connection of a flow, and the percentiles of several are nobody's."""
    folder = tmp_path / "the-window"
    shutil.copytree(ROOT / "exercises/the-window", folder)
    text = (folder / "exercise.yaml").read_text(encoding="utf-8")
    (folder / "exercise.yaml").write_text(
        text.replace("* download.rtt\n", "* download.rtt_p50\n"), encoding="utf-8"
    )
    with pytest.raises(InputError, match="samples follow one connection, and `download` has 2"):
        read_exercise(folder / "exercise.yaml")


def test_figures_in_words() -> None:
    """A name is the figure as it is written; a formula needs the unit that it is shown in."""
    assert filled_text("{fifo} at {line}", FIGURES) == "16 KiB at 2.5 Gbit/s"
    assert filled_text("{fifo / (1 - line / 10 Gbit/s) in kB}", FIGURES) == "21.8 kB"
    # For all of a class there is a gap.
    assert unfilled_text("{fifo} at {line}?") == "\N{HORIZONTAL ELLIPSIS} at \N{HORIZONTAL ELLIPSIS}?"
    assert filled_setting("{2 * fifo}", FIGURES, SIZE) == "32 KiB"
    assert filled_setting("{queue}", FIGURES, None) == "fq_codel"
    for text in ("{fife}", "{2 * fifo}", "{fifo in s}", "{fifo in furlongs}", "{queue in B}"):
        with pytest.raises(FormulaError):
            filled_text(text, FIGURES)


def test_a_scale_admits_what_is_on_it() -> None:
    """In any unit, written as the scale writes it; what is beside it is named."""
    scale = Scale.read(Range(range="12..40 KiB", step="4 KiB"), SIZE)
    assert (scale.count, scale.ends, scale.value(1)) == (8, ("12 KiB", "40 KiB"), "16 KiB")
    assert scale.admitted("16384 B") == "16 KiB"
    for text in ("13 KiB", "44 KiB", "16", "1 s", "9" * 100):
        with pytest.raises(ValueError, match=r"is not in|has no unit|is a unit of|is not a size"):
            scale.admitted(text)
    words = Scale.read(Range(values=("on", "off")), None)
    assert words.admitted("on") == "on"
    with pytest.raises(ValueError, match="did you mean `on`"):
        words.admitted("onn")


@pytest.mark.parametrize(
    "said",
    [
        {"range": "..40 ms", "step": "1 ms"},
        {"range": "0..40 s", "step": "1 ns"},
        {"values": ("1 ms", "1 ms")},
        {"values": ("1 ms", "1 KiB")},
    ],
)
def test_what_is_no_scale(said: dict[str, str]) -> None:
    """An open end, more values than anybody draws from, a value twice or of another kind."""
    with pytest.raises(ValueError, match=r"open end|more than 10000 values|twice|unit of size"):
        Scale.read(Range.model_validate(said), TIME)


def test_a_scale_is_spread() -> None:
    """From its first value to its last, each once."""
    assert Scale.read(Range(range="0..8 ms"), TIME).spread(5) == ("0 ns", "2 ms", "4 ms", "6 ms", "8 ms")
    assert Scale.read(Range(range="1..9", step="4"), COUNT).spread(5) == ("1", "5", "9")
    assert Scale.read(Range(values=("on", "off")), None).spread(5) == ("on", "off")


def test_a_figure_is_the_number_that_it_writes() -> None:
    """Its unit is part of it."""
    assert read_formula("4 KiB") == Number(4 * 1024 * 8, (1, 0, 0))
    assert read_formula("50 %") == Number(0.5, (0, 0, 0))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("scenarioo", "x"),
        ("figures", {"fifo": {"rnge": "1..2 s"}}),
        ("questions", [{"prot": {}}]),
        ("goal", None),
    ],
)
def test_an_editor_marks_what_the_reader_refuses(key: str, value: object) -> None:
    """An unknown key, and a value of another form."""
    document: dict[str, object] = {"title": "a", "goal": "b", "story": "c", "scenario": "sfp-mismatch"}
    check = Draft202012Validator(schema("exercise"))
    assert check.is_valid(document)
    assert not check.is_valid({**document, key: value})


def test_a_count_has_no_unit() -> None:
    """A number of frames is a plain number."""
    assert Scale.read(Range(range="1..9", step="2"), COUNT).ends == ("1", "9")
