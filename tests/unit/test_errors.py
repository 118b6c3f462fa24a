"""Errors: one message a problem, and the nearest right word."""

from __future__ import annotations

import pytest

from wirelab.errors import MOST_PROBLEMS, InputError, LabError, Problem, SkipError, nearest, unknown


def test_a_problem_names_file_line_and_field() -> None:
    """What is known of the place comes before the message, in the order an editor jumps to."""
    assert str(Problem("is missing", "a.yaml", 3, "traffic")) == "a.yaml:3: traffic: is missing"
    assert str(Problem("is empty", "a.yaml")) == "a.yaml: is empty"
    assert str(Problem("unknown scenario")) == "unknown scenario"


def test_an_input_error_lists_every_problem() -> None:
    """All problems of an input are in one error, one a line, and each can be had by itself."""
    problems = [Problem("is missing", "a.yaml", 3, "to"), Problem("is empty", "b.yaml")]
    error = InputError.of(problems)
    assert str(error) == "a.yaml:3: to: is missing\nb.yaml: is empty"
    assert error.message == str(error)
    assert error.problems == tuple(problems)


def test_very_many_problems_are_counted() -> None:
    """The first hundred are listed; the last line says where the others begin and how many they are."""
    problems = [Problem("is missing", "a.yaml", line, "to") for line in range(1, MOST_PROBLEMS + 4)]
    error = InputError.of(problems)
    assert error.problems[:MOST_PROBLEMS] == tuple(problems[:MOST_PROBLEMS])
    assert list(map(str, error.problems[MOST_PROBLEMS:])) == [
        f"a.yaml:{MOST_PROBLEMS + 1}: to: 3 more problems from here on"
    ]
    assert len(InputError.of(problems[:MOST_PROBLEMS]).problems) == MOST_PROBLEMS


def test_an_input_error_needs_a_problem() -> None:
    """An error about nothing is a mistake of the programmer."""
    with pytest.raises(ValueError, match="needs a problem"):
        InputError.of([])


def test_exit_codes_tell_the_errors_apart() -> None:
    """Bad input, a broken lab and a skip end a command differently."""
    assert [InputError("x").exit_code, SkipError("x").exit_code, LabError("x").exit_code] == [2, 3, 4]


def test_the_nearest_word_ignores_case_and_small_slips() -> None:
    """A typo finds its word; something else entirely finds none."""
    known = ["asf-10g-t", "aqr113c", "s-rj10"]
    assert nearest("ASF-10G-T", known) == "asf-10g-t"
    assert nearest("aqr113", known) == "aqr113c"
    assert nearest("router", known) is None


def test_an_unknown_word_is_answered_with_a_known_one() -> None:
    """The nearest word if there is one, else all of them."""
    assert unknown("nic", "x502", ["x520", "rtl8125"]) == "unknown nic `x502`; did you mean `x520`?"
    assert unknown("nic", "cx4", ["x520", "rtl8125"]) == "unknown nic `cx4`; known: x520, rtl8125"
    assert unknown("nic", "cx4", []) == "unknown nic `cx4`; there is none here"
