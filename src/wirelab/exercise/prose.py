"""The texts of an exercise as HTML."""

from collections.abc import Mapping
from functools import cache

from markdown_it import MarkdownIt

from wirelab.model.fill import filled_text


def prose(text: str, figures: Mapping[str, str]) -> str:
    """Markdown with a student's figures; HTML in it is text, and it has no pictures."""
    # A drawing may be wider than a phone: whoever has a keyboard alone must get into it to scroll it.
    return str(_markdown().render(filled_text(text, figures))).replace("<pre>", '<pre tabindex="0">')


@cache
def _markdown() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
