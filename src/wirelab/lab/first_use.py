"""The lab of a run: the one that is built, and at first use the one that is at hand."""

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from wirelab.lab import origin
from wirelab.lab.recipe import BuildContext
from wirelab.lab.reporter import Reporter
from wirelab.lab.select import Lab, select


class _Teller(Reporter):
    """Hears all, and tells only what is worth a line."""

    def __init__(self, say: Callable[[str], object]) -> None:
        self._say = say

    def say(self, text: str) -> None:
        """Tell it."""
        self._say(text)


def select_or_take(
    kernel: Path | None = None,
    root: Path | None = None,
    series: str | None = None,
    *,
    say: Callable[[str], object],
    environ: Mapping[str, str] = os.environ,
) -> Lab:
    """The lab to use, as `select` has it; where none is built, the one at hand is taken first.

    ``say`` hears of that. Raises what `select` does, and what `Origin.take` does.
    """
    if None in (kernel, root):
        context = BuildContext.of(environ)
        if origin.is_lacking(context):
            origin.take_at_hand(replace(context, reporter=_Teller(say)))
    return select(kernel, root, series, environ=environ)
