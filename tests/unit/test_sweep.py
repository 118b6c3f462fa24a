"""Sweeps: ranges of settings, the grid they make, and how it is shown."""

from __future__ import annotations

import csv
import io
import json
import re
import signal
from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from recorded import plan, recording
from standin import PINGS, Wirelab
from test_cli_run import wait_for

from wirelab.errors import InputError, LabError
from wirelab.model.experiment import load
from wirelab.model.metric import METRICS
from wirelab.report.live import LiveReport
from wirelab.report.sweep import heat_map, sweep_csv
from wirelab.report.text import Output
from wirelab.results.ping import PingResult
from wirelab.results.rtt import Rtt
from wirelab.runner.past_runs import last_wall_s, newest
from wirelab.runner.run_result import VariantResult
from wirelab.runner.store import Store
from wirelab.runner.sweep import Factor, Point, Sweep, SweepJob, SweepRunner, grid, read_factors
from wirelab.runner.trial import Trial, judge
from wirelab.verdict.checks import broken_lab
from wirelab.verdict.verdict import Verdict

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
    assert read_factors([text], case) == (Factor(text.partition("=")[0], values),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("module.fifo", "--vary module.fifo: expected key=value,value... such as module.fifo=8KiB..256KiB*2"),
        ("module.fife=8KiB", "--vary module.fife: unknown setting of module `fife`; did you mean `fifo`?"),
        ("modul.fifo=8KiB", "--vary modul.fifo: unknown node `modul`; did you mean `module`?"),
        ("module.fifo=2..1*2", "--vary module.fifo: `2..1*2` is empty: its low end is above its high end"),
        ("module.fifo=8KiB..64KiB*1", "--vary module.fifo: a step of `*1` does not get from 8 KiB on"),
        ("module.fifo=8KiB..64KiB*x", "--vary module.fifo: `*x` is not a factor"),
        ("client.rx_usecs=0..10*2", "--vary client.rx_usecs: a step of `*2` does not get from 0 us on"),
        ("module.fifo=8KiB..64KiB*nan", "--vary module.fifo: `*nan` is not a factor"),
        ("module.fifo=8KiB..64KiB*1e999", "--vary module.fifo: `*1e999` is not a factor"),
        ("client.rx_usecs=0..10000+1", "--vary client.rx_usecs: more than 10000 values"),
        ("client.rx_usecs=0..9999+1,10 ms..20 ms+1", "--vary client.rx_usecs: more than 10000 values"),
        (
            "module.fifo=8KiB..16KiB",
            "--vary module.fifo: a range needs a step: 8KiB..16KiB*2, or 8KiB..16KiB+STEP",
        ),
        ("module=a..b*2", "--vary module=a..b*2: module is not a quantity; list its values"),
    ],
)
def test_what_is_no_range(text: str, message: str, case: Case) -> None:
    """Bad input names the key, and the nearest right word."""
    with pytest.raises(InputError) as caught:
        read_factors([text], case)
    assert caught.value.problems[0].message == message


def test_the_grid_is_every_combination(case: Case) -> None:
    """The last setting runs fastest; each point is the case with those settings on top."""
    points = grid(case, read_factors(["module.fifo=8KiB,16KiB", "client.rx_usecs=0,50"], case))
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
        grid(case, read_factors(["module.fifo=1KiB..16KiB*4"], case))


def test_a_grid_has_an_end(case: Case) -> None:
    """Too many points are refused before any of them is made; a setting has one list of values."""
    with pytest.raises(InputError, match="40000 points are too many for one sweep, at most 10000"):
        read_factors(["client.rx_usecs=0..199+1", "server.rx_usecs=0..199+1"], case)
    with pytest.raises(InputError, match=r"--vary module\.fifo: given twice"):
        read_factors(["module.fifo=8KiB", "module.fifo=16KiB"], case)


def sweep(folder: Path) -> Sweep:
    """Two values of one setting, of which the second drops more."""
    points = []
    for value, dropped in (("8 <KiB>", 159), ("16 KiB", 0)):
        raw = recording(dropped=dropped).write(folder / value[:2].strip())
        points.append(Point.of((value,), judge(Trial(plan(), ()), raw)))
    factors = (Factor("module.fifo", ("8 <KiB>", "16 KiB")),)
    return Sweep("lossy", "main", 1, (), factors, tuple(points))


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


