"""What `make test-peers` makes of scripts of others; that needs no lab."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.peers import exceptions, kept, mininet, packetdrill, selftests
from tests.peers.case import (
    FAILED,
    HUNG,
    ONE_BY_ONE,
    PASSED,
    SKIPPED,
    Batch,
    Case,
    Ended,
    Outcome,
    one_by_one,
)

if TYPE_CHECKING:
    from pathlib import Path

KEPT = """
suite:
  - {scripts: "slow.*", are: hung, why: it waits for a switch}
"""

TESTS = """
import unittest

class Common(object):
    def testPing(self): ...
    def helper(self): ...

class Kernel(Common, unittest.TestCase):
    def testPing(self): ...
    def testLink(self): ...
"""


def test_every_exception_has_its_reason() -> None:
    """The list that is kept can be read, and is about the suites that there are."""
    for suite in (*mininet.SUITES, packetdrill.SUITE, selftests.SUITE):
        assert all(one.why for one in exceptions.of(suite))


@pytest.mark.parametrize(
    "fields", ["are: passed, why: it does", "are: broken, why: so", "are: hung, why: ' '"]
)
def test_an_exception_without_reason_is_refused(fields: str) -> None:
    """It says how a script ends that does not pass, and why."""
    with pytest.raises(ValueError, match=r"suite: slow\.\*"):
        exceptions.of("suite", f"suite: [{{scripts: slow.*, {fields}}}]")


def test_what_is_worse_is_unexpected_and_what_is_better_is_told() -> None:
    """Red is what ends otherwise than its exception says, or fails without one; passing is never red."""
    kept = exceptions.of("suite", KEPT)
    expected = exceptions.compared({"slow.a": Outcome(HUNG), "b": Outcome(PASSED)}, kept, is_whole=True)
    assert expected == exceptions.Comparison((), ())
    worse = exceptions.compared({"slow.a": Outcome(FAILED, "x"), "b": Outcome(HUNG)}, kept, is_whole=True)
    assert worse.unexpected == ("slow.a: failed, and not hung: x", "b: hung, and not passed: ")
    better = exceptions.compared({"slow.a": Outcome(PASSED)}, kept, is_whole=True)
    assert better.unexpected == ()
    assert better.better == ("slow.a: passes, and not hung: it waits for a switch",)


def test_an_exception_for_nothing_is_told() -> None:
    """Of a whole suite: a part of one leaves scripts out."""
    kept = exceptions.of("suite", KEPT)
    assert exceptions.compared({}, kept, is_whole=True).better == ("slow.*: no script is called so",)
    assert exceptions.compared({}, kept, is_whole=False).better == ()


def test_a_table_has_counts_and_reasons() -> None:
    """A line for the suite, one for each script that does not pass."""
    found = {"a": Outcome(PASSED), "slow.b": Outcome(HUNG), "c": Outcome(FAILED, "no route")}
    assert exceptions.table("suite", found, exceptions.of("suite", KEPT)) == [
        "suite: 1 passed, 1 failed, 0 skipped, 1 hung, of 3",
        "  hung    slow.b: it waits for a switch",
        "  failed  c: NOT EXPECTED: no route",
    ]


def test_tests_are_named_as_unittest_names_them(tmp_path: Path) -> None:
    """Those that a class inherits from one of its own file too, and each once."""
    file = tmp_path / "test_x.py"
    file.write_text(TESTS)
    assert list(mininet.names(file)) == ["test_x.Kernel.testPing", "test_x.Kernel.testLink"]


@pytest.mark.parametrize(
    ("printed", "code", "outcome"),
    [
        ("testA ... ok\n\nRan 1 test in 0.1s\n\nOK\n", 0, Outcome(PASSED)),
        (
            "testA (x)\nNets ... skipped 'no IVS'\n\nRan 1 test\n\nOK (skipped=1)\n",
            0,
            Outcome(SKIPPED, "no IVS"),
        ),
        (
            "Traceback\nAssertionError: 3 != 2\n\nRan 1 test\n\nFAILED\n",
            1,
            Outcome(FAILED, "AssertionError: 3 != 2"),
        ),
        (
            "wirelab exec: python3: not found in the lab\n",
            127,
            Outcome(FAILED, "wirelab exec: python3: not found in the lab"),
        ),
    ],
)
def test_what_unittest_says_of_a_test(printed: str, code: int, outcome: Outcome) -> None:
    """Passed is only what says OK and nothing of skipping."""
    assert mininet.outcome(Ended(code, printed)) == outcome


def test_what_the_runner_of_packetdrill_says() -> None:
    """It passes by all versions of IP, or fails by those that are named."""
    passed = Ended(0, "TAP version 13\n1..2\nok 1 ipv4\nok 2 ipv6\n")
    assert packetdrill.outcome(passed) == Outcome(PASSED)
    failed = Ended(1, "1..2\nx.pkt:7: error handling packet\nok 1 ipv4\nnot ok 2 ipv6\n")
    assert packetdrill.outcome(failed) == Outcome(FAILED, "ipv6: x.pkt:7: error handling packet")
    assert packetdrill.outcome(Ended(4, "1..0 # SKIP no packetdrill")).what == SKIPPED


@pytest.mark.parametrize(
    ("printed", "outcome"),
    [
        ("1..1\n# PING ok\nok 1 selftests: net: a.sh\n# Totals: pass:1\n", Outcome(PASSED)),
        (
            "1..1\n# SKIP: no jq\nok 1 selftests: net: a.sh # SKIP\n# 1 skipped\n",
            Outcome(SKIPPED, "SKIP: no jq"),
        ),
        (
            "1..1\n# no route\nnot ok 1 selftests: net: a.sh # exit=1\n# Totals: fail:1\n",
            Outcome(FAILED, "no route"),
        ),
        ("# not ok 1 inner\nok 1 selftests: net: a # SKIP\n", Outcome(SKIPPED, "not ok 1 inner")),
        ("mount: not permitted\n", Outcome(FAILED, "mount: not permitted")),
    ],
)
def test_what_the_runner_of_selftests_says(printed: str, outcome: Outcome) -> None:
    """Its line for the one program counts, and none of that program itself, which has a mark before it."""
    assert selftests.outcome(Ended(0, printed)) == outcome


def test_modules_are_known_by_the_option_they_are_built_with(tmp_path: Path) -> None:
    """Continued lines too; folders and what is always built are none, and tools/ is another program's."""
    for folder in ("net/ipv4", "tools/net"):
        (tmp_path / folder).mkdir(parents=True)
        lines = "obj-y := x.o\nobj-$(CONFIG_FOU) += fou.o sub/ \\\n\tmore.o\nobj-$(CONFIG_B)  = b.o\n"
        (tmp_path / folder / "Makefile").write_text(lines)
    assert sorted(selftests.modules(tmp_path)) == [
        "CONFIG_B kernel/net/ipv4/b.ko",
        "CONFIG_FOU kernel/net/ipv4/fou.ko",
        "CONFIG_FOU kernel/net/ipv4/more.ko",
    ]


