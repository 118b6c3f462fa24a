"""The table of truth: how far the lab is from what others have measured, predictions apart from fits."""

from __future__ import annotations

import io
import json
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest
from examples import ROOT
from recorded import plan, recording
from standin import SCENARIO, Wirelab

from docs.truth import STORED, page
from wirelab.model.catalogue import INDEPENDENT, TRUTH, Catalogue
from wirelab.model.expect import Expectation
from wirelab.model.experiment import load_file
from wirelab.model.metric import METRICS
from wirelab.model.published import Published
from wirelab.model.yamlfile import read
from wirelab.report.text import Output
from wirelab.report.truth import off, print_truth
from wirelab.report.truth_chart import truth_svg
from wirelab.runner.job import Job
from wirelab.runner.trial import Trial, judge
from wirelab.runner.truth import Figure, Row, Table, parse_table, tabulate
from wirelab.verdict.comparison import error, is_miss, median_off

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from wirelab.model.experiment import Experiment

SHIPPED = Catalogue.of(ROOT)
NAMES = SHIPPED.names(TRUTH)


@pytest.mark.parametrize(
    ("metric", "low", "high", "measured", "expected"),
    [
        ("goodput", 100, 100, 103, 0.03),
        ("goodput", 100, 100, 97, -0.03),
        ("goodput", 500, 600, 550, 0),
        ("goodput", 500, 600, 660, 0.1),
        ("goodput", 500, 600, 450, -0.1),
        ("goodput", None, 600, 10, 0),
        ("goodput", 0, 0, 0, 0),
        ("goodput", 0, 0, 1, math.inf),
        ("retransmits", 2, 2, 3, 0.5),
        ("retransmits", 3, 3, 2, -0.5),
        ("retransmits", 0, 0, 0, 0),
        ("retransmits", 0, 0, 5, math.inf),
        ("retransmits", 5, 5, 0, -math.inf),
        ("link", 1, 1, 1, 0),
        ("link", 1, 1, 0, math.inf),
    ],
)
def test_how_far_a_figure_is_off(
    metric: str, low: int | None, high: int | None, measured: float, expected: float
) -> None:
    """Rates by their relative error, counts by their ratio; of a range the nearer end counts."""
    assert error(METRICS[metric], low, high, measured) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("value", "words"),
    [(-0.031, "-3.1 %"), (0.2, "+20 %"), (0.0004, "0.0 %"), (-0.0004, "0.0 %"), (0, "0 %")],
)
def test_what_rounds_to_nothing_has_no_sign(value: float, words: str) -> None:
    """No figure is off by minus nothing."""
    assert off(METRICS["goodput"], value) == words


def test_a_quarter_is_no_miss_yet() -> None:
    """In either direction; what is more needs a cause."""
    assert [is_miss(value) for value in (0.25, -0.25, 0.251, -math.inf)] == [False, False, True, True]


def test_the_last_seconds_of_a_flow_without_any_are_no_figure(tmp_path: Path) -> None:
    """One that never came about has no seconds; one that has some has the mean of the last."""
    measured = judge(Trial(plan(), ()), recording().write(tmp_path))
    download = next(flow for flow in measured.flows if flow.name == "download")
    experiment = load_file(SHIPPED.path(TRUTH, NAMES[0]), SHIPPED)
    published = Published("row", "raw", "main", (Expectation("download", "goodput", 1, 1),), last_s=2)
    for intervals_bps, mean_bps in (((), None), ((9e9, 1e9, 2e9), 1.5e9)):
        flow = replace(download, intervals_bps=intervals_bps)
        run = Job("sfp-mismatch", 1, ()).result([replace(measured, flows=(flow,))], 1.0)
        [row] = tabulate([(experiment, [published])], [run]).rows
        assert [figure.measured for figure in row.figures] == [mean_bps]


def test_a_median_has_no_sign() -> None:
    """Errors in opposite directions do not cancel; of nothing there is none."""
    assert median_off([0.3, -0.1, 0.2]) == pytest.approx(0.2)
    assert median_off([]) is None


def figure(metric: str, published: int, measured: float | None, **more: str) -> Figure:
    """A figure of a flow."""
    where: dict[str, Any] = {"scenario": "s", "variant": "v", "subject": "up"}
    return Figure(**{**where, **more}, metric=metric, low=published, high=published, measured=measured)


