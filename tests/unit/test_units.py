"""Quantities: what is written is what is meant, exactly, and back."""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wirelab import units
from wirelab.units import (
    BYTE_RATE,
    COST,
    COUNT,
    LENGTH,
    MICROSECONDS,
    QUANTITIES,
    RATE,
    RATIO,
    SIZE,
    TIME,
    Quantity,
    UnitError,
    parse,
    parse_nearly,
    parse_range,
    rounded,
    show,
    show_range,
)

BYTES = "MBps GBps MByte/s MB/s MiB/s MB GB KiB byte"
BITS = "Mbps mbps kbit Kb Mb GBIT Mbits"
IN_BITS = "a rate is written in bit/s, kbit/s, Mbit/s, Gbit/s"
IN_BYTES = "a rate of bytes is written in B/s, kB/s, MB/s, GB/s"
IN_SIZES = "a size is written in B, kB, KiB, MB, MiB, GB, GiB, TB"

quantities = st.sampled_from(QUANTITIES)

values = st.integers(min_value=0, max_value=2**63 - 1) | st.integers(min_value=0, max_value=10**6)


def test_every_quantity_is_among_all() -> None:
    """These tests and the messages about units go through one list: what is not in it is not known."""
    assert set(map(id, QUANTITIES)) == {
        id(thing) for thing in vars(units).values() if isinstance(thing, Quantity)
    }


def test_a_number_without_a_unit_is_no_mistaken_unit() -> None:
    """It has a message of its own: what people write instead of a unit is never nothing."""
    assert [quantity.name for quantity in QUANTITIES if "" in quantity.mistakes] == []


@given(quantities)
def test_every_number_has_a_name_with_its_unit(quantity: Quantity) -> None:
    """The end of a name is a word: no unit stands there as it is written, nor is any left out."""
    assert ("x" + quantity.suffix).isidentifier()
    assert bool(quantity.suffix) == bool(quantity.base)


def test_names_have_the_units_of_this_code() -> None:
    """`limit_bytes`, `goodput_bps`, `rx_byte_ps`, `length_mm`; a count has its noun."""
    ends = {quantity.name: quantity.suffix for quantity in (RATE, BYTE_RATE, SIZE, LENGTH, RATIO, COUNT)}
    assert " ".join(ends.values()).split(" ") == ["_bps", "_bytes_per_s", "_bytes", "_mm", "_ppm", ""]
    assert [time.suffix for time in (TIME, MICROSECONDS, COST)] == ["_ns", "_us", "_ps"]


@given(values, quantities)
def test_what_is_shown_is_read_back(value: int, quantity: Quantity) -> None:
    """Printing a quantity and reading it gives the same number of base units, whatever its size."""
    assert parse(show(value, quantity), quantity) == value


@given(st.none() | values, st.none() | values, quantities)
def test_a_shown_range_is_read_back(one: int | None, other: int | None, quantity: Quantity) -> None:
    """Printing a range and reading it gives the same ends, open ones too."""
    if one is None and other is None:
        with pytest.raises(ValueError, match="at least one end"):
            show_range(one, other, quantity)
        return
    low, high = (one, other) if one is None or other is None else sorted((one, other))
    assert parse_range(show_range(low, high, quantity), quantity) == (low, high)


@given(st.integers(0, 10**9), st.integers(0, 10**6 - 1), st.data())
def test_reading_is_exact_or_refused(whole: int, millionths: int, data: st.DataObject) -> None:
    """A number is never rounded: it is a whole number of base units that a kernel can hold, or an error."""
    quantity = data.draw(st.sampled_from([quantity for quantity in QUANTITIES if quantity.units]))
    unit = data.draw(st.sampled_from(sorted(quantity.units)))
    exact = (whole + Fraction(millionths, 10**6)) * quantity.units[unit]
    text = f"{whole}.{millionths:06d} {unit}"
    if exact.denominator != 1:
        with pytest.raises(UnitError, match="not a whole number"):
            parse(text, quantity)
    elif exact > 2**63 - 1:
        with pytest.raises(UnitError, match="too large"):
            parse(text, quantity)
    else:
        assert parse(text, quantity) == exact


@given(st.text(max_size=30), quantities)
def test_any_text_is_read_or_refused(text: str, quantity: Quantity) -> None:
    """No text makes the reader fail in any way but its own error."""
    for read in (parse, parse_range):
        with suppress(UnitError):
            read(text, quantity)


