"""The way in for Python: what it gives, what it refuses, and what it leaves alone until it is asked."""

from __future__ import annotations

import ast
import json
import signal
import struct
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from forked import server
from recorded import G, plan, port, recording
from standin import PINGS, SOURCE, UNCONFINED, Wirelab
from test_cli_run import gone, wait_for
from test_record import entry

import wirelab as package
from docs.python import members, reference
from wirelab import api
from wirelab.api.flow import Flow
from wirelab.api.frames import frame_table, window_at
from wirelab.api.tables import pandas, sample_frame
from wirelab.errors import InputError, LabError
from wirelab.report.html import run_panel
from wirelab.results.record import MAGIC, Kind, read_record
from wirelab.results.result import read_result
from wirelab.runner.trial import Trial, judge

if TYPE_CHECKING:
    from wirelab.results.result import Result

HEAVY = ("pandas", "typer", "rich", "pydantic", "yaml", "jinja2", "wirelab.api")
BEGIN = UNCONFINED + "import json, wirelab\nfrom pathlib import Path\n"
LAB = 'lab = {"kernel": Path("../lab/linux"), "root": Path("../lab/root")}\n'
READY_NS = 30 * G


@pytest.fixture
def wirelab(tmp_path: Path) -> Wirelab:
    """A folder with ``lossy.yaml`` and a stand-in for the lab."""
    return Wirelab.make(tmp_path)


def answered(wirelab: Wirelab, script: str) -> Any:  # noqa: ANN401 - whatever it is
    """What a script of a user prints as JSON; nothing else of it is to be heard."""
    code, out, err = server().call(BEGIN + LAB + script, cwd=wirelab.folder, env=wirelab.environ)
    assert (code, err) == (0, "")
    return json.loads(out)


def test_a_run_is_what_the_command_measures(wirelab: Wirelab) -> None:
    """Verdict, digest and figures are those of ``wirelab run``, under the same names."""
    wirelab.run("lossy.yaml")
    main = wirelab.document()["variants"][0]
    told = answered(
        wirelab,
        "r = wirelab.run('lossy.yaml', **lab)\n"
        "flow, port = r.flow('download'), r.port('module.line')\n"
        "print(json.dumps([r.verdict, r.digest, r.variant, r.virtual_s,"
        " round(flow.goodput_bps), flow.retransmits, list(map(round, flow.intervals_bps)), port.drops,"
        " [check.explanation for check in r.checks], repr(r)]))\n",
    )
    flow = main["flows"][1]
    assert told == [
        *(main["verdict"], main["digest"], "main", main["virtual_s"]),
        *(flow["goodput_bps"], flow["retransmits"], flow["intervals"], main["ports"]["module.line"]["drops"]),
        [check["explanation"] for check in main["checks"]],
        f"<Run of lossy, main, seed 1: pass, digest {main['digest'][:12]}>",
    ]


def test_a_run_leaves_no_files_and_is_remembered(wirelab: Wirelab) -> None:
    """What it measured is in the cache of the command line, and nothing of it in the folder."""
    before = sorted(path.name for path in wirelab.folder.iterdir())
    assert answered(wirelab, "print(json.dumps(wirelab.run('lossy.yaml', **lab).cached))") is False
    assert sorted(path.name for path in wirelab.folder.iterdir()) == ["cache", *before]
    wirelab.lab.order({"main": {"message": "not again"}, "deep": {"dropped": 0}})
    assert answered(wirelab, "print(json.dumps(wirelab.run('lossy.yaml', **lab).cached))") is True
    assert wirelab.run("lossy.yaml", cache=True)[0] == 0


