"""How the host runs a lab changes nothing of what it measures: stopped and continued, or by ptrace(2)."""

from __future__ import annotations

import shlex
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.lab.processes import Stops
from tests.lab.rig import GBPS, Rig, flow, host_port, plan
from wirelab.plan.types import Cable
from wirelab.results.result import read_result

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from wirelab.lab.select import Lab

# iperf3 draws a random cookie for each flow, which is in the digest.
PLAN = plan(
    [host_port("left", 1, GBPS), host_port("right", 2, GBPS)],
    [Cable("left-eth0", "right-eth0", 25)],
    [flow("only", "left", "right", 1, 1)],
)
STOPS = 20


def digest(rig: Rig, on_poll: Callable[[Path], None] | None = None) -> str:
    """That of PLAN, carried out once."""
    return read_result(PLAN, rig.run(PLAN, on_poll=on_poll)).digest


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
    assert digest(rig, stops) == digest(rig)
    assert stops.count == STOPS


def test_a_lab_without_seccomp_measures_the_same(rig: Rig, traced: Rig) -> None:
    """Also when it is stopped, which ptrace(2) tells it of."""
    stops = Stops(STOPS)
    assert digest(traced, stops) == digest(traced) == digest(rig)
    assert stops.count == STOPS
