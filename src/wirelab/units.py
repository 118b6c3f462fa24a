"""Quantities with units: text to exact base units and back. The only place with 1000, 1024 and 8.

Base units are bit/s, bytes, nanoseconds (microseconds for what hardware counts in them), millimetres
and parts per million. Everywhere else a number is in base units and its name says so.
"""

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from typing import Final

BITS_PER_BYTE: Final = 8
BYTES_PER_KIB: Final = 1024
BPS_PER_MBPS: Final = 1_000_000
MM_PER_M: Final = 1_000
NS_PER_US: Final = 1_000
NS_PER_MS: Final = 1_000_000
US_PER_MS: Final = 1_000
NS_PER_S: Final = 1_000_000_000
PS_PER_NS: Final = 1_000
PS_PER_S: Final = 1_000_000_000_000
PPM: Final = 1_000_000

_LARGEST: Final = 2**63 - 1
_LONGEST: Final = 100
_PLACES: Final = 9  # as many as a person reads behind the point
_NUMBER: Final = r"[0-9]{1,20}(?:\.[0-9]{1,20})?"
_UNIT: Final = r"[^\s.0-9][^.0-9]*?"
_QUANTITY: Final = re.compile(rf"({_NUMBER})\s*([^0-9.\s].*)?", re.ASCII)
_RANGE: Final = re.compile(rf"({_NUMBER})?\s*({_UNIT})?\s*\.\.\s*({_NUMBER})?\s*({_UNIT})?", re.ASCII)
_BYTES: Final = re.compile(r"[kKmMgGtT]?i?(?:B|[Bb]ytes?)(?:/s|ps)?")
# Of ``kb`` nobody knows which it is.
_BITS: Final = re.compile(r"[kKmMgGtT]?(?:(?i:bits?)(?:/[sS]|ps)?|bps)|[KMGT]b(?:/s)?")


class UnitError(ValueError):
    """Text that is not a quantity of the kind that is needed; the message says what would be."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A kind of quantity, the words for its units and what they are worth in base units.

    ``mistakes`` maps what people write instead, in lower case, to the unit they mean; ``rounding``
    lists the units a rounded figure may be printed in; below ``plain_below`` an exact one prints in
    ``base`` unless it is a whole number of KiB.
    """

    name: str
    base: str
    units: Mapping[str, Fraction]
    example: str
    example_range: str
    mistakes: Mapping[str, str] = field(default_factory=dict)
    rounding: tuple[str, ...] = ()
    plain_below: int = 0

    @property
    def suffix(self) -> str:
        """What the name of a number in base units ends with: ``_bps``, ``_ns``, nothing for a count."""
        return {"": "", "bit/s": "_bps", "B": "_bytes", "B/s": "_bytes_per_s"}.get(self.base, f"_{self.base}")

    @property
    def words(self) -> str:
        """The units, as a message lists them."""
        return ", ".join(self.units)


def _sizes(**units: int) -> dict[str, Fraction]:
    return {unit: Fraction(size) for unit, size in units.items()}


def _per_second(unit: str) -> dict[str, Fraction]:
    return {f"{prefix}{unit}/s": Fraction(1000**power) for power, prefix in enumerate(("", "k", "M", "G"))}


def _mistakes(**words: str) -> dict[str, str]:
    return {wrong: right for right, wrongs in words.items() for wrong in wrongs.split()}