def test_csv_has_every_metric_of_a_flow(tmp_path: Path) -> None:
    """In the order of the table of metrics, the unit in the name; what a flow does not have is empty."""
    first = next(csv.DictReader(io.StringIO(sweep_csv(sweep(tmp_path)))))
    names = [metric.name for metric in METRICS.values() if {"flow", "UDP flow"} & {*metric.subjects}]
    heads = [head for head in first if head not in ("module.fifo", "flow", "verdict")]
    assert [re.sub("_(bps|us|ns|ppm)$", "", head) for head in heads] == names
    assert (first["rtt_us"], first["lost_ppm"], first["connects"]) == ("102.0", "", "yes")


def test_csv_has_more_of_a_short_time_than_whole_microseconds(tmp_path: Path) -> None:
    """Of an RTT of 4.26 us a quarter of one is a lot."""
    finished = sweep(tmp_path)
    flow = replace(finished.points[0].flows[0], rtt=Rtt.of((4.26,)))
    points = (replace(finished.points[0], flows=(flow,)),)
    (row,) = csv.DictReader(io.StringIO(sweep_csv(replace(finished, points=points))))
    assert row["rtt_us"] == "4.3"


def test_a_heat_map_needs_nothing_from_elsewhere(tmp_path: Path) -> None:
    """One page, a map for each flow; names cannot break out of it."""
    finished = sweep(tmp_path)
    page = heat_map(finished)
    assert page.count("<table") == 2
    assert "8 &lt;KiB&gt;" in page
    assert "http:" not in page
    assert "https:" not in page
    assert "<td>error</td>" not in page
    broken = replace(finished.points[0], verdict=Verdict.ERROR)
    assert "<td>error</td>" in heat_map(replace(finished, points=(broken, finished.points[1])))


def test_a_map_says_which_setting_is_which_and_what_each_point_came_to(tmp_path: Path) -> None:
    """The first setting goes down and the others across; the verdict is that which the terminal has."""
    finished = sweep(tmp_path)
    assert "<tr><th>module.fifo</th>" in heat_map(finished)
    failed, passed = finished.points
    points = (
        replace(failed, values=(failed.values[0], "0 us"), verdict=Verdict.FAIL),
        replace(passed, values=(passed.values[0], "0 us")),
    )
    factors = (*finished.factors, Factor("server.rx_usecs", ("0 us",)))
    page = heat_map(replace(finished, factors=factors, points=points))
    assert "<tr><th>module.fifo ↓<br>server.rx_usecs →</th>" in page
    assert page.count("<small>fail</small>") == page.count("<small>pass</small>") == 2


@pytest.fixture
def wirelab(tmp_path: Path) -> Wirelab:
    """The command line in a folder with ``lossy.yaml``."""
    return Wirelab.make(tmp_path)


def swept(wirelab: Wirelab, *options: str) -> tuple[int, dict[str, Any], Path]:
    """Sweep over two sizes or others: the exit code, sweep.json and its folder, which is said last."""
    vary = () if "--vary" in options else ("--vary", "module.fifo=16KiB,32KiB")
    code, out, _ = wirelab("sweep", "lossy.yaml", *vary, *options, *wirelab.lab.options)
    folder = wirelab.folder / out.splitlines()[-1]
    document: dict[str, Any] = json.loads((folder / "sweep.json").read_text(encoding="utf-8"))
    return code, document, folder


def test_a_sweep_says_all_that_it_found(wirelab: Wirelab) -> None:
    """sweep.json has the factors, and of each point its values, digest, verdict and figures."""
    code, document, folder = swept(wirelab)
    assert code == 0
    assert folder.parent == wirelab.results / "sweeps"
    assert {key: document[key] for key in document if key not in ("factors", "points")} == {
        "schema": 1,
        "scenario": "lossy",
        "variant": "main",
        "seed": 1,
        "rerun_argv": [
            "wirelab",
            "sweep",
            "lossy.yaml",
            "--vary=module.fifo=16 KiB,32 KiB",
            "--variant=main",
            "--seed=1",
        ],
    }
    assert document["factors"] == [{"key": "module.fifo", "values": ["16 KiB", "32 KiB"]}]
    first, second = document["points"]
    assert (first["values"], second["values"]) == (["16 KiB"], ["32 KiB"])
    assert len(first["digest"]) == 64
    assert (first["verdict"], first["cached"], first["virtual_s"], first["folder"]) == (
        "pass",
        False,
        7.2,
        None,
    )
    assert [flow["name"] for flow in first["flows"]] == ["upload", "download"]
    assert first["flows"][1]["retransmits"] == 161
    assert [path.name for path in folder.iterdir()] == ["sweep.json"]


