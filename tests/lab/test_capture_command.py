"""``wirelab capture`` with a real lab: of a finished result, and in every form."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
from typer.testing import CliRunner

from docs.commands import EXAMPLES
from wirelab.cli.app import app
from wirelab.errors import InputError, LabError
from wirelab.runner.trial import LabTestbed

sys.path.append(str(Path(__file__).parents[1] / "unit"))
from browser import opened

if TYPE_CHECKING:
    from wirelab.lab.select import Lab

SLOW_LINK = EXAMPLES / "notebooks" / "slow-link.yaml"
SCHEMA = Path(__file__).parents[1] / "unit" / "data" / "qlog.schema.json"
WINDOW = ("--record", "first module.line.drops +-5ms")


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory, lab_options: list[str]) -> Path:
    """The folder of a finished run."""
    out = tmp_path_factory.mktemp("results")
    CliRunner().invoke(app, ["run", str(SLOW_LINK), "--out", str(out), "-q", *lab_options])
    return (out / "latest" / "slow-link").resolve()


def capture(*argv: str | Path) -> tuple[int, str]:
    """Its exit code and all that it says."""
    done = CliRunner().invoke(app, ["capture", *map(str, argv)])
    return done.exit_code, done.output + str(done.exception or "")


def document(result: Path) -> Any:  # noqa: ANN401 - a JSON document
    """The result.json."""
    return json.loads((result / "result.json").read_text(encoding="utf-8"))


def test_a_result_is_run_again_and_is_the_same(result: Path, tmp_path: Path, lab_options: list[str]) -> None:
    """By its folder and by its file: the digest is the result's, the capture that of the scenario."""
    digest = document(result)["variants"][0]["digest"]
    captures = []
    for source in (result, result / "result.json", SLOW_LINK):
        out = tmp_path / "out.pcapng"
        code, said = capture(source, "-o", out, *WINDOW, *lab_options)
        assert (code, f"digest {digest[:12]}" in said) == (0, True), said
        captures.append(out.read_bytes())
    assert captures[0] == captures[1] == captures[2]


def test_a_result_of_another_lab_is_refused(result: Path, tmp_path: Path, lab_options: list[str]) -> None:
    """It says with which it was measured, and nothing is written."""
    path, text = result / "result.json", (result / "result.json").read_text(encoding="utf-8")
    variant = document(result)["variants"][0]
    try:
        other = text.replace(variant["digest"], "0" * 64).replace(variant["kernel"], "6.1.999")
        path.write_text(other, encoding="utf-8")
        out = tmp_path / "out.pcapng"
        done = CliRunner().invoke(app, ["capture", str(result), "-o", str(out), *WINDOW, *lab_options])
    finally:
        path.write_text(text, encoding="utf-8")
    assert getattr(done.exception, "exit_code", None) == LabError.exit_code
    assert "is another run in this lab: its digest is" in str(done.exception)
    hint = str(getattr(done.exception, "hint", ""))
    assert "kernel 6.1.999" in hint
    assert "wirelab lab import" in hint
    assert list(tmp_path.iterdir()) == []


def test_qlog_tells_what_the_run_measured(result: Path, tmp_path: Path, lab_options: list[str]) -> None:
    """Its schema holds, and its last count of retransmissions is what iperf3 says of the flow."""
    out = tmp_path / "out.qlog"
    code, said = capture(result, "-o", out, *lab_options)
    assert code == 0, said
    qlog = json.loads(out.read_text(encoding="utf-8"))
    jsonschema.validate(qlog, json.loads(SCHEMA.read_text(encoding="utf-8")))
    sender = next(trace for trace in qlog["traces"] if trace["title"] == "download at server")
    told = [
        event["data"]["retransmissions"] for event in sender["events"] if "retransmissions" in event["data"]
    ]
    assert max(told) == document(result)["variants"][0]["flows"][0]["retransmits"]


def test_graphs_and_traces_are_written(result: Path, tmp_path: Path, lab_options: list[str]) -> None:
    """Four graphs in one page that needs nothing else; a trace of all ports and flows."""
    page = tmp_path / "out.html"
    assert capture(result, "-o", page, *WINDOW, *lab_options)[0] == 0
    text = page.read_text(encoding="utf-8")
    titles = ["Time-sequence", "Throughput", "Round-trip time", "Window"]
    assert re.findall(r"<figcaption><b>(.*?)</b>", text) == titles
    assert not re.search(r"(?:src|href)=|url\(", text)
    with opened(page, 390, 844) as shown:
        data = json.loads(shown.locator(".plots script").inner_text())
        (first, *_) = data["charts"]
        assert [spans["name"] for spans in first["spans"]] == [
            "sent",
            "selectively acknowledged (SACK)",
            "sent again",
        ]
        assert all(spans["size"] for spans in first["spans"])
        assert shown.locator(".drawn canvas").count() == 4
        assert shown.evaluate("document.documentElement.scrollWidth") == 390
    trace = tmp_path / "out.pftrace"
    assert capture(result, "-o", trace, *WINDOW, *lab_options)[0] == 0
    content = trace.read_bytes()
    assert all(label in content for label in (b"module.line", b"client", b"download at server"))