def test_each_script_of_a_batch_ends_by_itself() -> None:
    """Its exit code and what it prints are its own, and those after one that fails run, too."""
    scripts = [["sh", "-c", "echo a; exit 3"], ["sh", "-c", "printf '\\377' >&2"]]
    argv = [sys.executable, "-c", ONE_BY_ONE, json.dumps(scripts)]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)  # noqa: S603 - the scripts above
    assert one_by_one("the lab's own words\n" + done.stdout) == [Ended(3, "a\n\n"), Ended(0, "\n\ufffd")]


def test_a_run_that_is_kept_takes_the_place_of_its_suites_alone(tmp_path: Path) -> None:
    """What is read is what was kept last; another suite's stays."""
    file = tmp_path / "peers.json"
    assert kept.runs(file) == {}
    first, second = (
        kept.Run("7.2.1", "2026-11-01", 1, {"a": FAILED}),
        kept.Run("7.2.2", "2026-11-02", 1, {"a": PASSED}),
    )
    for suite, run in (("one", first), ("two", first), ("one", second)):
        assert kept.keep(suite, run, file)
    assert kept.runs(file) == {"one": second, "two": first}


def test_a_suite_is_run_in_parts(tmp_path: Path) -> None:
    """Each takes the place of what was kept of its scripts by the same kernel; no part replaces a whole."""
    file = tmp_path / "peers.json"
    parts = (
        kept.Run("7.2.1", "2026-11-01", 2, {"a": HUNG}),
        kept.Run("7.2.1", "2026-11-02", 2, {"b": PASSED}),
        kept.Run("7.2.1", "2026-11-03", 2, {"a": PASSED}),
    )
    whole = []
    for part in parts:
        assert kept.keep("one", part, file)
        whole.append(kept.runs(file)["one"].is_whole)
    assert whole == [False, True, True]
    assert kept.runs(file)["one"] == kept.Run("7.2.1", "2026-11-03", 2, {"a": PASSED, "b": PASSED})
    assert not kept.keep("one", kept.Run("7.2.2", "2026-11-04", 2, {"a": FAILED}), file)
    assert kept.runs(file)["one"].kernel == "7.2.1"


def test_what_became_of_each_is_kept_as_soon_as_it_is_known(tmp_path: Path) -> None:
    """Who is interrupted loses what was under way alone."""
    file = tmp_path / "peers.json"
    keeping = kept.Keeping("one", "7.2.1", 3, file)
    a, b, c = (Case(name, tmp_path, (name,), selftests.outcome) for name in "abc")
    keeping.add(Batch([a]), [Outcome(PASSED)])
    assert kept.runs(file)["one"].became == {"a": PASSED}
    keeping.add(Batch([b, c]), [Outcome(FAILED), Outcome(PASSED)])
    assert kept.runs(file)["one"].became == {"a": PASSED, "b": FAILED, "c": PASSED}
    assert keeping.is_kept


@pytest.mark.parametrize("suite", [*mininet.SUITES, packetdrill.SUITE])
def test_the_list_of_exceptions_is_what_the_last_run_gave(suite: str) -> None:
    """No more and no less: a script that passes has none, and each is about one that there is."""
    found = kept.runs()[suite].outcomes()
    assert exceptions.compared(found, exceptions.of(suite), is_whole=True) == exceptions.Comparison((), ())
