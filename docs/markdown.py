"""Pieces of Markdown."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


_WIDE: Final = 4
"""A table of more columns does not fit a phone: a row becomes a list there, and each cell needs its title."""


def table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are Markdown already, without the columns in which every cell is empty."""
    cells = [[_cell(text) for text in row] for row in rows]
    used = [at for at, _ in enumerate(titles) if any(row[at] for row in cells)]
    wide = len(used) > _WIDE
    lines = [
        [titles[at] for at in used],
        ["---" for _ in used],
        *([_titled(row[at], titles[at]) if wide else row[at] for at in used] for row in cells),
    ]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _titled(cell: str, title: str) -> str:
    return f'{cell} {{ data-title="{title}" }}' if cell else ""


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def code(text: str) -> str:
    """Text as code; nothing for nothing."""
    return f"`{text}`" if text else ""


def words(text: str) -> str:
    """Text for people, none of which is markup, but for what stands between backticks."""
    parts = re.split(r"(`[^`]+`)", " ".join(text.split()))
    return "".join(
        part if number % 2 else re.sub(r"([\\*_\[\]#])", r"\\\1", html.escape(part, quote=False))
        for number, part in enumerate(parts)
    )


def anchor(text: str) -> str:
    """The id that a heading of these words gets."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
