"""Scripts of others end as `exceptions.yaml` says: all pass but those, each of which has its reason."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatchcase
from queue import SimpleQueue
from typing import TYPE_CHECKING

import pytest

from tests.peers import exceptions, mininet, packetdrill, selftests
from tests.peers.conftest import TABLES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.peers.case import Case, Outcome


@pytest.mark.parametrize("suite", list(mininet.SUITES))
def test_mininet(suite: str, mininet_source: Path, lab: list[str], request: pytest.FixtureRequest) -> None:
    """Mininet's own tests, and those of its examples, in the larger root image."""
    _judge(suite, mininet.cases(suite, mininet_source), lab, request)


def test_packetdrill(
    packetdrill_scripts: Path, packetdrill_program: Path, lab: list[str], request: pytest.FixtureRequest
) -> None:
    """The kernel's own scripts of packetdrill."""
    cases = packetdrill.cases(packetdrill_scripts, packetdrill_program)
    _judge(packetdrill.SUITE, cases, lab, request)


def test_selftests(selftests_folder: Path, full_lab: list[str], request: pytest.FixtureRequest) -> None:
    """The kernel's own tests of its network."""
    _judge(selftests.SUITE, selftests.cases(selftests_folder), full_lab, request)


def _judge(suite: str, cases: list[Case], lab: list[str], request: pytest.FixtureRequest) -> None:
    pattern, at_once = (request.config.getoption(name) for name in ("--script", "--at-once"))
    chosen = [case for case in cases if fnmatchcase(case.name, pattern)]
    found = _run(chosen, lab, at_once or len(os.sched_getaffinity(0)))
    kept = exceptions.of(suite)
    compared = exceptions.compared(found, kept, is_whole=chosen == cases)
    told = [f"  better  {line}" for line in compared.better]
    request.config.stash[TABLES] += [*exceptions.table(suite, found, kept), *told]
    assert not compared.unexpected, "\n".join(compared.unexpected)


def _run(cases: Sequence[Case], lab: list[str], at_once: int) -> dict[str, Outcome]:
    """Run each, so many at once, each on a CPU of its own as far as there are so many."""
    cpus: SimpleQueue[int] = SimpleQueue()
    available = sorted(os.sched_getaffinity(0))
    for number in range(at_once):
        cpus.put(available[number % len(available)])

    def run(case: Case) -> Outcome:
        cpu = cpus.get()
        try:
            return case.run(lab, cpu)
        finally:
            cpus.put(cpu)

    with ThreadPoolExecutor(at_once) as pool:
        return dict(zip((case.name for case in cases), pool.map(run, cases), strict=True))
