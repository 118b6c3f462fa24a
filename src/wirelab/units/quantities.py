"""What is measured, the words for its units and what they are worth. The only place with 1000, 1024 and 8.

Base units are bit/s, bytes, nanoseconds (microseconds for what hardware counts in them), millimetres
and parts per million. Everywhere else a number is in base units and its name says so.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Final

BITS_PER_BYTE: Final = 8
BYTES_PER_KIB: Final = 1024
BYTES_PER_MB: Final = 1_000_000
BPS_PER_MBPS: Final = 1_000_000
MM_PER_M: Final = 1_000
NS_PER_US: Final = 1_000
NS_PER_MS: Final = 1_000_000
US_PER_MS: Final = 1_000
NS_PER_S: Final = 1_000_000_000
PS_PER_NS: Final = 1_000
PS_PER_S: Final = 1_000_000_000_000
PPM: Final = 1_000_000


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


def dimension(quantity: Quantity) -> tuple[int, int, int]:
    """The powers of bits, seconds and metres that a quantity has: 1, -1, 0 for a rate."""
    return _IN_BITS_AND_SECONDS[quantity.base][1]


def coherent(value: float, quantity: Quantity) -> float:
    """``value`` (base units) in bits, seconds and metres, in which a rate times a time is a size."""
    return value * float(_IN_BITS_AND_SECONDS[quantity.base][0])


def from_coherent(value: float, quantity: Quantity) -> float:
    """``value`` in bits, seconds and metres, in the base unit of ``quantity``."""
    return value / float(_IN_BITS_AND_SECONDS[quantity.base][0])
