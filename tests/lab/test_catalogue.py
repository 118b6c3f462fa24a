"""Every shipped scenario gives the same bytes wherever and however it is run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.lab.cover import covering
from tests.lab.elsewhere import Elsewhere
from tests.lab.rig import drawn
from wirelab.model.experiment import load
from wirelab.plan.build import build_plan
from wirelab.plan.traffic import Copy, Flow
from wirelab.results.result import read_result

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.lab.rig import Rig
    from wirelab.lab.select import Lab
    from wirelab.plan.traffic import Item
    from wirelab.plan.types import Plan

SCENARIOS = sorted(path.stem for path in (Path(__file__).parents[2] / "scenarios").glob("*.yaml"))
SEED = 1
SHORT_NS = 1_000_000_000
FEW_BYTES = 4_000_000
SHORT_BYTES = 1_000_000


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


def main_plan(name: str, variant: int = 0) -> Plan:
    """The Plan of a scenario's first variant, or another one."""
    experiment = load(name, Path.cwd())
    return build_plan(experiment, experiment.cases[variant], SEED)


def shortened(plan: Plan) -> Plan:
    """A second of what begins last in a Plan and of what is under way then, with its events in the middle."""
    last_ns = max((item.start_ns for item in plan.traffic), default=0)
    first_ns = min((event.at_ns for event in plan.events), default=0)
    return replace(
        plan,
        traffic=tuple(_short(item) for item in plan.traffic if item.end_ns > last_ns),
        events=tuple(
            replace(event, at_ns=event.at_ns - first_ns + SHORT_NS // 2)
            for event in plan.events
            if event.at_ns - first_ns < SHORT_NS // 2
        ),
    )


def few_frames(name: str, variant: int = 0) -> Plan:
    """A scenario's last flows with so little to send that single frames can be counted."""
    plan = shortened(main_plan(name, variant))
    return replace(plan, traffic=tuple(map(_few, plan.traffic)))


def _few(item: Item) -> Item:
    """A copy by way of the same ports: iperf3 looks too seldom whether it is done."""
    if not isinstance(item, Flow):
        return item
    names = (
        "name",
        "sender",
        "receiver",
        "start_ns",
        "duration_ns",
        "dscp",
        "port",
        "client_port",
        "congestion",
    )
    same = {name: getattr(item, name) for name in names}
    return Copy(**same, size_bytes=FEW_BYTES, block_bytes=FEW_BYTES)


def _short(item: Item) -> Item:
    shorter = replace(item, start_ns=0, duration_ns=SHORT_NS)
    if isinstance(shorter, Flow) and shorter.size_bytes:
        return replace(shorter, size_bytes=min(shorter.size_bytes, SHORT_BYTES))
    return shorter


@pytest.fixture(scope="module")
def elsewhere(lab: Lab) -> Iterator[Elsewhere]:
    """A second place to run in."""
    with Elsewhere(lab) as place:
        yield place


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Scenarios to repeat: so many that all there is to build is built, or all of them."""
    if "repeated" in metafunc.fixturenames:
        every = metafunc.config.getoption("--every-scenario")
        plans = {name: shortened(main_plan(name)) for name in SCENARIOS}
        metafunc.parametrize("repeated", SCENARIOS if every else covering(plans))


def test_a_scenario_repeats_to_the_byte(repeated: str, rig: Rig, elsewhere: Elsewhere) -> None:
    """What a scenario builds gives the same digest elsewhere.

    Elsewhere: on another CPU, with all CPUs busy, from a kernel, a root and a wirelab copied to another
    folder, as another user, in another environment. `make matrix` runs the scenarios whole.
    """
    plan = shortened(main_plan(repeated))
    cpus = sorted(os.sched_getaffinity(0))
    other_cpu = cpus[(cpus.index(rig.cpu) + 1) % len(cpus)]
    assert elsewhere.digest(plan, other_cpu) == read_result(plan, rig.run(plan)).digest


def test_a_scenario_passes_as_a_user_runs_it(rig: Rig, tmp_path: Path) -> None:
    """With its control, from the command line to the exit code."""
    code, document = run("sfp-flow-control-off", rig.lab, tmp_path / "results", rig.cpu)
    failed = [check["explanation"] for variant in document["variants"] for check in variant["checks"]]
    assert code == 0, failed


def test_another_seed_is_another_run(rig: Rig) -> None:
    """The seed is what a run depends on: another one gives the same network other random numbers."""
    plan = shortened(main_plan("sfp-mismatch"))
    assert len({drawn(plan, rig.run(plan, seed=seed)) for seed in (1, 2, 3)}) == 3