@pytest.mark.parametrize(
    ("text", "quantity", "value"),
    [
        ("2.5 Gbit/s", RATE, 2_500_000_000),
        ("100 Mbit/s", RATE, 100_000_000),
        ("16 KiB", SIZE, 16_384),
        ("2 GiB", SIZE, 2_147_483_648),
        ("107.5 kB", SIZE, 107_500),
        ("1.57 MB", SIZE, 1_570_000),
        ("105us", TIME, 105_000),
        ("2 min", TIME, 120_000_000_000),
        ("105 us", MICROSECONDS, 105),
        ("0.15 ns", COST, 150),
        ("7 us", COST, 7_000_000),
        ("512.6 MB/s", BYTE_RATE, 512_600_000),
        ("3 m", LENGTH, 3_000),
        ("0.1 %", RATIO, 1_000),
        ("50", COUNT, 50),
    ],
)
def test_the_units_mean_what_the_field_means(text: str, quantity: Quantity, value: int) -> None:
    """In kB a k is 1000, in KiB 1024, and a rate is in bits."""
    assert parse(text, quantity) == value


@pytest.mark.parametrize(
    ("text", "quantity", "message"),
    [
        ("2.5 Gbps", RATE, "unknown unit `Gbps`; did you mean `Gbit/s`?"),
        ("100 mbps", RATE, "unknown unit `mbps`; did you mean `Mbit/s`?"),
        ("1 GBIT/S", RATE, "unknown unit `GBIT/S`; did you mean `Gbit/s`?"),
        ("1 MBTI/S", RATE, "unknown unit `MBTI/S`; did you mean `Mbit/s`?"),
        ("16 K", SIZE, "unknown unit `K`; did you mean `KiB`?"),
        ("16 KB", SIZE, "unknown unit `KB`; did you mean `kB`?"),
        ("5 \N{MICRO SIGN}s", TIME, "unknown unit `\N{MICRO SIGN}s`; did you mean `us`?"),
        ("10 sec", TIME, "unknown unit `sec`; did you mean `s`?"),
        *((f"10 {unit}", RATE, f"`{unit}` counts bytes; {IN_BITS}") for unit in BYTES.split()),
        ("1 Tbit/s", RATE, f"unknown unit `Tbit/s`; {IN_BITS}"),
        *((f"10 {unit}", BYTE_RATE, f"`{unit}` counts bits; {IN_BYTES}") for unit in BITS.split()),
        *((f"10 {unit}", SIZE, f"`{unit}` counts bits; {IN_SIZES}") for unit in BITS.split()),
        ("1 TiB", SIZE, f"unknown unit `TiB`; {IN_SIZES}"),
        ("16 kb", SIZE, "unknown unit `kb`; did you mean `kB`?"),
        (
            "10 Mbit/s",
            BYTE_RATE,
            "`Mbit/s` is a unit of rate; a rate of bytes is written in B/s, kB/s, MB/s, GB/s",
        ),
        ("10 MBps", BYTE_RATE, "unknown unit `MBps`; did you mean `MB/s`?"),
        ("10 ps", SIZE, "`ps` is a unit of time; a size is written in B, kB, KiB, MB, MiB, GB, GiB, TB"),
        ("10 ms", RATE, "`ms` is a unit of time; a rate is written in bit/s, kbit/s, Mbit/s, Gbit/s"),
        ("10", SIZE, "`10` has no unit; a size is written in B, kB, KiB, MB, MiB, GB, GiB, TB"),
        ("10 frames", COUNT, "`10 frames` has a unit; a count is a plain number"),
        ("1.5 B", SIZE, "`1.5 B` is not a whole number of B"),
        ("1.5", COUNT, "`1.5` is not a whole number"),
        ("-5 s", TIME, "`-5 s` is not a time; write for example `100 us`"),
        ("9999999999999 s", TIME, "`9999999999999 s` is too large"),
        ("fast", RATE, "`fast` is not a rate; write for example `2.5 Gbit/s`"),
    ],
)
def test_a_wrong_quantity_says_what_is_right(text: str, quantity: Quantity, message: str) -> None:
    """An error names the nearest right unit, or the units there are."""
    with pytest.raises(UnitError) as caught:
        parse(text, quantity)
    assert str(caught.value) == message


@pytest.mark.parametrize("text", ["1,5 ms", "1e3 ms", "1.5e-3 s", "1_000 ms", "0x10", "1,5"])
def test_a_number_of_elsewhere_is_no_unit(text: str) -> None:
    """What stands behind its first digits is told as that, not as a unit that somebody has misspelt."""
    for quantity in (TIME, COUNT):
        with pytest.raises(UnitError) as caught:
            parse(text, quantity)
        said = f"`{text}` is no number here: write digits and a point, as `1.5` or `1000`"
        assert str(caught.value) == said


