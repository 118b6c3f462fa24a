"""Labs whose wall time is taken, and the Plans that they are given."""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from wirelab.lab.command import run_command
from wirelab.lab.machine import Machine, guest_folder
from wirelab.model.experiment import load
from wirelab.plan.build import build_plan

if TYPE_CHECKING:
    from memory import PeakMemory

    from wirelab.lab.recording import Moments, Recording
    from wirelab.lab.select import Lab
    from wirelab.plan.types import Plan

NS_PER_S = 1_000_000_000
SHORT_S, LONG_S = 1, 6


class Labs:
    """Runs Plans on one CPU of this machine and takes their times."""

    def __init__(self, lab: Lab, folder: Path, cpu: int) -> None:
        self._lab = lab
        self._folder = folder
        self._cpu = cpu

    def processor_s(self, plan: Plan, recording: Recording | Moments | None = None) -> float:
        """What the lab takes of a processor for a Plan: other work on this machine is no part of it."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.wall_s(plan, recording=recording)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime

    def wall_s(
        self, plan: Plan, memory: PeakMemory | None = None, recording: Recording | Moments | None = None
    ) -> float:
        """How long the lab takes for a Plan, from switching on to switching off."""
        folder = guest_folder(self._folder, "lab")
        (folder / "plan" / "plan.json").write_text(plan.to_json())
        with Machine(
            self._lab.kernel,
            self._lab.root,
            folder,
            seed=plan.seed,
            cpu=self._cpu,
            memory_bytes=plan.memory_bytes,
            recording=recording,
        ) as machine:
            machine.wait(plan.wall_limit_s, on_poll=memory)
            return machine.wall_s()

    @property
    def raw(self) -> Path:
        """What the last Plan has left."""
        return self._folder / "lab" / "results"

    def wall_per_virtual(self, plan: Plan) -> float:
        """What a virtual second of a Plan's traffic takes."""
        short_s, long_s = (self.wall_s(lasting(plan, seconds)) for seconds in (SHORT_S, LONG_S))
        return (long_s - short_s) / (LONG_S - SHORT_S)

    def command_s(self, script: Path, *argv: str) -> float:
        """How long a Python script takes in a lab of its own."""
        return self._command_s("python3", "-B", script.name, *argv, work=script.parent)

    def boot_s(self) -> float:
        """How long a command in a lab of its own takes that does nothing."""
        return self._command_s("true", work=self._folder)

    def _command_s(self, *argv: str, work: Path) -> float:
        folder = Path(tempfile.mkdtemp(dir=self._folder))
        start_s = time.monotonic()
        with (folder / "out").open("wb") as out:
            code = run_command(
                argv,
                self._lab,
                folder,
                work=work,
                writable=(),
                seed=1,
                cpu=self._cpu,
                wall_limit_s=600,
                stdout=out,
                stderr=out,
            )
        if code != 0:
            sys.exit(f"{' '.join(argv)}: exit {code}: {(folder / 'out').read_text()}")
        return time.monotonic() - start_s


def scenario_plan(name: str, flow: str | None = None, case: str = "main") -> Plan:
    """A case of a shipped scenario, with all its flows or with only one."""
    experiment = load(name, Path.cwd())
    plan = build_plan(experiment, experiment.case(case), 1)
    kept = [candidate for candidate in plan.traffic if flow in (None, candidate.name)]
    return replace(plan, traffic=tuple(kept))


def lasting(plan: Plan, seconds: int) -> Plan:
    """The same Plan, its flows so long and from the first second on."""
    flows = (replace(flow, start_ns=NS_PER_S, duration_ns=seconds * NS_PER_S) for flow in plan.flows)
    return replace(plan, traffic=tuple(flows))
