"""Whether a site stands by itself: what a page loads must be in the same folder."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_LOADED: Final = re.compile(
    r"""<(?:script|img|iframe|source|video|audio|embed)\b[^>]*?\ssrc=["']?\s*(?P<src>(?:https?:)?//[^"'\s>]+)"""
    r"""|<link\b(?=[^>]*\brel=["']?(?:stylesheet|icon|preload|preconnect|dns-prefetch|modulepreload))"""
    r"""[^>]*?\shref=["']?(?P<href>(?:https?:)?//[^"'\s>]+)"""
    r"""|(?:@import\s+|url\()\s*["']?(?P<css>(?:https?:)?//[^"')\s]+)""",
    re.IGNORECASE,
)


def loaded_from_elsewhere(site: Path) -> Iterator[str]:
    """Each resource with an address of another host, with the file that loads it."""
    for path in sorted(site.rglob("*")):
        if path.suffix in (".html", ".css", ".svg"):
            for match in _LOADED.finditer(path.read_text(encoding="utf-8")):
                yield f"{path.relative_to(site)}: {match['src'] or match['href'] or match['css']}"
