"""Scripts of others end as `exceptions.yaml` says: all pass but those, each of which has its reason."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatchcase
from itertools import chain
from queue import SimpleQueue
from typing import TYPE_CHECKING

import pytest

from tests.peers import exceptions, kept, mininet, packetdrill, selftests
from tests.peers.case import Batch
from tests.peers.conftest import KERNELS, TABLES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.peers.case import Case, Outcome


@pytest.mark.parametrize("suite", list(mininet.SUITES))
def test_mininet(suite: str, mininet_source: Path, lab: list[str], request: pytest.FixtureRequest) -> None:
    """Mininet's own tests, and those of its examples, in the larger root image."""
    _judge(suite, mininet.cases(suite, mininet_source), lab, request)


def test_packetdrill(
    packetdrill_scripts: Path, packetdrill_program: Path, full_lab: list[str], request: pytest.FixtureRequest
) -> None:
    """The kernel's own scripts of packetdrill."""
    cases = packetdrill.cases(packetdrill_scripts, packetdrill_program)
    _judge(packetdrill.SUITE, cases, full_lab, request, packetdrill.TOGETHER)


def test_selftests(selftests_folder: Path, full_lab: list[str], request: pytest.FixtureRequest) -> None:
    """The kernel's own tests of its network."""
    _judge(selftests.SUITE, selftests.cases(selftests_folder), full_lab, request)


def _judge(
    suite: str, cases: list[Case], lab: list[str], request: pytest.FixtureRequest, together: int = 1
) -> None:
    patterns, at_once = (request.config.getoption(name) for name in ("--script", "--at-once"))
    chosen = [case for case in cases if any(fnmatchcase(case.name, one) for one in patterns.split(","))]
    batches = [Batch(chosen[at : at + together]) for at in range(0, len(chosen), together)]
    keeping = None
    if request.config.getoption("--keep"):
        keeping = kept.Keeping(suite, request.config.stash[KERNELS][tuple(lab)], len(cases))
    found = _run(batches, lab, at_once or len(os.sched_getaffinity(0)), keeping)
    listed = exceptions.of(suite)
    compared = exceptions.compared(found, listed, is_whole=chosen == cases)
    told = [f"  better  {line}" for line in compared.better]
    request.config.stash[TABLES] += [*exceptions.table(suite, found, listed), *told]
    if keeping and not keeping.is_kept:
        request.config.stash[TABLES].append(f"{suite}: not kept: a whole run with another kernel is")
    assert not compared.unexpected, "\n".join(compared.unexpected)


def _run(
    batches: Sequence[Batch], lab: list[str], at_once: int, keeping: kept.Keeping | None
) -> dict[str, Outcome]:
    """Run each in a lab, so many at once, each on a CPU of its own as far as there are so many."""
    cpus: SimpleQueue[int] = SimpleQueue()
    available = sorted(os.sched_getaffinity(0))
    for number in range(at_once):
        cpus.put(available[number % len(available)])

    def run(batch: Batch) -> list[Outcome]:
        cpu = cpus.get()
        try:
            outcomes = batch.run(lab, cpu)
        finally:
            cpus.put(cpu)
        if keeping:
            keeping.add(batch, outcomes)
        return outcomes

    with ThreadPoolExecutor(at_once) as pool:
        names = [case.name for batch in batches for case in batch.cases]
        return dict(zip(names, chain.from_iterable(pool.map(run, batches)), strict=True))
