"""Every shipped scenario passes, and gives the same bytes wherever and however it is run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.lab.elsewhere import digest_elsewhere
from wirelab.model.experiment import load
from wirelab.plan.build import build_plan
from wirelab.result import read_result

if TYPE_CHECKING:
    from tests.lab.rig import Rig
    from wirelab.lab.select import Lab
    from wirelab.plan.types import Plan

SCENARIOS = sorted(path.stem for path in (Path(__file__).parents[2] / "scenarios").glob("*.yaml"))
SEED = 1


def run(name: str, lab: Lab, out: Path, cpu: int) -> tuple[int, dict[str, Any]]:
    """`wirelab run` as a user has it: the exit code and result.json."""
    argv = [
        sys.executable,
        "-m",
        "wirelab",
        "run",
        name,
        "--json",
        "--no-cache",
        "--seed",
        str(SEED),
        "--out",
        str(out),
    ]
    argv += ["--cpu", str(cpu), "--kernel", str(lab.kernel), "--root", str(lab.root)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def main_plan(name: str) -> Plan:
    """The Plan of a scenario's first variant."""
    experiment = load(name, Path.cwd())
    return build_plan(experiment, experiment.cases[0], SEED)


@pytest.mark.parametrize("name", SCENARIOS)
def test_scenario_passes_and_repeats_to_the_byte(name: str, rig: Rig, tmp_path: Path) -> None:
    """A scenario passes with its controls; elsewhere it gives the same digest.

    Elsewhere: on another CPU, with all CPUs busy, from a kernel, a root and a wirelab copied to another
    folder, as another user, in another environment.
    """
    code, document = run(name, rig.lab, tmp_path / "results", rig.cpu)
    failed = [each["explanation"] for variant in document["variants"] for each in variant["checks"]]
    assert code == 0, failed
    cpus = sorted(os.sched_getaffinity(0))
    other_cpu = cpus[(cpus.index(rig.cpu) + 1) % len(cpus)]
    assert digest_elsewhere(main_plan(name), rig.lab, other_cpu) == document["variants"][0]["digest"]


def short_mismatch() -> Plan:
    """The download of sfp-mismatch, two seconds of it: thousands of losses to decide differently about."""
    plan = main_plan("sfp-mismatch")
    download = next(flow for flow in plan.flows if flow.name == "download")
    return replace(plan, flows=(replace(download, start_ns=0, duration_ns=2_000_000_000),))


def test_another_seed_is_another_run(rig: Rig) -> None:
    """The seed is what a run depends on: another one gives other bytes of the same network."""
    plan = short_mismatch()
    digests = {read_result(plan, rig.run(plan, seed=seed)).digest for seed in (1, 2, 3)}
    assert len(digests) == 3