TABLE = Table(
    kernel="7.2",
    rows=(
        Row(
            name="one.lossy",
            title="One",
            grade="raw",
            differs="another kernel",
            figures=(
                figure("goodput", 1_000_000, 1_030_000.0),
                figure("retransmits", 0, 0),
                figure("retransmits", 100, 50, variant="w", why="bursts"),
                figure("retransmits", 100, 1000, variant="x", why="not known"),
            ),
        ),
        Row(
            name="two.slow",
            title="Two",
            grade="quoted",
            figures=(
                figure("goodput", 1_000_000, 1_000_000.0, fitted="the cost of a frame"),
                figure("goodput", 2_000_000, 1_980_000.0, variant="main"),
            ),
        ),
        Row(name="two.shape", title="Two", grade="shape", figures=(figure("goodput", 8, 1, why="a guess"),)),
    ),
)

SNAPSHOT = """\
row         figure                published     predicted    error
one.lossy   v: up goodput       1.00 Mbit/s   1.03 Mbit/s   +3.0 %
            v: up retransmits             0             0    x1.00
            w: up retransmits           100            50    x0.50
            x: up retransmits           100         1 000   x10.00
two.slow    up goodput          2.00 Mbit/s   1.98 Mbit/s   -1.0 %
two.shape   v: up goodput        8.00 bit/s    1.00 bit/s    -88 %

row        figure            published        fitted   error
two.slow   v: up goodput   1.00 Mbit/s   1.00 Mbit/s     0 %

misses
  one.lossy, w: up retransmits: 50 for 100: bursts
  one.lossy, x: up retransmits: 1 000 for 100: not known
  two.shape, v: up goodput: 1.00 bit/s for 8.00 bit/s: a guess

what the lab cannot imitate
  one.lossy: another kernel
  two.slow: v fitted: the cost of a frame

rows: 3 of 2 sources, 3 of them with predictions; figures: 7
predicted, median error: goodput 2.0 % of 2; retransmits x2.00 of 3 (x6.00 of the 2 where there were any)
fitted, median error: goodput 0 % of 1
off by more than 25 % without a known cause: one.lossy, x: up retransmits
"""


def printed(table: Table) -> str:
    """What a person reads who has it in a file."""
    stream = io.StringIO()
    print_truth(Output.for_stream(stream), table)
    return stream.getvalue()


def test_predicted_and_fitted_are_never_in_one_column() -> None:
    """Nor in one median; each miss is told with its cause, as far as one is known."""
    assert printed(TABLE) == SNAPSHOT


def test_json_is_read_back() -> None:
    """With how far each figure is off, and no number that JSON has not."""
    text = TABLE.to_json()
    assert parse_table(text) == TABLE
    document = json.loads(text, parse_constant=pytest.fail)
    assert document["rows"][0]["figures"][0]["error"] == 0.03
    assert document["sums"]["predicted"]["retransmits"]["figures_without_zeros"] == 2
    with pytest.raises(ValueError, match="rows"):
        parse_table('{"rows": 1}')


def test_a_lab_that_broke_is_a_miss() -> None:
    """There is no figure, and no cause has a name."""
    broken = replace(TABLE.rows[0].figures[0], measured=None)
    table = replace(TABLE, rows=(replace(TABLE.rows[0], figures=(broken,)),))
    assert table.unexplained
    assert json.loads(table.to_json())["rows"][0]["figures"][0]["error"] is None
    assert printed(table).splitlines()[1].split()[-2:] == ["-", "-"]


def test_a_chart_has_predictions_or_fits() -> None:
    """Never both, and nothing of which only the shape is known."""
    names = {}
    for fitted in (False, True):
        root = ET.fromstring(truth_svg(TABLE, fitted=fitted))  # noqa: S314 - our own
        names[fitted] = [text.text for text in root.findall(".//g[@class='row']/text")]
    assert names == {False: ["one.lossy", "two.slow"], True: ["two.slow"]}
    assert truth_svg(Table(), fitted=False) == ""


def experiments() -> Iterator[Experiment]:
    """Every scenario that imitates a measurement."""
    for section in (TRUTH, "scenarios"):
        for name in SHIPPED.names(section):
            experiment = load_file(SHIPPED.path(section, name), SHIPPED)
            if experiment.published:
                yield experiment


def test_the_rows_that_the_table_has() -> None:
    """At least 20 of at least 9 sources have something predicted; a scenario of the table has a row of it."""
    cells = [cell for experiment in experiments() for cell in experiment.published]
    predicted = {cell.row for cell in cells if cell.fitted is None}
    assert len(predicted) >= 20
    assert len({row.partition(".")[0] for row in predicted}) >= 9
    assert all(
        load_file(SHIPPED.path(TRUTH, name), SHIPPED).scenario.source.measured
        for name in SHIPPED.names(TRUTH)
    )