def test_a_sweep_is_what_the_command_measures(wirelab: Wirelab) -> None:
    """A row for each point, seed and flow: the values as text and in base units, figures as in its CSV."""
    vary = ("--vary", "module.fifo=16KiB..32KiB*2", "--csv", "sweep.csv")
    assert wirelab("sweep", "lossy.yaml", *vary, *wirelab.lab.options)[0] == 0
    script = "frame = wirelab.sweep('lossy.yaml', {'module.fifo': '16 KiB..32 KiB*2'}, seeds=[1, 2], **lab)\n"
    rows = answered(wirelab, f"{script}print(frame.to_json(orient='records'))")
    assert [(row["module.fifo"], row["module.fifo_bytes"], row["seed"], row["flow"]) for row in rows] == [
        (value, value_bytes, seed, flow)
        for seed in (1, 2)
        for value, value_bytes in (("16 KiB", 16_384), ("32 KiB", 32_768))
        for flow in ("upload", "download")
    ]
    head, *lines = (wirelab.folder / "sweep.csv").read_text(encoding="utf-8").splitlines()
    at = head.split(",").index("goodput_bps")
    assert [row["goodput_bps"] for row in rows[:4]] == [int(line.split(",")[at]) for line in lines]
    assert {row["verdict"] for row in rows} == {"pass"}
    assert {row["lost_ppm"] for row in rows} == {None}


def test_what_is_no_port_or_window_is_bad_input(wirelab: Wirelab) -> None:
    """As a name that no port has: nothing is run for it."""
    script = (
        "r, told = wirelab.run('lossy.yaml', kernel='../lab/linux', root='../lab/root'), []\n"
        "for port, window in ((5, 'all'), ('module.line', 5)):\n"
        "    try:\n"
        "        r.frames(port, window)\n"
        "    except wirelab.InputError as error:\n"
        "        told.append(str(error))\n"
        "print(json.dumps(told))\n"
    )
    assert answered(wirelab, script) == [
        "port 5: expected one, such as module.line, or several",
        "window 5: expected text such as `first drop ± 1 ms`",
    ]


def test_a_sweep_over_pings_is_a_table_of_them(wirelab: Wirelab) -> None:
    """Named in the column of flows, with the figures that they have."""
    (wirelab.folder / "pings.yaml").write_text(PINGS, encoding="utf-8")
    script = "frame = wirelab.sweep('pings.yaml', {'client.rx_usecs': '0'}, **lab)\n"
    (row,) = answered(wirelab, f"{script}print(frame.to_json(orient='records'))")
    assert (row["flow"], row["rtt_us"], row["lost_ppm"], row["goodput_bps"]) == ("echo", 500.0, 990_000, None)


def test_a_sweep_holds_no_more_files_open_for_more_seeds(wirelab: Wirelab) -> None:
    """It may have 10 000 runs, and a process often 1024 files."""
    script = (
        "import os, resource\n"
        "most = len(os.listdir('/proc/self/fd')) + 20\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))\n"
        "frame = wirelab.sweep('lossy.yaml', {'module.fifo': '16 KiB'}, seeds=range(1, 31), jobs=1, **lab)\n"
        "print(json.dumps(sorted({int(seed) for seed in frame['seed']})))"
    )
    assert answered(wirelab, script) == list(range(1, 31))


def test_a_point_whose_lab_broke_has_no_figures(wirelab: Wirelab) -> None:
    """And says how it broke; the others have theirs."""
    wirelab.lab.order({"point-1": {"dropped": 159}, "point-2": {"message": "no carrier"}})
    script = "frame = wirelab.sweep('lossy.yaml', {'module.fifo': ['8 KiB', '16 KiB']}, jobs=1, **lab)\n"
    *_, last = answered(wirelab, f"{script}print(frame.to_json(orient='records'))")
    assert (last["module.fifo"], last["flow"], last["goodput_bps"]) == ("16 KiB", None, None)
    assert (last["verdict"], last["explanation"]) == ("error", "no carrier")


def test_a_lab_that_breaks_is_an_error(wirelab: Wirelab) -> None:
    """Nothing is known about the network then; its hint stands below a traceback, too."""
    wirelab.lab.order({"main": {"message": "no carrier", "hint": "plug it in"}})
    script = """
try:
    wirelab.run('lossy.yaml', use_cache=False, **lab)
except wirelab.LabError as error:
    print(json.dumps([str(error), error.hint, error.__notes__]))
"""
    assert answered(wirelab, script) == ["no carrier", "plug it in", ["hint: plug it in"]]