def test_a_sweep_is_no_run_of_its_scenario(wirelab: Wirelab) -> None:
    """A scenario that passed stays one: neither latest, nor a summary, nor the next shards know of points."""
    wirelab.run("lossy.yaml")
    before = wirelab.document(), last_wall_s(wirelab.results)
    wirelab.lab.order({"point-1": {"dropped": 300}, "point-2": {"message": "no carrier"}})
    code, document, _ = swept(wirelab)
    assert code == 4
    assert [point["verdict"] for point in document["points"]] == ["fail", "error"]
    assert (wirelab.document(), last_wall_s(wirelab.results)) == before
    (newest_run,) = newest([wirelab.results]).values()
    assert newest_run.verdict is Verdict.PASS
    code, out, _ = wirelab("summary", "results")
    assert (code, out.splitlines()[-1]) == (0, "1 pass")


def test_the_files_of_a_point_whose_lab_broke_are_kept(wirelab: Wirelab) -> None:
    """The others lie in the cache, and are brought from there when they are asked for."""
    wirelab.lab.order({"point-1": {"dropped": 159}, "point-2": {"message": "no carrier"}})
    _, document, folder = swept(wirelab)
    assert [point["folder"] for point in document["points"]] == [None, "point-2"]
    assert document["points"][1]["explanation"] == "no carrier"
    assert sorted(path.name for path in folder.iterdir()) == ["point-2", "sweep.json"]
    assert sorted(path.name for path in (folder / "point-2").iterdir()) == ["plan.json", "raw", "report.html"]
    wirelab.lab.order({"point-1": {"message": "not again"}, "point-2": {"dropped": 159}})
    _, document, folder = swept(wirelab, "--keep-points")
    assert [point["folder"] for point in document["points"]] == ["point-1", "point-2"]
    assert [point["cached"] for point in document["points"]] == [True, False]
    assert (folder / "point-1" / "raw" / "console.log").is_file()


def test_a_sweep_goes_on_where_it_stopped(wirelab: Wirelab) -> None:
    """Points that were measured are not measured again; CSV and heat map are written."""
    files = ("--csv", "out/s.csv", "--html", "out/s.html")
    _, first, _ = swept(wirelab, *files)
    wirelab.lab.order({"point-1": {"message": "not again"}, "point-2": {"message": "not again"}})
    code, again, _ = swept(wirelab, *files)
    assert code == 0
    assert [point["cached"] for point in again["points"]] == [True, True]
    assert [point["digest"] for point in again["points"]] == [point["digest"] for point in first["points"]]
    assert (wirelab.folder / "out" / "s.csv").read_text(encoding="utf-8").startswith("module.fifo,flow,")
    assert (wirelab.folder / "out" / "s.html").is_file()


def test_an_interrupted_sweep_leaves_no_half_of_one(wirelab: Wirelab) -> None:
    """Only what was measured is remembered: the next one begins with the point that was interrupted."""
    wirelab.lab.order({"point-1": {"dropped": 159}, "point-2": {"hang": 300}})
    argv = ("sweep", "lossy.yaml", "--vary", "module.fifo=16KiB,32KiB", "-j", "1", *wirelab.lab.options)
    process = wirelab.start(*argv)
    wait_for(wirelab.lab.pid_file("point-2"))
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, "interrupted\n")
    assert list((wirelab.results / "sweeps").iterdir()) == []
    wirelab.lab.order({"point-1": {"message": "not again"}, "point-2": {"dropped": 159}})
    _, document, _ = swept(wirelab)
    assert [point["cached"] for point in document["points"]] == [True, False]


