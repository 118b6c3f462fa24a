"""The kernel driver as text: its files call each other in one direction."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DRIVER = Path(__file__).resolve().parents[2] / "kernel" / "driver"
FILES = re.findall(r"\b(\w+)\.o\b", (DRIVER / "Makefile").read_text().partition("etherport-y")[2])
HEADERS = (
    "bus_cpu.h",
    "capture.h",
    "condition.h",
    "control.h",
    "etherport.h",
    "medium.h",
    "memory.h",
    "moderation.h",
    "moments.h",
    "prompt.h",
    "record.h",
    "recorder.h",
    "role.h",
)
# A function or table that others may use begins a line and is not static.
DEFINED = re.compile(r"^(?!static|#|\s).*?\b(etherport_\w+)(?:\(| = \{)", re.MULTILINE)
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)


def source(name: str) -> str:
    """A file of the driver without its comments."""
    return COMMENT.sub("", (DRIVER / f"{name}.c").read_text())


def test_the_makefile_has_every_file() -> None:
    """Each once."""
    assert sorted(FILES) == sorted(path.stem for path in DRIVER.glob("*.c"))


@pytest.mark.parametrize("name", FILES)
def test_a_file_uses_only_what_stands_before_it(name: str) -> None:
    """What goes the other way is a function that main.c hands in; kernel/driver/README.md names both."""
    text = source(name)
    later = {
        symbol: after for after in FILES[FILES.index(name) + 1 :] for symbol in DEFINED.findall(source(after))
    }
    assert {symbol: after for symbol, after in later.items() if re.search(rf"\b{symbol}\b", text)} == {}


def test_each_function_is_declared_for_its_file() -> None:
    """A header lists its files in the order of the Makefile, below each what it defines."""
    declared: dict[str, str] = {}
    for header in HEADERS:
        text = (DRIVER / header).read_text()
        _, *sections = re.split(r"^/\* (\w+\.c(?:, \w+\.c)*) \*/$", text, flags=re.MULTILINE)
        listed = [name.removesuffix(".c") for names in sections[::2] for name in names.split(", ")]
        assert listed == [name for name in FILES if name in listed]
        declared |= dict(zip(sections[::2], sections[1::2], strict=True))
    assert {name for names in declared for name in names.split(", ")} == {
        f"{name}.c" for name in FILES if name != "main"
    }
    for names, text in declared.items():
        defined = {symbol for name in names.split(", ") for symbol in DEFINED.findall(source(name[:-2]))}
        assert defined == set(re.findall(r"\b(etherport_\w+)(?=\(|;)", text))