def test_an_interrupted_run_leaves_nothing(wirelab: Wirelab, tmp_path: Path) -> None:
    """As Jupyter interrupts a cell: the lab ends, its folder is gone, the exception is KeyboardInterrupt."""
    wirelab.lab.order({"main": {"hang": 300}})
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    process = subprocess.Popen(  # noqa: S603 - the script below
        [sys.executable, "-c", BEGIN + LAB + "wirelab.run('lossy.yaml', **lab)"],
        cwd=wirelab.folder,
        env={**wirelab.environ, "TMPDIR": str(scratch)},
        stderr=subprocess.PIPE,
        text=True,
    )
    pid = wait_for(wirelab.lab.pid_file("main"))
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert err.splitlines()[-1] == "KeyboardInterrupt"
    assert list(scratch.iterdir()) == []
    assert gone(pid)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: api.run("sfp-mismatsh"), "unknown scenario `sfp-mismatsh`; did you mean `sfp-mismatch`?"),
        (
            lambda: api.run("sfp-mismatch", {"module.fife": "32 KiB"}),
            "module.fife=32 KiB: unknown setting of module `fife`; did you mean `fifo`?",
        ),
        (
            lambda: api.run("sfp-mismatch", {"module.fifo": 32}),  # type: ignore[dict-item]
            'module.fifo: expected text such as "32 KiB", with its unit, not 32',
        ),
        (
            lambda: api.run("sfp-mismatch", variant="mian"),
            "unknown variant or control `mian`; did you mean `main`?",
        ),
        (lambda: api.run("sfp-mismatch", seed=-1), "seed -1: expected a whole number from 0 to 4294967295"),
        (
            lambda: api.sweep("sfp-mismatch", {"modul.fifo": ["8 KiB"]}),
            "modul.fifo: unknown node `modul`; did you mean `module`?",
        ),
        (
            lambda: api.sweep("sfp-mismatch", {"module.fifo": [8192]}),  # type: ignore[list-item]
            'module.fifo: expected texts such as "32 KiB", with their units, not 8192',
        ),
        (lambda: api.sweep("sfp-mismatch", {"module.fifo": []}), "module.fifo: expected at least one value"),
        (
            lambda: api.sweep("sfp-mismatch", {}),
            'nothing varies: expected settings, such as {"module.fifo": ["8 KiB", "16 KiB"]}',
        ),
        (
            lambda: api.sweep("sfp-mismatch", {"module.fifo": "8 KiB"}, seeds=()),
            "0 runs: expected 1 to 10000 points with all their seeds",
        ),
        (
            lambda: api.sweep("sfp-mismatch", {"module.fifo": "8 KiB"}, jobs=0),
            "jobs 0: expected at least one",
        ),
        (
            lambda: api.sweep("sfp-mismatch", {"module.fifo": 8192}),  # type: ignore[dict-item]
            'module.fifo: expected texts such as "32 KiB", with their units, not 8192',
        ),
        (
            lambda: api.sweep("sfp-mismatch", ["module.fifo"]),  # type: ignore[arg-type]
            'vary: expected a mapping such as {"module.fifo": ["8 KiB", "16 KiB"]}, not [\'module.fifo\']',
        ),
        (
            lambda: api.sweep("sfp-mismatch", {"module.fifo": "8 KiB"}, seeds=20),  # type: ignore[arg-type]
            "seeds 20: expected several, such as range(1, 21)",
        ),
        (
            lambda: api.run("sfp-mismatch", ["module.fifo"]),  # type: ignore[arg-type]
            'settings: expected a mapping such as {"module.fifo": "32 KiB"}, not [\'module.fifo\']',
        ),
        (
            lambda: api.run("sfp-mismatch", {1: "8 KiB"}),  # type: ignore[dict-item]
            "settings: expected the name of a setting, such as module.fifo, not 1",
        ),
        (lambda: api.run("sfp-mismatch", kernel="nope"), "nope: no such file"),
        (
            lambda: api.run("sfp-mismatch", kernel=7),  # type: ignore[arg-type]
            "kernel 7: expected a path or a name",
        ),
    ],
)
def test_bad_input_is_refused_before_anything_runs(call: Any, message: str) -> None:  # noqa: ANN401 - a call
    """With the key and the nearest right word, as in a scenario; nothing of it names a command's option."""
    with pytest.raises(InputError) as caught:
        call()
    assert str(caught.value) == message