RATE: Final = Quantity(
    name="rate",
    base="bit/s",
    units=_per_second("bit"),
    example="2.5 Gbit/s",
    example_range="2.30..2.38 Gbit/s",
    mistakes={
        f"{prefix}{wrong}".lower(): f"{prefix}bit/s"
        for prefix in ("", "k", "M", "G")
        for wrong in ("bps", "b/s", "bit", "bits", "bits/s", "b", "")
        if prefix or wrong
    },
    rounding=("bit/s", "kbit/s", "Mbit/s", "Gbit/s"),
)
BYTE_RATE: Final = Quantity(
    name="rate of bytes",
    base="B/s",
    units=_per_second("B"),
    example="512.6 MB/s",
    example_range="500..520 MB/s",
    mistakes={"bps": "B/s", "kbps": "kB/s", "mbps": "MB/s", "gbps": "GB/s"},
    rounding=("B/s", "kB/s", "MB/s", "GB/s"),
)
"""How fast storage is: its makers count bytes."""
SIZE: Final = Quantity(
    name="size",
    base="B",
    units=_sizes(B=1, kB=1000, KiB=1024, MB=1000**2, MiB=1024**2, GB=1000**3, GiB=1024**3, TB=1000**4),
    example="16 KiB",
    example_range="0..16 KiB",
    mistakes=_mistakes(B="byte bytes octets", KiB="k ki kbyte kbytes", MiB="m mi mbyte mbytes"),
    rounding=("B", "kB", "MB"),
    plain_below=10_000,
)
TIME: Final = Quantity(
    name="time",
    base="ns",
    units=_sizes(ns=1, us=NS_PER_US, ms=NS_PER_MS, s=NS_PER_S, min=60 * NS_PER_S),
    example="100 us",
    example_range="100..200 us",
    mistakes={
        "\N{MICRO SIGN}s".casefold(): "us",
        **_mistakes(us="usec usecs u", ms="msec msecs", ns="nsec nsecs"),
        **_mistakes(s="sec secs second seconds", min="m mins minute minutes"),
    },
    rounding=("ns", "us", "ms", "s"),
)
MICROSECONDS: Final = replace(
    TIME,
    base="us",
    units={word: size / NS_PER_US for word, size in TIME.units.items()},
    rounding=("us", "ms", "s"),
)
MILLISECONDS: Final = replace(
    TIME,
    base="ms",
    units={word: size / NS_PER_MS for word, size in TIME.units.items()},
    example="2500 ms",
    example_range="1..3 s",
    rounding=("ms", "s"),
)
COST: Final = replace(
    TIME,
    base="ps",
    units=_sizes(ps=1, ns=PS_PER_NS, us=PS_PER_NS * NS_PER_US, ms=PS_PER_NS * NS_PER_MS, s=PS_PER_S),
    example="7 us",
    example_range="5..10 us",
    rounding=("ps", "ns", "us", "ms"),
)
"""What a frame, or a byte of it, costs: bytes take less than a nanosecond."""
LENGTH: Final = Quantity(
    name="length",
    base="mm",
    units=_sizes(mm=1, cm=10, m=MM_PER_M, km=1000 * MM_PER_M),
    example="3 m",
    example_range="1..3 m",
    mistakes=_mistakes(m="metre metres meter meters"),
    rounding=("mm", "m", "km"),
)
RATIO: Final = Quantity(
    name="ratio",
    base="ppm",
    units={"%": Fraction(PPM, 100), "ppm": Fraction(1)},
    example="0.1 %",
    example_range="0..10 %",
    mistakes={"percent": "%", "pct": "%", "per cent": "%"},
    rounding=("%",),
)
COUNT: Final = Quantity(name="count", base="", units={}, example="50", example_range="..50")

_IN_BITS_AND_SECONDS: Final[Mapping[str, tuple[Fraction, tuple[int, int, int]]]] = {
    "bit/s": (Fraction(1), (1, -1, 0)),
    "B": (Fraction(BITS_PER_BYTE), (1, 0, 0)),
    "B/s": (Fraction(BITS_PER_BYTE), (1, -1, 0)),
    "ps": (Fraction(1, PS_PER_S), (0, 1, 0)),
    "ns": (Fraction(1, NS_PER_S), (0, 1, 0)),
    "us": (Fraction(NS_PER_US, NS_PER_S), (0, 1, 0)),
    "ms": (Fraction(NS_PER_MS, NS_PER_S), (0, 1, 0)),
    "mm": (Fraction(1, MM_PER_M), (0, 0, 1)),
    "ppm": (Fraction(1, PPM), (0, 0, 0)),
    "": (Fraction(1), (0, 0, 0)),
}
"""A base unit in bits, seconds and metres, and its powers of these."""
QUANTITIES: Final = tuple(value for value in globals().values() if isinstance(value, Quantity))


