"""Every cell of a grid that others have published, beside the lab: a part of the page of the table of truth.

    PYTHONPATH=src:. python -m docs.grid

measures all 256 cells and keeps them anew, which takes a machine of two cores about half an hour. The
published ones are medians of the five runs of each cell in the source's raw logs, for both of its kernels.
"""

from __future__ import annotations

import csv
import itertools
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from docs.commands import DOCS, ROOT
from docs.markdown import table
from wirelab.model.metric import METRICS
from wirelab.report.truth import off
from wirelab.units import BPS_PER_MBPS, NS_PER_MS, RATE, SIZE, TIME, parse
from wirelab.verdict.comparison import MOST_OFF, error, median_off

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

SCENARIO: Final = "scenarios/truth/imc23-10mb.yaml"
VARIED: Final = {
    "client.congestion": ("cubic", "bbr"),
    "firewall.p2.queue_limit": ("100 KiB", "10000 KiB"),
    "firewall.p2.rate": tuple(f"{mbps} Mbit/s" for mbps in (10, 20, 50, 100, 250, 500, 750, 1000)),
    "server.delay": tuple(f"{ms} ms" for ms in (5, 10, 25, 50, 75, 100, 150, 200)),
}
KERNEL: Final = "5.15"
"""The newer one of the source's two, which is nearer to the lab's."""
OLDER: Final = "4.15"
NEAR: Final = 0.01
"""An error that nobody would notice."""

_METRICS: Final = ("goodput", "retransmits")
_FOLDER: Final = DOCS / "imc23"
_MEASURED: Final = _FOLDER / "lab.csv"


@dataclass(frozen=True, slots=True)
class Cell:
    """One combination of what was varied."""

    congestion: str
    limit_bytes: int
    rate_bps: int
    rtt_ns: int

    @property
    def group(self) -> tuple[str, int]:
        """What it has in common with the other cells of its map."""
        return self.congestion, self.limit_bytes


Grid = dict[Cell, dict[str, float]]
"""By metric what came of each cell."""


def cells() -> list[Cell]:
    """All of them, those of one map side by side."""
    return [
        Cell(congestion, parse(limit, SIZE), parse(rate, RATE), parse(rtt, TIME))
        for congestion, limit, rate, rtt in itertools.product(*VARIED.values())
    ]


def published(kernel: str) -> Grid:
    """What the source has measured with one of its kernels."""
    with (_FOLDER / "published.csv").open(encoding="utf-8", newline="") as file:
        return dict(_entry(row) for row in csv.DictReader(file) if row["kernel"] == kernel)


def measured() -> Grid:
    """What the lab gives."""
    with _MEASURED.open(encoding="utf-8", newline="") as file:
        return dict(map(_entry, csv.DictReader(file)))


def _entry(row: Mapping[str, str]) -> tuple[Cell, dict[str, float]]:
    places = (int(row[name]) for name in ("limit_bytes", "rate_bps", "rtt_ns"))
    figures = {"goodput": float(row["goodput_bps"]), "retransmits": float(row["retransmits"])}
    return Cell(row["congestion"], *places), figures


def part() -> Iterator[str]:
    """The part of the page: medians of each map, and the maps."""
    theirs, older, ours = published(KERNEL), published(OLDER), measured()
    groups = dict.fromkeys(cell.group for cell in cells())
    yield (DOCS / "introductions" / "grid.md").read_text(encoding="utf-8")
    yield f"\n{summary(theirs, ours)}\n\n"
    columns = {
        f"{metric}, {whose}": (metric, grid)
        for whose, grid in (("lab", ours), (f"Linux {OLDER}", older))
        for metric in _METRICS
    }
    yield table(
        ("map", *columns),
        (
            (_name(group), *(_median(metric, group, theirs, grid) for metric, grid in columns.values()))
            for group in groups
        ),
    )
    for group in groups:
        maps = "".join(_map(metric, group, theirs, ours) for metric in _METRICS)
        yield f'\n### {_name(group)}\n\n<div class="maps">{maps}</div>\n'
    yield "\n" + (DOCS / "introductions" / "grid-misses.md").read_text(encoding="utf-8")
    yield f"\nAll of it again:\n\n```sh\n{_shown(command())}\n```\n"