def test_a_setting_that_does_not_fit_is_named() -> None:
    """The unit is missing, or no frame fits into what is left."""
    for value, words in (("32", "32"), ("1 KiB", "does not hold one frame")):
        with pytest.raises(InputError, match=r"^module\.fifo.*" + words):
            api.run("sfp-mismatch", {"module.fifo": value})


@pytest.fixture
def known(tmp_path: Path) -> Result:
    """A result that was measured."""
    return read_result(plan(), recording().write(tmp_path / "raw"))


def test_a_flow_is_also_a_series(known: Result) -> None:
    """Its course as pandas has it, by the second at which each interval begins; its figures as they were."""
    flow = Flow.of(known.flows["download"])
    assert flow.intervals.to_list() == list(known.flows["download"].intervals_bps)
    assert (flow.intervals.index[0], flow.intervals.index.name) == (0, "from_s")
    assert flow.rtt_us is flow.rtt is known.flows["download"].rtt


def test_samples_are_a_table(known: Result) -> None:
    """A column for each figure of a port, by its label, and of a flow while its connection stands."""
    frame = sample_frame(plan(), known.samples)
    assert len(frame) == len(known.samples)
    waiting = frame["module.line.queue_bytes"].to_dict()
    assert (waiting[0.5], waiting[4.5]) == (0, 15_140)
    running = frame["download.cwnd_segments"].dropna()
    assert (running.index.min(), set(running)) == (4.0, {42})


def frames_of(folder: Path, *entries: bytes) -> Any:  # noqa: ANN401 - a table
    """The table of a record of the port m."""
    named = entry(Kind.PORT, b"m".ljust(16, b"\0"), port=1)
    path = folder / "record.bin"
    path.write_bytes(MAGIC + named + b"".join(entries))
    return frame_table(read_record(path), {"m": port("m", "module", "module")}, READY_NS)


def test_frames_are_a_table(tmp_path: Path) -> None:
    """Of one port in the order of time: sent, received, dropped and why; what a frame has not is not 0."""
    head = bytes(6) + bytes.fromhex("020000000001") + (0x88CC).to_bytes(2)
    known = [entry(Kind.FRAME, struct.pack("<II", 60, 14) + head, frame=number) for number in (7, 8, 9)]
    at_ps = [(READY_NS + after_ns) * 1000 for after_ns in (-5, 1_500, 2_500, 3_500)]
    frame = frames_of(
        tmp_path,
        *known,
        entry(Kind.ARRIVED, frame=9, port=1, at_ps=at_ps[0]),
        entry(Kind.SENT, struct.pack("<QII", 0, 0, 0), frame=7, port=1, at_ps=at_ps[1]),
        entry(Kind.DROPPED, struct.pack("<IIQ", 0x10000, 15_140, 16_384), frame=8, port=1, at_ps=at_ps[2]),
        entry(Kind.ARRIVED, frame=9, port=1, at_ps=at_ps[3]),
        entry(Kind.ARRIVED, frame=9, port=0, at_ps=at_ps[3]),
    )
    assert frame[["at_ns", "port", "what", "frame", "why"]].values.tolist() == [
        [1_500, "module", "sent", 7, ""],
        [2_500, "module", "dropped", 8, "FIFO 16 KiB full, 15 140 B waiting"],
        [3_500, "module", "received", 9, ""],
    ]
    assert set(frame["source"]) == {"02:00:00:00:00:01"}
    assert frame["source_port"].isna().all()
    nothing = frames_of(tmp_path)
    assert (len(nothing), *nothing.columns) == (0, *frame.columns)
    assert nothing.dtypes["at_ns"] == frame.dtypes["at_ns"]


