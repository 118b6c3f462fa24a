"""result.json: written and read by one model, and checked like any other input."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pages import FEW, JOB, LOSSY, judged
from recorded import plan
from standin import Wirelab, results_in

from wirelab.errors import LabError
from wirelab.report.junit import junit
from wirelab.results.values import printable
from wirelab.runner.run_result import LIMIT_BYTES, RunResult, VariantResult, parse_run, read_run
from wirelab.runner.store import RESULT
from wirelab.verdict.checks import broken_lab

if TYPE_CHECKING:
    from pathlib import Path

HIDDEN = "\x1b[31m \x00 \x9b \u202e \ufffe \uffff"


@pytest.fixture
def run(tmp_path: Path) -> RunResult:
    """A run of two variants and a control."""
    variants = [judged(tmp_path / name, LOSSY) for name in ("a", "b")]
    return JOB.result([*variants, judged(tmp_path / "c", FEW, breaks=FEW.name)], 12.3456)


def test_what_is_written_is_read_again(run: RunResult) -> None:
    """To the last figure, but for what is rounded when it is written; then text and run are the same."""
    text = run.to_json()
    again = parse_run(text.encode())
    assert again.to_json() == text
    assert (again.verdict, again.digest, again.wall_s) == (run.verdict, run.digest, 12.346)
    assert [variant.checks for variant in again.variants] == [variant.checks for variant in run.variants]
    assert again.variants[0].ports == run.variants[0].ports
    assert again.variants[0].evidence is None


def test_what_a_newer_one_says_besides_is_left_alone(run: RunResult) -> None:
    """A result is read by older programs as well; what an older one did not say yet is not missed."""
    document = json.loads(run.to_json())
    document["variants"][0]["ports"]["client"]["temperature_c"] = 46
    del document["story"], document["variants"][0]["flows"][0]["path_bps"]
    assert parse_run(json.dumps(document).encode()).variants[0].flows[0].path_bps is None


def changed(document: Any, path: tuple[str | int, ...], value: object) -> bytes:  # noqa: ANN401 - JSON
    """The JSON with another value at one place."""
    target = document
    for step in path[:-1]:
        target = target[step]
    target[path[-1]] = value
    return json.dumps(document).encode()


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("scenario",), "../../x", r"scenario: `\.\./\.\./x` is not a name"),
        (("scenario",), "\x1b[31mred", r"scenario: `\N{REPLACEMENT CHARACTER}\[31mred` is not a name"),
        (("schema",), 2, "schema: Input should be 1"),
        (("verdict",), "fine", "verdict: Input should be 'pass', 'skip', 'fail' or 'error'"),
        (("seed",), -1, "seed: Input should be greater than or equal to 0"),
        (("wall_s",), float("nan"), "wall_s: Input should be a finite number"),
        (("virtual_s",), 1e300, "virtual_s: Input should be less than"),
        (("digest",), "0123", "digest: String should match"),
        (("kernel",), "7.2\x07", r"kernel: has the character U\+0007 in it"),
        (("variants",), None, "variants: Input should be a valid"),
        (("measured",), ["x"] * 10_001, "measured: Tuple should have at most 10000 items"),
        (("variants", 0, "name"), "a/b", r"variants\[0\]\.name: `a/b` is not a name"),
        (("variants", 0, "evidence"), {}, r"variants\[0\]\.evidence: Input should be null"),
        (("variants", 0, "flows", 0, "from"), "Client", r"variants\[0\]\.flows\[0\]\.from: `Client`"),
        (("variants", 0, "flows", 0, "goodput_bps"), -1, r"flows\[0\]\.goodput_bps: Input should be greater"),
        (("variants", 0, "flows", 0, "retransmits"), 1.5, r"flows\[0\]\.retransmits: "),
        (
            ("variants", 0, "ports"),
            {"../x": {}},
            r"variants\[0\]\.ports\.\.\./x\.\[key\]: String",
        ),
        (
            ("variants", 0, "checks", 0, "explanation"),
            "\u202etxt.exe",
            r"has the character U\+202E",
        ),
        (("variants", 0, "checks", 0, "why"), "x" * 100_001, "why: String should have at most 100000"),
    ],
)
def test_a_bad_field_is_named(
    run: RunResult, path: tuple[str | int, ...], value: object, message: str
) -> None:
    """Names are names, texts have nothing hidden in them, numbers are finite, lists have an end."""
    with pytest.raises(ValueError, match=message):
        parse_run(changed(json.loads(run.to_json()), path, value))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe",
        b'{"scenario": "\\ud800"}',
        b"[" * 100_000,
        b" " * (LIMIT_BYTES + 1),
    ],
    ids=["empty", "half", "list", "null", "noise", "surrogate", "deep", "long"],
)
def test_what_is_no_result_is_refused(content: bytes, tmp_path: Path) -> None:
    """With the name of the file and what to do."""
    path = tmp_path / RESULT
    path.write_bytes(content)
    with pytest.raises(LabError, match=rf"^{re.escape(str(path))}: not a whole result: ") as caught:
        read_run(path)
    assert caught.value.hint == f"remove {tmp_path}, and run the scenario again"


@given(st.text())
def test_a_printable_text_stays_as_it_is(text: str) -> None:
    """What was replaced once need not be again; its length is the same, so that a place in it is too."""
    assert printable(printable(text)) == printable(text)
    assert len(printable(text)) == len(text)


def test_last_words_of_any_kind_are_kept_and_read() -> None:
    """What a dying lab says is written so that it can be read again, and shown where XML is read."""
    broken = broken_lab(LabError(f"panic {HIDDEN} \ud800", hint=f"line\n\t{HIDDEN}"))
    run = JOB.result([VariantResult.of(plan(), None, (broken,))], 1.0)
    (check,) = parse_run(run.to_json().encode()).variants[0].checks
    assert check == broken
    assert check.explanation is not None
    assert check.explanation.startswith("panic \N{REPLACEMENT CHARACTER}[31m ")
    root = ET.fromstring(junit([run]))  # noqa: S314 - our own
    error = root.find("testsuite/testcase/error")
    assert error is not None
    assert error.get("message") == f"lab: {check.explanation}"
    assert "\n" in str(error.text)


def test_nothing_of_a_result_reaches_the_terminal_unchecked(tmp_path: Path) -> None:
    """A summary of a result that somebody has made up says which field is wrong."""
    wirelab = Wirelab.make(tmp_path)
    assert wirelab.run("lossy.yaml")[0] == 0
    (result,) = results_in(wirelab.results)
    document = json.loads((result / RESULT).read_text(encoding="utf-8"))
    for name in ("../../x", "\x1b]0;title\x07"):
        (result / RESULT).write_text(json.dumps(document | {"scenario": name}), encoding="utf-8")
        code, out, err = wirelab("summary", str(result))
        assert (code, out) == (4, "")
        assert err.startswith(f"error: {result / RESULT}: not a whole result: scenario: `")
        assert "\x1b" not in err
