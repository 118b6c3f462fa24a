"""Expectations: what a range includes and how it is spoken of."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from wirelab.model.expect import Expectation
from wirelab.model.metric import METRICS
from wirelab.model.scenario import Bounds


@given(st.integers(0, 10**9), st.integers(0, 10**9), st.floats(0, 1e9))
def test_both_ends_belong_to_the_range(one: int, other: int, measured: float) -> None:
    """What is exactly at an end holds, what is outside does not, an open end holds for all."""
    low, high = sorted((one, other))
    expectation = Expectation("download", "retransmits", low, high)
    assert expectation.holds(low)
    assert expectation.holds(high)
    assert not expectation.holds(low - 1)
    assert not expectation.holds(high + 1)
    assert expectation.holds(measured) == (low <= measured <= high)
    assert Expectation("download", "retransmits", None, high).holds(measured) == (measured <= high)
    assert Expectation("download", "retransmits", low, None).holds(measured) == (low <= measured)


@pytest.mark.parametrize(
    ("metric", "low", "high", "measured", "expected", "shown"),
    [
        ("goodput", 950_000_000, 1_250_000_000, 1.103e9, "0.95..1.25 Gbit/s", "1.10 Gbit/s"),
        ("retransmits", None, 50, 16_102, "..50", "16 102"),
        ("rtt", 300, 1_000, 423.7, "0.3..1 ms", "424 us"),
        ("paused", 400_000, 700_000, 612_345, "40..70 %", "61.2 %"),
        ("queue_high_water", 0, 16_384, 15_980, "0..16 KiB", "16.0 kB"),
    ],
)
def test_an_expectation_speaks_the_units_of_its_metric(  # noqa: PLR0913, PLR0917 - a case of a table
    metric: str, low: int | None, high: int | None, measured: float, expected: str, shown: str
) -> None:
    """The range prints exactly, what was measured rounded."""
    expectation = Expectation("subject", metric, low, high)
    assert expectation.name == f"subject.{metric}"
    assert (expectation.expected, expectation.of.shown(measured)) == (expected, shown)


def test_every_metric_can_be_written_and_belongs_to_something() -> None:
    """The model of `expect:` has a field for each, and each is somebody's."""
    assert set(Bounds.model_fields) - {"why", "windows"} == set(METRICS)
    assert all(metric.subjects for metric in METRICS.values())


@given(
    st.integers(0, 10**12), st.floats(1e-3, 1e6), st.booleans(), st.sampled_from(["goodput", "rtt", "drops"])
)
def test_what_fails_is_seen_to_fail(end: int, beyond: float, too_much: bool, metric: str) -> None:  # noqa: FBT001 - drawn
    """A measured value that is shown as the end of its range would read as one that holds."""
    expected = Expectation("f", metric, None, end) if too_much else Expectation("f", metric, end, None)
    measured = end + beyond if too_much else end - beyond
    assume(measured >= 0)
    assume(not expected.holds(measured))
    assert expected.shown(measured) != expected.expected.strip(".")


def test_as_many_digits_are_shown_as_are_needed() -> None:
    """Three where they do, as everywhere."""
    expected = Expectation("f", "goodput", None, 948_000_000)
    assert expected.sentence(948_312_000) == "expected at most 948 Mbit/s of goodput, measured 948.3 Mbit/s"
    assert (
        expected.sentence(948_000_400) == "expected at most 948 Mbit/s of goodput, measured 948.0004 Mbit/s"
    )
    assert expected.sentence(951_312_000).endswith("measured 951 Mbit/s")
    assert expected.shown(947_999_999) == "948 Mbit/s"