def test_a_record_that_was_cut_is_no_table(tmp_path: Path) -> None:
    """Who counts its frames would count too few."""
    with pytest.raises(InputError, match=r"as long as it may be at 0\.002000 s: ask for less"):
        frames_of(tmp_path, entry(Kind.END, at_ps=(READY_NS + 2_000_000) * 1000))


def test_a_window_may_leave_the_port_to_the_call() -> None:
    """`first drop` is that of the port which is asked about; all else is as for `wirelab capture`."""
    assert window_at("module.line", "first drop ± 1 ms") == "first module.line.drops ± 1 ms"
    assert window_at("module.line", " first  drop +-20us") == "first module.line.drops +-20us"
    for window in ("12.9s..13.1s", "all", "first switch.p1.drops +-1 ms", "first drop", "nonsense"):
        assert window_at("module.line", window) == window


def test_the_panel_of_a_notebook_is_text(tmp_path: Path) -> None:
    """Flows, checks and verdict; what comes from files stays text."""
    variant = judge(Trial(plan(), ()), recording().write(tmp_path / "raw"))
    panel = run_panel("<script>alert(1)</script>", 1, {"module.fifo": "<b>"}, variant)
    assert "<script" not in panel
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in panel
    assert "module.fifo &lt;b&gt;" in panel
    assert "server → client" in panel
    assert variant.digest is not None
    assert variant.digest[:12] in panel


def test_an_import_is_quick() -> None:
    """The package alone imports next to nothing; what runs need comes when one is asked for, pandas later."""
    script = (
        "import json, sys, wirelab\n"
        f"heavy = {HEAVY!r}\n"
        "before = [name for name in heavy if name in sys.modules]\n"
        "listed = set(wirelab._API) <= set(dir(wirelab))\n"
        "wirelab.run\n"
        "print(json.dumps([before, listed, 'wirelab.api' in sys.modules, 'pandas' in sys.modules]))\n"
    )
    done = subprocess.run(  # noqa: S603 - the script above
        [sys.executable, "-c", script],
        env={"PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == [[], True, True, False]


def test_without_pandas_a_table_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """And how to have it; nothing else needs it."""
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(LabError, match="tables are pandas', which is not installed") as caught:
        pandas()
    assert caught.value.hint == "pip install 'wirelab[notebook]'"
    assert api.InputError is InputError


def test_type_checkers_see_what_is_there() -> None:
    """The stub, the list of the package and that of `wirelab.api` have the same names; types are shipped."""
    stub = Path(SOURCE, "wirelab", "__init__.pyi")
    tree = ast.parse(stub.read_text(encoding="utf-8"))
    imported = {
        alias.asname for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    assert imported == {*api.__all__} == {*package._API}  # type: ignore[attr-defined]  # noqa: SLF001 - the point
    assert all(getattr(package, name) is getattr(api, name) for name in api.__all__)
    assert stub.with_name("py.typed").is_file()
    with pytest.raises(AttributeError, match="module 'wirelab' has no attribute 'runn'"):
        getattr(package, "runn")  # noqa: B009 - type checkers know that it is not there


def test_the_reference_has_every_public_name() -> None:
    """Functions, members of a run and a flow, fields of records; no type is told by its checks."""
    page = reference()
    of_all = [(of.__name__, *member) for of in (api.Run, Flow) for member in members(of)]
    own = [f"{of}.{name}" for of, name, it in of_all if not isinstance(it, property)]
    names = [name for _, name, it in of_all if isinstance(it, property)]
    assert {"Run.flow", "Run.frames"} < {*own}
    assert [name for name in own if f"### {name}\n" not in page] == []
    assert [name for name in names if f"| `{name}` |" not in page] == []
    assert [name for name in api.__all__ if name not in page] == []
    assert "Annotated" not in page