def test_a_fitted_row_is_never_predicted() -> None:
    """What a scenario says is fitted is so in every cell."""
    for experiment in experiments():
        for cell in experiment.published:
            assert cell.fitted or cell.row not in experiment.scenario.fitted


def test_grades_are_those_of_the_measurements() -> None:
    """How well a figure is known does not depend on how well the lab meets it."""
    measured = read(ROOT / INDEPENDENT).tree
    for cell in (cell for experiment in experiments() for cell in experiment.published):
        group, row = cell.row.split(".", 1)
        if group in measured:
            assert cell.grade == measured[group][row]["grade"], cell.row


OWN = f"""
{SCENARIO.replace("source: {title: a test}", "source: {title: a test, measured: [mine.lossy, mine.fast]}")}
published:
  mine.lossy:
    cells:
      - figures: {{download: {{retransmits: {{range: 100, why: the module is another}}}}}}
  mine.fast:
    cells:
      - {{last: 1 s, figures: {{upload: {{goodput: 1 Gbit/s}}}}}}
"""


@pytest.fixture
def wirelab(tmp_path: Path) -> Wirelab:
    """A folder with measurements of its own and a scenario that imitates them."""
    made = Wirelab.make(tmp_path)
    (made.folder / "scenarios" / "truth").mkdir(parents=True)
    (made.folder / "scenarios" / "truth" / "lossy.yaml").write_text(OWN, encoding="utf-8")
    (made.folder / "truth.yaml").write_text("mine: {lossy: {}, fast: {}}\n", encoding="utf-8")
    return made


def test_the_command_runs_what_a_row_needs(wirelab: Wirelab) -> None:
    """No control, no other scenario, nothing that a report on results would take for one."""
    code, out, err = wirelab("truth", "mine.lossy", "--no-cache", *wirelab.lab.options)
    assert (code, err) == (0, "")
    line = "mine.lossy download retransmits 100 161 x1.61"
    assert " ".join(out.splitlines()[1].split()) == line
    assert "  mine.lossy, download retransmits: 161 for 100: the module is another" in out
    assert not wirelab.lab.pid_file("deep").exists()
    assert not list(wirelab.results.rglob("result.json"))


def test_a_miss_without_a_cause_is_a_failure(wirelab: Wirelab) -> None:
    """Whoever changes the lab hears of it."""
    code, out, _ = wirelab("truth", "mine.*", "--no-cache", "--json", *wirelab.lab.options)
    table = parse_table(out)
    assert [row.name for row in table.rows] == ["mine.fast", "mine.lossy"]
    assert [figure.name for _, figure in table.unexplained] == ["upload.goodput"]
    assert code == 1
    said = OWN.replace("goodput: 1 Gbit/s", "goodput: {range: 1 Gbit/s, why: not known}")
    (wirelab.folder / "scenarios" / "truth" / "lossy.yaml").write_text(said, encoding="utf-8")
    assert wirelab("truth", "mine.*", "--no-cache", *wirelab.lab.options)[0] == 0


def test_a_row_that_nobody_imitates_is_bad_input(wirelab: Wirelab) -> None:
    """With the nearest one that somebody does."""
    code, _, err = wirelab("truth", "mine.lousy")
    assert (code, err) == (2, "error: unknown row `mine.lousy`; did you mean `mine.lossy`?\n")


def test_a_lab_that_breaks_is_an_error(wirelab: Wirelab) -> None:
    """It says nothing about the network."""
    wirelab.lab.order({"main": {"message": "out of memory"}})
    code, _, err = wirelab("truth", "mine.lossy", "--no-cache", *wirelab.lab.options)
    assert code == 4
    assert "error: lossy main:" in err
    assert "out of memory" in err


def test_the_page_shows_the_table_of_today() -> None:
    """Each figure that a scenario says was published, no other: `python -m docs.truth` runs them anew."""
    kept = parse_table(STORED.read_text(encoding="utf-8"))
    stored = {
        (row.name, figure.variant, figure.name, figure.low, figure.high, figure.fitted, figure.why)
        for row in kept.rows
        for figure in row.figures
    }
    wanted = {
        (cell.row, cell.variant, one.name, one.low, one.high, cell.fitted, one.why)
        for experiment in experiments()
        for cell in experiment.published
        for one in cell.figures
    }
    assert stored == wanted


def test_the_page_has_predictions_and_fits_apart() -> None:
    """Each with its own picture and its own table."""
    address, text = page()
    assert address == "truth.md"
    predicted, fitted = text.partition("## Fitted")[::2]
    assert "| row | figure | published | predicted | error | grade |" in predicted
    assert "| row | figure | published | fitted | error | grade |" in fitted
    assert "lab / published" in predicted
    assert "lab / published" in fitted