def summary(theirs: Grid, ours: Grid) -> str:
    """How many cells are near, and how many are not."""
    both = [(theirs[cell], ours[cell]) for cell in cells()]
    errors = [abs(_error("goodput", *pair)) for pair in both]
    near = sum(value <= NEAR for value in errors)
    far = sum(value > MOST_OFF for value in errors)
    told = [_error("retransmits", *pair) for pair in both if all(one["retransmits"] for one in pair)]
    middle = off(METRICS["retransmits"], median_off(told))
    odd = sum(bool(one["retransmits"]) != bool(other["retransmits"]) for one, other in both)
    return (
        f"Of {len(both)} cells, goodput is within 1 % in {near} and off by more than 25 % in {far}. "
        f"Where both have retransmits, {len(told)} cells, the middle one has "
        f"{middle}; {odd or 'no'} cell has them in only one of the two."
    )


def _shown(argv: Sequence[str]) -> str:
    """A command line with an option a line."""
    return shlex.join(argv).replace(" --", " \\\n  --")


def _name(group: tuple[str, int]) -> str:
    congestion, limit_bytes = group
    limits = {parse(text, SIZE): text for text in VARIED["firewall.p2.queue_limit"]}
    return f"{congestion.upper()}, {limits[limit_bytes]}"


def _error(metric: str, theirs: Mapping[str, float], ours: Mapping[str, float]) -> float:
    return error(METRICS[metric], theirs[metric], theirs[metric], ours[metric])


def _median(metric: str, group: tuple[str, int], theirs: Grid, ours: Grid) -> str:
    """How far the middle cell is off, of those where there is anything in either."""
    there = [cell for cell in cells() if cell.group == group and (theirs[cell][metric] or ours[cell][metric])]
    median = median_off(_error(metric, theirs[cell], ours[cell]) for cell in there)
    return off(METRICS[metric], median).lstrip("+")


def _map(metric: str, group: tuple[str, int], theirs: Grid, ours: Grid) -> str:
    """A table of how far each cell is off, the rates down and the round-trip times across."""
    rates = [parse(rate, RATE) for rate in reversed(VARIED["firewall.p2.rate"])]
    rtts = [parse(rtt, TIME) for rtt in VARIED["server.delay"]]
    head = "".join(f'<th scope="col">{rtt_ns // NS_PER_MS}</th>' for rtt_ns in rtts)
    body = "".join(
        f'<tr><th scope="row">{rate_bps // BPS_PER_MBPS}</th>'
        + "".join(
            _field(metric, theirs[cell], ours[cell])
            for cell in (Cell(*group, rate_bps, rtt_ns) for rtt_ns in rtts)
        )
        + "</tr>"
        for rate_bps in rates
    )
    return f'<table class="map"><caption>{metric}</caption><tr><td></td>{head}</tr>{body}</table>'


def _field(metric: str, theirs: Mapping[str, float], ours: Mapping[str, float]) -> str:
    far = _error(metric, theirs, ours)
    shade = min(abs(far) / MOST_OFF, 1)
    side = "more" if far > 0 else "less"
    both = " for ".join(METRICS[metric].shown(figures[metric]) for figures in (ours, theirs))
    text = "0" if not theirs[metric] and not ours[metric] else off(METRICS[metric], far).strip("x %")
    return f'<td class="{side}" style="--off: {shade:.2f}" title="{both}">{text}</td>'


def keep(rows: Iterable[Mapping[str, str]]) -> None:
    """Write what ``wirelab sweep --csv`` has given, in base units."""
    with _MEASURED.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("congestion", "limit_bytes", "rate_bps", "rtt_ns", "goodput_bps", "retransmits"))
        for row in rows:
            congestion, limit, rate, rtt = (row[key] for key in VARIED)
            place = (parse(limit, SIZE), parse(rate, RATE), parse(rtt, TIME))
            writer.writerow((congestion, *place, row["goodput_bps"], row["retransmits"]))


def command() -> list[str]:
    """The command line that measures all cells."""
    argv = ["wirelab", "sweep", SCENARIO, "--variant", "cubic-50ms"]
    for key, values in VARIED.items():
        argv += ["--vary", f"{key}={','.join(values)}"]
    return argv


def main() -> int:
    """Measure every cell and keep it. Returns the exit code of the command."""
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder, "sweep.csv")
        argv = [sys.executable, "-m", *command(), "--csv", str(kept)]
        code = subprocess.run(argv, cwd=ROOT, check=False).returncode
        if not code:
            with kept.open(encoding="utf-8", newline="") as file:
                keep(csv.DictReader(file))
    return code


if __name__ == "__main__":
    sys.exit(main())
