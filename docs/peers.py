"""The page of the scripts of others, made of the runs that are kept in ``docs/peers.json``.

    make test-peers ARGS='--keep --packetdrill FILE'

runs them all and keeps what became of each. It takes more than an hour, so that not every site does it; with
``--script 'a*'`` it is done in parts, and a suite is on the page when all of it was run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from docs.commands import DOCS
from docs.markdown import code, table, words
from tests.peers import exceptions, kept
from tests.peers.case import OUTCOMES, PASSED

if TYPE_CHECKING:
    from collections.abc import Iterator

TITLES: Final = {
    "mininet": "Mininet 2.3.0",
    "mininet-examples": "Mininet 2.3.0, its examples",
    "packetdrill": "packetdrill, from the kernel's own tests",
    "selftests-net": "the kernel's own tests of its network",
}


def page() -> tuple[str, str]:
    """The page, as (address in the site, Markdown)."""
    runs = {suite: run for suite, run in kept.runs().items() if run.is_whole}
    parts = [
        (DOCS / "introductions" / "peers.md").read_text(encoding="utf-8"),
        table(
            ("suite", *OUTCOMES, "of", "kernel", "measured"),
            [(TITLES[suite], *_counts(runs[suite]), runs[suite].kernel, runs[suite].day) for suite in runs],
        ),
        "",
        *(line for suite in runs for line in _exceptions(suite, runs[suite])),
    ]
    return "peers.md", "\n".join(parts) + "\n"


def _counts(run: kept.Run) -> Iterator[str]:
    """How many of which outcome, nothing for none, and how many in all."""
    for what in OUTCOMES:
        count = sum(one == what for one in run.became.values())
        yield str(count or "")
    yield str(len(run.became))


def _exceptions(suite: str, run: kept.Run) -> Iterator[str]:
    listed = exceptions.of(suite)
    rows = [
        (code(name), what, words(next(one.why for one in listed if one.covers(name))))
        for name, what in run.became.items()
        if what != PASSED
    ]
    if rows:
        yield f"## {TITLES[suite]}\n"
        yield table(("script", "is", "why"), rows)
        yield ""
