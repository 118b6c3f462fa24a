"""Traces of mobile links: files with a line for each delivery opportunity, as mahimahi's mm-link has them."""

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Final

from wirelab.model.trace import Trace, written
from wirelab.model.yamlfile import display
from wirelab.units import BYTES_PER_MB

OFF: Final = "off"
"""No trace, where a scenario has one and a control takes it away."""
LARGEST_MB: Final = 16
LONGEST_MS: Final = 3_600_000
MOST_AT_ONCE: Final = 2000
"""In one millisecond: 24 Gbit/s, and no port is faster than 25."""

_LINE_END: Final = re.compile("\r\n|\r|\n")
"""As editors count lines: str.splitlines() knows more ends of them."""
_NUMBER: Final = re.compile(r"\d{1,12}", re.ASCII)
_COMMENT: Final = "#"


@dataclass(frozen=True, slots=True)
class Traces:
    """The traces that a scenario names: files, counted from the folder in which it is itself.

    Where a stranger names them, ``is_confined`` holds them to that folder: what is wrong with a file is said
    with its own words, and a stranger is not to read those of others.
    """

    folder: Path = field(default_factory=Path)
    is_confined: bool = False

    def of(self, name: str) -> Trace:
        """The trace that is called so. Raises ValueError that names its file, and the line of it."""
        path = self.folder / name
        if self.is_confined and not path.resolve().is_relative_to(self.folder.resolve()):
            raise ValueError("name a trace of the scenario's own folder")
        try:
            state = path.stat()
            return _read(str(path), name, (state.st_size, state.st_mtime_ns))
        except OSError as error:
            raise ValueError(f"{display(path)}: {_reason(error)}") from None


def _reason(error: OSError) -> str:
    missing = isinstance(error, FileNotFoundError | NotADirectoryError)
    return "there is no such file" if missing else f"cannot be read: {error.strerror or error}"


@functools.lru_cache(maxsize=16)
def _read(path: str, name: str, _state: tuple[int, int]) -> Trace:
    file = display(Path(path))
    # Only a file: a pipe would be waited for.
    if not Path(path).is_file():
        raise ValueError(f"{file}: is no file")
    with Path(path).open("rb") as opened:
        raw = opened.read(LARGEST_MB * BYTES_PER_MB + 1)
    if len(raw) > LARGEST_MB * BYTES_PER_MB:
        raise ValueError(f"{file}: is larger than the limit of {LARGEST_MB} MB")
    return Trace(name, written(_numbers(raw.decode("utf-8-sig", errors="replace"), file)))


def _numbers(text: str, file: str) -> list[int]:
    """How many opportunities each millisecond has. Raises ValueError that names file and line."""
    read = list(_instants(text, file))
    if not read:
        raise ValueError(f"{file}: is empty: a trace has a line for each opportunity, the millisecond of it")
    for (_, before_ms), (line, ms) in pairwise(read):
        if ms < before_ms:
            raise ValueError(f"{file}:{line}: goes backwards: {ms} ms comes after {before_ms} ms")
    line, last_ms = read[-1]
    if not last_ms:
        raise ValueError(f"{file}:{line}: ends at 0 ms: the last line says how long it takes")
    numbers = [0] * (last_ms + 1)
    for line, ms in read:
        numbers[ms] += 1
        if numbers[ms] > MOST_AT_ONCE:
            raise ValueError(f"{file}:{line}: is beyond the limit of {MOST_AT_ONCE} in one millisecond")
    return numbers


def _instants(text: str, file: str) -> Iterator[tuple[int, int]]:
    """The number of each line, and the millisecond that it has."""
    for line, words in enumerate(_LINE_END.split(text), start=1):
        word = words.strip()
        if not word or word.startswith(_COMMENT):
            continue
        if not _NUMBER.fullmatch(word):
            shown = "".join(char if char.isprintable() else "?" for char in word[:40])
            raise ValueError(f"{file}:{line}: `{shown}` is no whole number of milliseconds")
        if int(word) > LONGEST_MS:
            raise ValueError(f"{file}:{line}: {word} ms is longer than the limit of {LONGEST_MS} ms, an hour")
        yield line, int(word)