def test_what_cannot_be_is_refused(
    result: Path, lab_options: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """10 GB, an ending that nothing has, ports of what is no capture, a seed of a result, no such window.

    The exit code is that of bad input, and nothing is written.
    """
    monkeypatch.chdir(tmp_path)
    for argv, words in (
        (("-o", "x.pcapng", "--limit", "10 GB"), "a record has 1 MB to 4 GB"),
        (("-o", "x.pcapng", "--record", "100 s..101 s"), "is outside the run, which lasts"),
        (("-o", "x.pcapng", "--record", "2 s..1 s"), "it ends before it begins"),
        (("-o", "x.pcapng", "--record", "first module.lin.drops +-1ms"), "did you mean `module.line`?"),
        (("-o", "x.pcapng", "--record", "first client.drops +-1ms"), "client drops nothing in this run"),
        (("-o", "x.pcapng", "--port", "modul.line"), "did you mean `module.line`?"),
        (("-o", "x.pftrac"), "did you mean `.pftrace`?"),
        (("-o", "x.qlog", "--port", "client"), "--port is about captures"),
        (("-o", "x.qlog", "--seed", "2"), "a result has its own"),
        (("-o", "x.qlog", "--variant", "man"), "did you mean `main`?"),
    ):
        done = CliRunner().invoke(app, ["capture", str(result), *argv, *lab_options])
        assert words in str(done.exception)
        assert getattr(done.exception, "exit_code", None) == InputError.exit_code
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory, lab_options: list[str]) -> tuple[Path, str]:
    """The folder of a run whose frames were kept, and what the command said."""
    out = tmp_path_factory.mktemp("recorded")
    argv = ["run", str(SLOW_LINK), "--out", str(out), *WINDOW, "--no-pictures", *lab_options]
    done = CliRunner().invoke(app, argv)
    return (out / "latest" / "slow-link").resolve(), done.output


def test_a_run_keeps_its_frames(
    recorded: tuple[Path, str], tmp_path: Path, lab: Lab, lab_options: list[str]
) -> None:
    """They are seen from the result's folder alone, without a run, and are those of the run once more.

    Without a window it is all that was kept; what was not kept is recorded.
    """
    folder, said = recorded
    main = document(folder)["variants"][0]["name"]
    assert f"{main}/record.bin" in said.replace("\n", "")
    again, kept = tmp_path / "again.pcapng", tmp_path / "kept.pcapng"
    assert capture(SLOW_LINK, "-o", again, *WINDOW, *lab_options)[0] == 0
    nothing = tmp_path / "nothing"
    nothing.mkdir()
    by_files = [f"--kernel={lab.kernel}", f"--root={lab.root}"]
    for window in ((), WINDOW):
        with pytest.MonkeyPatch.context() as patch:
            # Neither what was measured before nor a lab at work is needed.
            patch.setenv("WIRELAB_CACHE", str(nothing))
            patch.setattr(LabTestbed, "run", None)
            code, told = capture(folder, "-o", kept, *window, *by_files)
        assert code == 0, told
        assert kept.read_bytes() == again.read_bytes()
    code, told = capture(folder, "-o", kept, "--record", "1.5 s..1.501 s", *lab_options)
    assert (code, "1.500000 to 1.501000 s" in told) == (0, True), told


def test_a_window_that_a_run_does_not_have_costs_no_result(tmp_path: Path, lab_options: list[str]) -> None:
    """It is bad input, and the result is whole; what is no window is said before anything runs."""
    argv = ["run", str(SLOW_LINK), "--out", str(tmp_path / "late"), "-q", *lab_options, "--record"]
    done = CliRunner().invoke(app, [*argv, "100 s..101 s"])
    assert getattr(done.exception, "exit_code", None) == InputError.exit_code
    assert "is outside the run" in str(done.exception)
    assert (tmp_path / "late" / "latest" / "slow-link" / "result.json").is_file()
    argv[3] = str(tmp_path / "none")
    for window in ("soon", "first nowhere.drops +-1ms"):
        done = CliRunner().invoke(app, [*argv, window])
        assert getattr(done.exception, "exit_code", None) == InputError.exit_code
    assert not (tmp_path / "none").exists()


def test_a_record_that_is_full_says_where_it_ends(
    result: Path, tmp_path: Path, lab_options: list[str]
) -> None:
    """The run is whole and so is the capture up to there."""
    out = tmp_path / "out.pcapng"
    code, said = capture(result, "-o", out, "--limit", "2 MB", *lab_options)
    assert code == 0, said
    assert re.search(r"as long as it may be at 1\.\d+ s and ends there: --limit is 2 MB", said)
    assert out.stat().st_size > 100_000


def test_a_full_disk_ends_the_record_and_not_the_run(tmp_path: Path, lab_options: list[str]) -> None:
    """The capture has what there was room for, and says where it ends; the run is the same."""
    disk = tmp_path / "disk"
    disk.mkdir()
    script = 'mount -t tmpfs -o size=100m none "$1" && export TMPDIR="$1" && shift && exec "$@"'
    out = tmp_path / "out.pcapng"
    argv = [sys.executable, "-m", "wirelab", "capture", str(SLOW_LINK), "-o", str(out), *lab_options]
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, "sh", str(disk), *argv],
        capture_output=True,
        text=True,
        check=False,
    )
    if "unshare" in done.stderr or "mount:" in done.stderr:
        pytest.skip(f"no disk of one's own here: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    assert re.search(r"as long as it may be at 1\.\d+ s and ends there", done.stderr)
    assert out.stat().st_size > 1_000_000
