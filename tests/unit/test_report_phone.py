"""A report on a phone: what stands side by side on a desk is read one below the other."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from browser import opened
from pages import FEW, GOODPUT, judged, outcome
from test_plots_page import written

from wirelab.report.html import html_report

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("width", [390, 1280])
def test_the_reason_of_a_check_is_read_in_one_piece(tmp_path: Path, width: int) -> None:
    """What the scenario says of it and what was found are one text from side to side, not two columns."""
    why = "a healthy path loses nothing, and this one is said to be as healthy as they come"
    variant = judged(tmp_path, replace(FEW, why=why))
    with opened(written(tmp_path, html_report(outcome(variant).run)), width) as page:
        cell = page.locator("td.words").first
        first, last = cell.evaluate(
            """cell => {
                const said = cell.querySelector("i");
                const range = document.createRange();
                range.setStartAfter(said);
                range.setEndAfter(cell.lastChild);
                const lines = [...said.getClientRects(), ...range.getClientRects()];
                const lefts = lines.map(line => line.left);
                return [Math.min(...lefts), Math.min(...lines.filter(
                    line => line.top >= Math.max(...lines.map(one => one.top)) - 1).map(line => line.left))];
            }"""
        )
        assert cell.inner_text().startswith(f"{why}: expected")
        assert last == first


def test_a_long_name_of_a_control_fits_on_a_phone(tmp_path: Path) -> None:
    """It goes on in the next line, wherever it stands."""
    name = "the-same-network-with-a-buffer-that-holds-all-that-comes-at-once-and-more"
    control = replace(judged(tmp_path / "b", FEW, breaks=FEW.name), name=name)
    variants = (judged(tmp_path / "a", GOODPUT), control)
    with opened(written(tmp_path, html_report(outcome(*variants).run)), 390, 844) as page:
        assert page.evaluate("document.documentElement.scrollWidth") == 390