def parse(text: str, quantity: Quantity) -> int:
    """``text`` such as ``16 KiB`` in base units, exactly.

    Raises UnitError if the text is no number, its unit is missing or not one of the quantity's, or
    the value is not a whole number of base units.
    """
    match = _QUANTITY.fullmatch(_stripped(text, quantity))
    if match is None:
        raise UnitError(f"`{text}` is not a {quantity.name}; write for example `{quantity.example}`")
    return _value(match[1], match[2] or "", quantity)


def parse_nearly(text: str, quantity: Quantity) -> int:
    """``text`` as ``parse`` reads it, rounded, for estimates; a plain count must be whole all the same."""
    match = _QUANTITY.fullmatch(_stripped(text, quantity))
    unit = (match[2] or "").strip() if match else ""
    if match is None or unit not in quantity.units:
        return parse(text, quantity)
    whole = round(Fraction(match[1]) * quantity.units[unit])
    if whole > _LARGEST:
        raise UnitError(f"`{text}` is too large")
    return whole


def parse_range(text: str, quantity: Quantity) -> tuple[int | None, int | None]:
    """The ends of a range in base units, None where it is open.

    ``2.30..2.38 Gbit/s``, ``900 Mbit/s..1.2 Gbit/s``, ``..50``, ``7000..``, or one value for both ends.
    Raises UnitError as ``parse`` does, and if the low end is above the high one.
    """
    stripped = _stripped(text, quantity)
    if not any(mark in stripped for mark in ("..", "-", "<", ">")):
        value = parse(stripped, quantity)
        return value, value
    match = _RANGE.fullmatch(stripped)
    if match is None or not (match[1] or match[3]) or (match[2] and not match[1]):
        msg = f"`{text}` is not a range; write low..high, ..high or low.., such as `{quantity.example_range}`"
        raise UnitError(msg)
    low_unit, high_unit = match[2] or match[4] or "", match[4] or match[2] or ""
    low = _value(match[1], low_unit, quantity) if match[1] else None
    high = _value(match[3], high_unit, quantity) if match[3] else None
    if low is not None and high is not None and low > high:
        raise UnitError(f"`{text}` is empty: its low end is above its high end")
    return low, high


def show(value: int, quantity: Quantity) -> str:
    """``value`` (base units, not negative) as short text that ``parse`` reads back to the same value."""
    if not quantity.units:
        return str(value)
    if value == 0 and quantity.rounding:
        return f"0 {quantity.rounding[0]}"
    if value == 0 or (value < quantity.plain_below and value % BYTES_PER_KIB):
        return f"{value} {quantity.base}"
    least = {"%": Fraction(1, 10)}  # nobody says 5000 ppm for half a percent
    written = {
        unit: _decimal(value / size)
        for unit, size in quantity.units.items()
        if unit != "min" and value >= size * least.get(unit, 1) and value * 10**_PLACES % size == 0
    }
    unit = min(written, key=lambda word: (len(written[word].replace(".", "")), -quantity.units[word]))
    return f"{written[unit]} {unit}"


def show_range(low: int | None, high: int | None, quantity: Quantity) -> str:
    """A range as text that ``parse_range`` reads back to the same ends.

    Raises ValueError if both ends are open.
    """
    if low is None and high is None:
        raise ValueError("a range has at least one end")
    if low is not None and low == high:
        return show(low, quantity)
    low_text, high_text = ("" if end is None else show(end, quantity) for end in (low, high))
    unit = high_text.partition(" ")[2]
    if low is not None and unit:
        in_same_unit = low / quantity.units[unit]
        if (in_same_unit * 1000).denominator == 1:
            low_text = _decimal(in_same_unit)
    return f"{low_text}..{high_text}"


def dimension(quantity: Quantity) -> tuple[int, int, int]:
    """The powers of bits, seconds and metres that a quantity has: 1, -1, 0 for a rate."""
    return _IN_BITS_AND_SECONDS[quantity.base][1]


