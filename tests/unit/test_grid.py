"""Every cell of a published grid beside the lab: none left out, and the page made of what is kept."""

from __future__ import annotations

import csv
import io
import re
import shlex
from typing import TYPE_CHECKING

import pytest
from examples import ROOT

from docs import grid
from docs.commands import README
from docs.grid import Cell
from wirelab.model.catalogue import INDEPENDENT
from wirelab.model.yamlfile import read
from wirelab.units import SIZE, parse

if TYPE_CHECKING:
    from pathlib import Path

CELLS = grid.cells()
LIMITS = {"100kB": parse("100 KiB", SIZE), "10MB": parse("10000 KiB", SIZE)}


@pytest.mark.parametrize("kernel", [grid.OLDER, grid.KERNEL])
def test_the_source_has_every_cell(kernel: str) -> None:
    """256 of them, as many as its logs have, on either kernel."""
    assert len(set(CELLS)) == 256
    assert set(grid.published(kernel)) == set(CELLS)


def test_the_lab_has_every_cell() -> None:
    """None that missed was left out."""
    assert set(grid.measured()) == set(CELLS)


@pytest.mark.parametrize("row", LIMITS)
def test_the_rows_of_the_table_of_truth_are_cells_of_the_grid(row: str) -> None:
    """They had been read from the same logs before, apart from the grid."""
    for told in read(ROOT / INDEPENDENT).tree["imc23"][row]["cells"]:
        cell = Cell(told["congestion"], LIMITS[row], int(told["rate"]) * 10**6, int(told["rtt_ms"]) * 10**6)
        for number, kernel in enumerate((grid.OLDER, grid.KERNEL)):
            figures = grid.published(kernel)[cell]
            assert figures["goodput"] == pytest.approx(float(told["goodput"][number]) * 1e6, rel=0.002)
            assert figures["retransmits"] == int(told["retransmits"][number])


def test_what_a_sweep_gives_is_kept_in_base_units(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each cell at its place, whatever unit the sweep shows."""
    kept = tmp_path / "lab.csv"
    monkeypatch.setattr(grid, "_MEASURED", kept)
    sweep = (
        "client.congestion,firewall.p2.queue_limit,firewall.p2.rate,server.delay,flow,goodput_bps,retransmits\n"
        "bbr,100 KiB,1 Gbit/s,25 ms,upload,912000000,163519\n"
    )
    grid.keep(csv.DictReader(io.StringIO(sweep)))
    assert grid.measured() == {
        Cell("bbr", 102_400, 10**9, 25 * 10**6): {"goodput": 912e6, "retransmits": 163_519}
    }


def test_a_cell_that_is_off_is_dark_and_says_by_how_much(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tenth more goodput and half the retransmits, in one cell of all."""
    exact = grid.published(grid.KERNEL)
    cell = Cell("cubic", LIMITS["10MB"], 5 * 10**8, 50 * 10**6)
    goodput, retransmits = exact[cell]["goodput"], exact[cell]["retransmits"]
    off = {**exact, cell: {"goodput": goodput * 1.1, "retransmits": retransmits / 2}}
    monkeypatch.setattr(grid, "measured", lambda: off)
    page = "\n".join(grid.part())
    fields = re.findall(r'<td class="(more|less)" style="--off: ([\d.]+)" title="[^"]+">([^<]+)</td>', page)
    assert len(fields) == 2 * len(CELLS)
    assert [field for field in fields if field[1] != "0.00"] == [
        ("more", "0.40", "+10"),
        ("less", "1.00", "0.50"),
    ]


def test_the_page_tells_the_command_that_measures_it() -> None:
    """It is the one that `python -m docs.grid` runs."""
    page = "\n".join(grid.part())
    command = re.search(r"```sh\n(.*?)\n```", page, re.DOTALL)
    assert command
    assert shlex.split(command[1].replace("\\\n", "")) == grid.command()


def test_the_readme_says_what_the_grid_gives() -> None:
    """How many cells are within 1 %, of how many."""
    told = grid.summary(grid.published(grid.KERNEL), grid.measured())
    numbers = re.match(r"Of (\d+) cells, goodput is within 1 % in (\d+) ", told)
    assert numbers
    of, near = numbers.groups()
    said = f"the goodput of {near} of {of} published cells of CUBIC and BBR is within 1 %"
    assert said in README.read_text(encoding="utf-8")
