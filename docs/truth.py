"""The page of the table of truth, made of the table that is kept in ``docs/truth.json``.

    PYTHONPATH=src:. python -m docs.truth

runs every row and keeps the table anew. It takes half an hour, so that not every site does it.
"""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Final

from docs import grid
from docs.commands import DOCS, ROOT
from docs.markdown import code, table, words
from wirelab.model.catalogue import INDEPENDENT
from wirelab.model.yamlfile import read
from wirelab.report.tables import shown
from wirelab.report.truth import differences, misses, off, published, summary, what
from wirelab.report.truth_chart import truth_svg
from wirelab.runner.truth import Table, parse_table

if TYPE_CHECKING:
    from collections.abc import Iterator

STORED: Final = DOCS / "truth.json"

_LEGEND: Final = "grey: within 25 %; an arrow: more than four times off"


def page() -> tuple[str, str]:
    """The page, as (address in the site, Markdown)."""
    kept = parse_table(STORED.read_text(encoding="utf-8"))
    parts = [
        (DOCS / "introductions" / "truth.md").read_text(encoding="utf-8"),
        *(f"- {words(line)}" for line in summary(kept)),
        "",
        *_part(kept, "Predicted", fitted=False),
        *grid.part(),
        *_part(kept, "Fitted", fitted=True),
        "## Misses\n",
        "Figures that are off by more than 25 %.\n",
        *(f"- **{words(name)}**: {words(text)}" for name, text in misses(kept)),
        "",
        "## What the lab cannot imitate\n",
        *(f"- **{words(name)}**: {words(text)}" for name, text in differences(kept)),
        "",
        "## Sources\n",
        "The published figures, with their set-ups, are in `truth.yaml` and `measurements.yaml`.\n",
        *_sources(),
    ]
    return "truth.md", "\n".join(parts) + "\n"


def _part(kept: Table, title: str, *, fitted: bool) -> Iterator[str]:
    yield f"## {title}\n"
    picture = truth_svg(kept, fitted=fitted)
    keys = "".join(map(_key, ("goodput", "retransmits", "other")))
    caption = f"<figcaption><b>{title}</b>{keys}<small>{_LEGEND}</small></figcaption>"
    yield f'<div class="charts"><figure>{caption}<div class="narrow">{picture}</div></figure></div>\n'
    lab = title.lower()
    rows = [
        (
            code(row.name) if figure is figures[0] else "",
            what(figure),
            *map(
                _whole, (published(figure), shown(figure.of, figure.measured), off(figure.of, figure.error))
            ),
            row.grade,
        )
        for row in kept.rows
        if (figures := [figure for figure in row.figures if (figure.fitted is not None) == fitted])
        for figure in figures
    ]
    yield table(("row", "figure", "published", lab, "error", "grade"), rows)


def _whole(number: str) -> str:
    """A number and its unit on one line."""
    return number.replace(" ", "&nbsp;")


def _key(kind: str) -> str:
    dot = f'<circle class="{kind}" cx="10" cy="4" r="3.5"/>'
    return f'<span class="key"><svg class="swatch" viewBox="0 0 20 8">{dot}</svg> {kind}</span>'


def _sources() -> Iterator[str]:
    for name, source in read(ROOT / INDEPENDENT).tree["sources"].items():
        data = f" ({source['data']})" if "data" in source else ""
        yield f"- `{name}`: {words(source['title'] + data)}"
    for name, source in read(ROOT / "measurements.yaml").tree["sources"].items():
        date = f", {source['date']}" if "date" in source else ""
        yield f"- `{name}`: {words(source['title'] + date)}"


def main() -> int:
    """Run every row and keep the table. Returns the exit code of the command."""
    done = subprocess.run(
        [sys.executable, "-m", "wirelab", "truth", "--json"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.stdout:
        STORED.write_text(done.stdout, encoding="utf-8")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