def test_one_value_more_measures_one_point_more(wirelab: Wirelab) -> None:
    """Another number of a point, another name of the scenario: nothing that a lab could know of."""
    swept(wirelab)
    text = (wirelab.folder / "lossy.yaml").read_text(encoding="utf-8").replace("name: lossy", "name: renamed")
    (wirelab.folder / "lossy.yaml").write_text(text, encoding="utf-8")
    _, document, _ = swept(wirelab, "--vary", "module.fifo=8KiB,16KiB,32KiB")
    assert [point["cached"] for point in document["points"]] == [False, True, True]


def test_a_sweep_over_pings_shows_them(wirelab: Wirelab) -> None:
    """A row for each point and ping with what pings have: lost requests and round-trip times."""
    (wirelab.folder / "pings.yaml").write_text(PINGS, encoding="utf-8")
    argv = ("--vary", "client.rx_usecs=0,50", "--csv", "p.csv", "--html", "p.html")
    code, out, _ = wirelab("sweep", "pings.yaml", *argv, *wirelab.lab.options)
    assert code == 0
    assert [re.split("  +", line.strip()) for line in out.splitlines()[:2]] == [
        ["client.rx_usecs", "ping", "lost", "mean RTT", "verdict"],
        ["0 us", "echo", "99.0 %", "500 us", "pass"],
    ]
    rows = list(csv.DictReader((wirelab.folder / "p.csv").open(encoding="utf-8")))
    assert [(row["flow"], row["lost_ppm"], row["rtt_us"], row["goodput_bps"]) for row in rows] == [
        ("echo", "990000", "500.0", "")
    ] * 2
    page = (wirelab.folder / "p.html").read_text(encoding="utf-8")
    assert "Mean RTT" in page
    assert "goodput" not in page.partition("<body>")[2]


def test_pings_stand_beside_flows(tmp_path: Path) -> None:
    """Each has the figures of its kind, in one table."""
    finished = sweep(tmp_path)
    echo = PingResult("echo", "client", "server", 4, 3, Rtt.of((500.0,)))
    points = tuple(replace(point, pings=(echo,)) for point in finished.points)
    rows = list(csv.DictReader(io.StringIO(sweep_csv(replace(finished, points=points)))))
    assert [row["flow"] for row in rows] == ["upload", "download", "echo"] * 2
    assert (rows[1]["lost_ppm"], rows[2]["lost_ppm"], rows[2]["retransmits"]) == ("", "250000", "")


def test_what_cannot_be_kept_is_said_and_the_rest_is_written(wirelab: Wirelab) -> None:
    """A CSV file that cannot be written costs neither the page nor what is on the screen."""
    (wirelab.folder / "file").touch()
    argv = ("--vary", "module.fifo=16KiB", "--csv", "file/s.csv", "--html", "s.html")
    code, out, err = wirelab("sweep", "lossy.yaml", *argv, *wirelab.lab.options)
    assert (code, err.splitlines()[-1][:37]) == (4, "error: file/s.csv: cannot be written:")
    assert "download" in out
    assert (wirelab.folder / "s.html").is_file()


def test_a_page_that_cannot_be_written_costs_no_point(tmp_path: Path, case: Case) -> None:
    """The sweep goes on, and says at its end why the page is missing."""
    variant = VariantResult.of(plan("point-1"), None, (broken_lab(LabError("no carrier")),))
    job = SweepJob("s", load("sfp-mismatch", tmp_path), case, read_factors(["module.fifo=16KiB"], case), 1)
    runner: Any = SimpleNamespace(run=lambda *_, **__: variant, testbed=SimpleNamespace(stop=lambda: None))
    with Store.of_sweeps(tmp_path).begin("s", datetime.now(UTC)) as draft:
        # No lab has made the folder of the point: a full disk refuses its page in the same way.
        sweeper = SweepRunner(job, runner, draft, LiveReport(Output(quiet=True), ()), lambda _: "page")
        (point,) = sweeper.run(grid(case, job.factors), [0]).points
    assert (point.verdict, point.explanation) == (Verdict.ERROR, "no carrier")
    assert "cannot write results" in str(sweeper.pageless[0])
