"""How the host runs a lab changes nothing of what it measures: stopped and continued, or by ptrace(2)."""

from __future__ import annotations

import shlex
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.lab.processes import Stops
from tests.lab.rig import GBPS, Rig, drawn, flow, host_port, plan
from wirelab.plan.types import Cable
from wirelab.results.result import read_result

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from wirelab.lab.select import Lab

PLAN = plan(
    [host_port("left", 1, GBPS), host_port("right", 2, GBPS)],
    [Cable("left-eth0", "right-eth0", 25)],
    # Long enough on a fast host, too: the lab is stopped at every look, fifty times a second.
    [flow("only", "left", "right", 1, 5)],
)
STOPS = 20


def outcome(rig: Rig, on_poll: Callable[[Path], None] | None = None) -> tuple[str, str]:
    """The digest of PLAN, carried out once, and what iperf3 drew from the lab's random numbers."""
    raw = rig.run(PLAN, on_poll=on_poll)
    return read_result(PLAN, raw).digest, drawn(PLAN, raw)


@pytest.fixture
def traced(rig: Rig, tmp_path: Path) -> Rig:
    """The same lab as on a host without seccomp: its kernel runs its processes by ptrace(2)."""
    if "seccomp=" not in _help(rig.lab):
        pytest.skip("this kernel knows ptrace only")
    kernel = tmp_path / "traced"
    kernel.write_text(f'#!/bin/sh\nexec {shlex.quote(str(rig.lab.kernel))} "$@" seccomp=off\n')
    kernel.chmod(0o755)
    folder = tmp_path / "of-traced"
    folder.mkdir()
    return Rig(replace(rig.lab, kernel=kernel, entries=()), folder, cpu=rig.cpu)


def _help(lab: Lab) -> str:
    return subprocess.run([lab.kernel, "--help"], capture_output=True, text=True, check=False).stdout


def test_a_lab_that_is_stopped_for_a_while_measures_the_same(rig: Rig) -> None:
    """SIGSTOP and SIGCONT to all its processes, again and again."""
    stops = Stops(STOPS)
    assert outcome(rig, stops) == outcome(rig)
    assert stops.count == STOPS


def test_a_lab_without_seccomp_measures_the_same(rig: Rig, traced: Rig) -> None:
    """Also when it is stopped, which ptrace(2) tells it of."""
    stops = Stops(STOPS)
    assert outcome(traced, stops) == outcome(traced) == outcome(rig)
    assert stops.count == STOPS