@pytest.mark.parametrize(
    ("text", "quantity", "ends"),
    [
        ("2.30..2.38 Gbit/s", RATE, (2_300_000_000, 2_380_000_000)),
        ("900 Mbit/s..1.2 Gbit/s", RATE, (900_000_000, 1_200_000_000)),
        ("2.3.. Gbit/s", RATE, (2_300_000_000, None)),
        ("2.3 Gbit/s..", RATE, (2_300_000_000, None)),
        ("..2.3 Gbit/s", RATE, (None, 2_300_000_000)),
        ("..50", COUNT, (None, 50)),
        ("7000..35000", COUNT, (7_000, 35_000)),
        ("7000..", COUNT, (7_000, None)),
        ("0", COUNT, (0, 0)),
        ("5 .. 10 %", RATIO, (50_000, 100_000)),
    ],
)
def test_a_range_has_two_ends(text: str, quantity: Quantity, ends: tuple[int | None, int | None]) -> None:
    """Either end may be open, and the unit may stand once."""
    assert parse_range(text, quantity) == ends


@pytest.mark.parametrize(
    ("text", "quantity", "message"),
    [
        ("..", COUNT, "`..` is not a range"),
        ("1...5", COUNT, "`1...5` is not a range"),
        ("Gbit/s 1..5", RATE, "is not a range"),
        ("2..1 Gbit/s", RATE, "`2..1 Gbit/s` is empty: its low end is above its high end"),
        ("1..2", RATE, "`1` has no unit"),
        ("1..2 Gbps", RATE, "did you mean `Gbit/s`?"),
    ],
)
def test_a_wrong_range_says_what_is_right(text: str, quantity: Quantity, message: str) -> None:
    """A range that is none, is empty or has no unit is an error."""
    with pytest.raises(UnitError) as caught:
        parse_range(text, quantity)
    assert message in str(caught.value)


@pytest.mark.parametrize("quantity", QUANTITIES, ids=lambda quantity: f"{quantity.name} in {quantity.base}")
def test_a_text_without_end_is_no_quantity(quantity: Quantity) -> None:
    """It is refused by its length: a range of ten thousand blanks would take seconds to be found wrong."""
    for read in (parse, parse_range):
        with pytest.raises(UnitError, match=f"10008 characters are no {quantity.name} such as `"):
            read("1" + " " * 10_000 + "..1.1.1", quantity)


@pytest.mark.parametrize(
    ("value", "quantity", "text"),
    [
        (2_500_000_000, RATE, "2.5 Gbit/s"),
        (16_384, SIZE, "16 KiB"),
        (1_514, SIZE, "1514 B"),
        (107_500, SIZE, "107.5 kB"),
        (60_000_000_000, TIME, "60 s"),
        (0, TIME, "0 ns"),
        (50, COUNT, "50"),
        (5_000, RATIO, "0.5 %"),
        (10, RATIO, "10 ppm"),
    ],
)
def test_an_exact_value_prints_the_short_way(value: int, quantity: Quantity, text: str) -> None:
    """A figure prints as a person would have written it."""
    assert show(value, quantity) == text


@pytest.mark.parametrize(
    ("low", "high", "quantity", "text"),
    [
        (950_000_000, 1_250_000_000, RATE, "0.95..1.25 Gbit/s"),
        (None, 50, COUNT, "..50"),
        (1_000, None, COUNT, "1000.."),
        (0, 0, COUNT, "0"),
        (1, 16_384, SIZE, "1 B..16 KiB"),
    ],
)
def test_a_range_prints_its_unit_once(
    low: int | None, high: int | None, quantity: Quantity, text: str
) -> None:
    """Both ends print in the unit of the high one where that reads well."""
    assert show_range(low, high, quantity) == text


@pytest.mark.parametrize(
    ("value", "quantity", "text"),
    [
        (1_103_210_000.0, RATE, "1.10 Gbit/s"),
        (0.0, RATE, "0 bit/s"),
        (16_102, COUNT, "16 102"),
        (105_300, TIME, "105 us"),
        (512_600_000, BYTE_RATE, "513 MB/s"),
        (1_500, COST, "1.50 ns"),
        (23_456.7, MICROSECONDS, "23.5 ms"),
        (423_456, RATIO, "42.3 %"),
        (137_128, SIZE, "137 kB"),
        (60, SIZE, "60 B"),
    ],
)
def test_a_measured_value_prints_rounded(value: float, quantity: Quantity, text: str) -> None:
    """Three digits are enough for the eye; a count is never rounded."""
    assert rounded(value, quantity) == text


@pytest.mark.parametrize(("text", "value"), [("9.6 KiB", 9830), ("0.0001 B", 0), ("16 KiB", 16384)])
def test_an_estimate_is_rounded(text: str, value: int) -> None:
    """Nobody who estimates hits a whole number of bytes; units are as strict as ever."""
    assert parse_nearly(text, SIZE) == value
    for bad in ("9.6", "9.6 kbit", "1e9 B", "9" * 21 + " B"):
        with pytest.raises(UnitError):
            parse_nearly(bad, SIZE)
    with pytest.raises(UnitError, match="not a whole number"):
        parse_nearly("1.5", COUNT)
