"""Messages in a page: what stands between backticks, as in a terminal, is code there."""

import re
from typing import Final

from markupsafe import Markup, escape

_TICKED: Final = re.compile(r"`([^`\n]+)`")


def coded(text: str) -> Markup:
    """A text as HTML, escaped, with each `word` as ``code``."""
    return Markup(_TICKED.sub(r"<code>\1</code>", str(escape(text))))  # noqa: S704 - it is escaped before