def coherent(value: float, quantity: Quantity) -> float:
    """``value`` (base units) in bits, seconds and metres, in which a rate times a time is a size."""
    return value * float(_IN_BITS_AND_SECONDS[quantity.base][0])


def from_coherent(value: float, quantity: Quantity) -> float:
    """``value`` in bits, seconds and metres, in the base unit of ``quantity``."""
    return value / float(_IN_BITS_AND_SECONDS[quantity.base][0])


def unit_for(value: float, quantity: Quantity) -> str:
    """The unit that ``rounded`` prints ``value`` (base units) in; empty for a count."""
    fitting = (word for word in reversed(quantity.rounding) if abs(value) >= quantity.units[word])
    return next(fitting, quantity.rounding[0] if quantity.rounding else "")


def rounded(value: float, quantity: Quantity, digits: int = 3) -> str:
    """A measured value for the eye: ``1.10 Gbit/s``, ``16 102``.

    ``digits`` (at least 1) is the number of significant digits; a count prints whole.
    """
    if not quantity.units:
        return f"{Decimal(value).quantize(Decimal(1), ROUND_HALF_UP):,}".replace(",", " ")
    size = quantity.units[unit := unit_for(value, quantity)]
    number = Decimal(value) * size.denominator / size.numerator
    decimals = max(digits - 1 - max(number.adjusted(), 0), 0) if number else 0
    return f"{number.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)} {unit}"


def _stripped(text: str, quantity: Quantity) -> str:
    if len(text) > _LONGEST:
        raise UnitError(f"{len(text)} characters are no {quantity.name} such as `{quantity.example}`")
    return text.strip()


def _value(number: str, unit: str, quantity: Quantity) -> int:
    unit = unit.strip()
    written = f"{number} {unit}".strip()
    if re.match(r"[,_eExX][-+]?[0-9]", unit):
        raise UnitError(f"`{number}{unit}` is no number here: write digits and a point, as `1.5` or `1000`")
    if unit and not quantity.units:
        raise UnitError(f"`{written}` has a unit; a {quantity.name} is a plain number")
    if quantity.units and not unit:
        raise UnitError(f"`{written}` has no unit; a {quantity.name} is written in {quantity.words}")
    if unit and unit not in quantity.units:
        raise UnitError(_wrong_unit(unit, quantity))
    exact = Fraction(number) * quantity.units.get(unit, 1)
    if exact.denominator != 1:
        raise UnitError(f"`{written}` is not a whole number{quantity.base and f' of {quantity.base}'}")
    if exact > _LARGEST:
        raise UnitError(f"`{written}` is too large")
    return exact.numerator


def _wrong_unit(unit: str, quantity: Quantity) -> str:
    written = f"a {quantity.name} is written in {quantity.words}"
    of, others = (_BYTES, "bytes") if quantity is RATE else (_BITS, "bits")
    if quantity in (RATE, BYTE_RATE, SIZE) and of.fullmatch(unit) and unit not in RATE.units:
        return f"`{unit}` counts {others}; {written}"
    known = {one.casefold(): one for one in reversed(list(quantity.units))}
    folded = unit.casefold()
    guess = known.get(folded, quantity.mistakes.get(folded))
    if guess is None:
        for other in QUANTITIES:
            if unit in other.units and other.name != quantity.name:
                return f"`{unit}` is a unit of {other.name}; {written}"
        # With another prefix it is another multiple: T is none of a rate, Ti none of a size.
        near = [one for one in known if one[0] == folded[0] and ("i" in one) == ("i" in folded)]
        guess = next((known[close] for close in difflib.get_close_matches(folded, near, n=1)), None)
    return f"unknown unit `{unit}`; " + (f"did you mean `{guess}`?" if guess else written)


def _decimal(value: Fraction) -> str:
    return f"{Decimal((value * 10**_PLACES).numerator).scaleb(-_PLACES):f}".rstrip("0").rstrip(".")
