"""Whether a site stands by itself: what a page loads or leads to must be in the same folder."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote, urlsplit

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


class _Links(HTMLParser):
    """The addresses in a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002 - of any
        """What an element leads to, or loads."""
        self.found += [value for name, value in attrs if name in ("href", "src") and value]


def dead_links(site: Path) -> Iterator[str]:
    """Each link to a file that is not in the site, with the page that has it."""
    for path in sorted(site.rglob("*.html")):
        for link in dict.fromkeys(_Links(path.read_text(encoding="utf-8")).found):
            address = urlsplit(link)
            if address.scheme or address.netloc or not address.path:
                continue
            # An address from the root is of wherever the site is published.
            base = site if address.path.startswith("/") else path.parent
            if not (base / unquote(address.path).lstrip("/")).exists():
                yield f"{path.relative_to(site)}: {link}"


def loaded_from_elsewhere(site: Path) -> Iterator[str]:
    """Each resource with an address of another host, with the file that loads it."""
    for path in sorted(site.rglob("*")):
        if path.suffix in (".html", ".css", ".svg"):
            for match in _LOADED.finditer(path.read_text(encoding="utf-8")):
                yield f"{path.relative_to(site)}: {match['src'] or match['href'] or match['css']}"
