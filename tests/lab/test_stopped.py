"""How the host runs a lab changes nothing of what it measures: stopped and continued, or by ptrace(2)."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from tests.lab.processes import Stops
from tests.lab.rig import GBPS, Rig, drawn, flow, host_port, plan
from wirelab.lab import machine
from wirelab.plan.types import Cable
from wirelab.results.result import read_result

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from wirelab.lab.select import Lab
    from wirelab.plan.types import Plan

PLAN = plan(
    [host_port("left", 1, GBPS), host_port("right", 2, GBPS)],
    [Cable("left-eth0", "right-eth0", 25)],
    # It computes for seconds, and twenty ticks of a host's clock are 0.2 s.
    [flow("only", "left", "right", 1, 10)],
)
STOPS = 20


def outcome(rig: Rig, on_poll: Callable[[Path], None] | None = None) -> tuple[str, str]:
    """The digest of PLAN, carried out once, and what iperf3 drew from the lab's random numbers."""
    raw = rig.run(PLAN, on_poll=on_poll)
    return read_result(PLAN, raw).digest, drawn(PLAN, raw)


class TracedRig(Rig):
    """The same lab as on a host without seccomp: its kernel runs its processes by ptrace(2)."""

    def run(self, plan: Plan, **options: Any) -> Path:  # noqa: ANN401 - those of any rig
        """Carry out ``plan`` so."""
        with pytest.MonkeyPatch.context() as patch:
            line = machine._COMMAND_LINE.replace("seccomp=auto", "seccomp=off")  # noqa: SLF001 - nobody else asks
            patch.setattr(machine, "_COMMAND_LINE", line)
            return super().run(plan, **options)


@pytest.fixture
def traced(rig: Rig, tmp_path: Path) -> Rig:
    """One that finds no seccomp."""
    if "seccomp=" not in _help(rig.lab):
        pytest.skip("this kernel knows ptrace only")
    folder = tmp_path / "of-traced"
    folder.mkdir()
    return TracedRig(rig.lab, folder, cpu=rig.cpu)


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
