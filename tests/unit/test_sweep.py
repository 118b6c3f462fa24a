"""Sweeps: ranges of settings, the grid they make, and how it is shown."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from recorded import plan, recording
from standin import Wirelab

from wirelab.errors import InputError
from wirelab.model.experiment import load
from wirelab.report.sweep import Point, Sweep, heat_map, sweep_csv
from wirelab.runner.sweep import grid, read_axis
from wirelab.runner.trial import Trial, judge

if TYPE_CHECKING:
    from pathlib import Path

    from wirelab.model.cases import Case


@pytest.fixture(scope="module")
def case() -> Case:
    """The variant of sfp-mismatch."""
    from pathlib import Path  # noqa: PLC0415 - the name is for types elsewhere

    return load("sfp-mismatch", Path.cwd()).cases[0]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("module.fifo=8KiB..64KiB*2", ("8 KiB", "16 KiB", "32 KiB", "64 KiB")),
        ("module.fifo=8 KiB..33 KiB*2", ("8 KiB", "16 KiB", "32 KiB")),
        ("client.rx_usecs=0,25,50", ("0 us", "25 us", "50 us")),
        ("client.rx_usecs=0..100+50", ("0 us", "50 us", "100 us")),
        ("client.rx_usecs=0 us,10us..40us*2", ("0 us", "10 us", "20 us", "40 us")),
        ("switch.flow_control=on,off", ("on", "off")),
        ("module=asf-10g-t,aqr113c,asf-10g-t", ("asf-10g-t", "aqr113c")),
    ],
)
def test_values(text: str, values: tuple[str, ...], case: Case) -> None:
    """Lists, geometric and linear ranges; a bare number is in the setting's base unit; words are words."""
    axis = read_axis(text, case)
    assert axis.key == text.partition("=")[0]
    assert axis.values == values


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("module.fifo", "--vary module.fifo: expected key=value,value... such as module.fifo=8KiB..256KiB*2"),
        ("module.fife=8KiB", "--vary module.fife: unknown setting of module `fife`; did you mean `fifo`?"),
        ("modul.fifo=8KiB", "--vary modul.fifo: unknown node `modul`; did you mean `module`?"),
        ("module.fifo=8KiB..64KiB*1", "--vary module.fifo: a step of `*1` does not get from 8 KiB on"),
        ("module.fifo=8KiB..64KiB*x", "--vary module.fifo: `*x` is not a factor"),
        ("client.rx_usecs=0..10*2", "--vary client.rx_usecs: a step of `*2` does not get from 0 us on"),
        ("module=a..b*2", "--vary module=a..b*2: module is not a quantity; list its values"),
    ],
)
def test_what_is_no_range(text: str, message: str, case: Case) -> None:
    """Bad input names the key, and the nearest right word."""
    with pytest.raises(InputError) as caught:
        read_axis(text, case)
    assert caught.value.problems[0].message == message


def test_the_grid_is_every_combination(case: Case) -> None:
    """The last setting runs fastest; each point is the case with those settings on top."""
    axes = [read_axis("module.fifo=8KiB,16KiB", case), read_axis("client.rx_usecs=0,50", case)]
    points = grid(case, axes)
    assert [(values, point.name) for values, point in points] == [
        (("8 KiB", "0 us"), "module.fifo 8 KiB, client.rx_usecs 0 us"),
        (("8 KiB", "50 us"), "module.fifo 8 KiB, client.rx_usecs 50 us"),
        (("16 KiB", "0 us"), "module.fifo 16 KiB, client.rx_usecs 0 us"),
        (("16 KiB", "50 us"), "module.fifo 16 KiB, client.rx_usecs 50 us"),
    ]
    assert all(point.expectations == case.expectations for _, point in points)


def test_a_point_that_cannot_be_is_refused_before_anything_runs(case: Case) -> None:
    """A FIFO that holds no frame, at one end of the range, is bad input."""
    with pytest.raises(InputError, match="does not hold one frame"):
        grid(case, [read_axis("module.fifo=1KiB..16KiB*4", case)])
    axis = read_axis("client.rx_usecs=0..199+1", case)
    with pytest.raises(InputError, match="40000 points are too many for one sweep"):
        grid(case, [axis, replace(axis, key="server.rx_usecs")])
    with pytest.raises(InputError, match="more than 10000 values"):
        read_axis("client.rx_usecs=0..20000+1", case)


def sweep(folder: Path) -> Sweep:
    """Two values of one setting, of which the second drops more."""
    points = []
    for value, dropped in (("8 <KiB>", 159), ("16 KiB", 0)):
        raw = folder / value[:2].strip()
        recording(dropped=dropped).write(raw)
        points.append(Point((value,), judge(Trial(plan(), ()), raw)))
    return Sweep("lossy", ("module.fifo",), tuple(points))


def test_csv_is_in_base_units(tmp_path: Path) -> None:
    """A row for each point and flow, readable by any program."""
    rows = list(csv.DictReader(io.StringIO(sweep_csv(sweep(tmp_path)))))
    assert [
        (row["module.fifo"], row["flow"], row["retransmits"]) for row in rows if row["flow"] == "download"
    ] == [
        ("8 <KiB>", "download", "161"),
        ("16 KiB", "download", "2"),
    ]
    assert all(int(row["goodput_bps"]) > 0 for row in rows)


def test_a_heat_map_needs_nothing_from_elsewhere(tmp_path: Path) -> None:
    """One page, a map for each flow; names cannot break out of it."""
    page = heat_map(sweep(tmp_path))
    assert page.count("<table>") == 2
    assert "8 &lt;KiB&gt;" in page
    assert "http" not in page
    broken = replace(sweep(tmp_path / "more").points[0].variant, flows=())
    assert "<td>error</td>" not in page
    assert "error" not in heat_map(Sweep("x", ("a",), (Point(("1",), broken),)))


def test_a_sweep_goes_on_where_it_stopped(tmp_path: Path) -> None:
    """Points that were measured are not measured again; CSV and heat map are written."""
    wirelab = Wirelab.make(tmp_path)
    wirelab.lab.order({"point-1": {"dropped": 159}, "point-2": {"dropped": 159}})
    options = ("--vary", "module.fifo=16KiB,32KiB", "--csv", "out/s.csv", "--html", "out/s.html")
    code, out, err = wirelab("sweep", "lossy.yaml", *options, *wirelab.lab.options)
    assert (code, err) == (0, "")
    assert out.split()[:4] == ["module.fifo", "flow", "goodput", "retransmits"]
    wirelab.lab.order({"point-1": {"message": "not again"}, "point-2": {"message": "not again"}})
    code, again, _ = wirelab("sweep", "lossy.yaml", *options, *wirelab.lab.options)
    assert (code, again) == (0, out)
    assert (wirelab.folder / "out" / "s.csv").read_text(encoding="utf-8").startswith("module.fifo,flow,")
    newest = wirelab.results / "latest" / "lossy" / "result.json"
    assert json.loads(newest.read_text(encoding="utf-8"))["variants"][0]["cached"]
