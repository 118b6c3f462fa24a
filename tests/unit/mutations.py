"""Files that somebody mistyped, cut short or damaged: each mutation drawn from a seed."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING, Final

from examples import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PATTERNS: Final = (
    *("scenarios/*.yaml", "scenarios/truth/*.yaml", "topologies/*.yaml", "parts/*.yaml"),
    *("exercises/*/*.yaml", "measurements.yaml", "tests/bad-input/*/*.yaml", "tests/golden/*.yaml"),
)
FILES: Final = tuple(sorted(path for pattern in PATTERNS for path in ROOT.glob(pattern)))
LARGEST_BYTES: Final = 1 << 16

VALUES: Final = (
    *(ROOT / "tests/unit/data/odd-values.txt").read_text(encoding="utf-8").splitlines(),
    *("", "x" * 300, "9" * 300, "1" + "0" * 40 + " B", "a." * 100, "[" * 40, "{a: " * 40, " " * 300 + "x"),
)
CHARACTERS: Final = (
    "\0\a\b\t\n\r\x1b\x7f\x85\xa0\xad\u0300\u0661\u200b\u200f\u2028\u202e\ud7ff\ue000\ufeff\ufffe\U0001f600"
    "éßıſµ\"'#%&*,-.:<>?@[\\]^`{|}~!=0aA"
)

_WORD: Final = re.compile(rb"[\w./%-]+")
_VALUE: Final = re.compile(rb"(?<=: )[^,{}\[\]\n#]+|\[[^\]\n]*\]|\{[^{}\n]*\}")
_KEY: Final = re.compile(rb"[\w.-]+(?=:)")


def mutated(seed: int, most: int = 3) -> tuple[Path, bytes]:
    """A file of the catalogue with one to ``most`` mutations: where it comes from, and what it says now."""
    rng = random.Random(seed)  # noqa: S311 - nobody's secret
    path = rng.choice(FILES)
    raw = path.read_bytes()
    for _ in range(rng.randint(1, most)):
        raw = rng.choice(_MUTATIONS)(raw, rng)[:LARGEST_BYTES]
    return path, raw


def _flip_bits(raw: bytes, rng: random.Random) -> bytes:
    damaged = bytearray(raw)
    for _ in range(rng.choice((1, 1, 1, 8))):
        if damaged:
            damaged[rng.randrange(len(damaged))] ^= 1 << rng.randrange(8)
    return bytes(damaged)


def _cut(raw: bytes, rng: random.Random) -> bytes:
    begin = rng.randint(0, len(raw))
    return raw[:begin] + raw[begin + rng.choice((1, 2, 10, len(raw))) :]


def _change_line(raw: bytes, rng: random.Random) -> bytes:
    """A line taken out, doubled, moved, indented or outdented."""
    lines = raw.splitlines(keepends=True) or [b""]
    index = rng.randrange(len(lines))
    line = lines.pop(index)
    choices: tuple[list[bytes], ...] = (
        [],
        [line, line],
        [b"  " + line],
        [line.lstrip()],
        [b"- " + line],
        [b"\t" + line],
    )
    if rng.random() < 1 / 6:
        lines.insert(rng.randint(0, len(lines)), line)
    else:
        lines[index:index] = rng.choice(choices)
    return b"".join(lines)


def _insert_character(raw: bytes, rng: random.Random) -> bytes:
    at = rng.randint(0, len(raw))
    return raw[:at] + rng.choice(CHARACTERS).encode() + raw[at:]


def _replace_value(raw: bytes, rng: random.Random) -> bytes:
    return _replace(raw, rng, _VALUE, lambda _: rng.choice(VALUES).encode())


def _replace_word(raw: bytes, rng: random.Random) -> bytes:
    return _replace(raw, rng, _WORD, lambda _: rng.choice(VALUES).encode())


def _swap_values(raw: bytes, rng: random.Random) -> bytes:
    """A value that stands elsewhere in the file, or in another one."""
    values = _VALUE.findall(rng.choice((raw, rng.choice(FILES).read_bytes())))
    return _replace(raw, rng, _VALUE, lambda value: rng.choice(values or [value]))


def _swap_keys(raw: bytes, rng: random.Random) -> bytes:
    """A key that stands elsewhere, which may make it one that stands twice."""
    keys = _KEY.findall(rng.choice((raw, raw, rng.choice(FILES).read_bytes())))
    return _replace(raw, rng, _KEY, lambda key: rng.choice(keys or [key]))


def _change_key(raw: bytes, rng: random.Random) -> bytes:
    """A key misspelt, empty or no word."""
    return _replace(
        raw, rng, _KEY, lambda key: rng.choice((key[1:], key * 2, b"", b"[a]", b"{}", b"~", b"? " + key))
    )


def _splice(raw: bytes, rng: random.Random) -> bytes:
    """The beginning of one file and the end of another."""
    other = rng.choice(FILES).read_bytes()
    return raw[: rng.randint(0, len(raw))] + other[rng.randint(0, len(other)) :]


def _repeat(raw: bytes, rng: random.Random) -> bytes:
    """A line a hundred times, as a list or a mapping that never ends."""
    lines = raw.splitlines(keepends=True) or [b""]
    index = rng.randrange(len(lines))
    return b"".join([*lines[:index], *[lines[index]] * 100, *lines[index + 1 :]])


def _replace(
    raw: bytes, rng: random.Random, pattern: re.Pattern[bytes], other: Callable[[bytes], bytes]
) -> bytes:
    matches = tuple(pattern.finditer(raw))
    if not matches:
        return raw
    match = rng.choice(matches)
    return raw[: match.start()] + other(match[0]) + raw[match.end() :]


_MUTATIONS: Final = (
    _flip_bits,
    _cut,
    _change_line,
    _insert_character,
    _replace_value,
    _replace_value,
    _replace_word,
    _swap_values,
    _swap_values,
    _swap_keys,
    _change_key,
    _splice,
    _repeat,
)
