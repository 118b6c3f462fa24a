"""Scenarios cut short, and all that a run of one leaves: for tests that compare two ways to a result."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.lab.rig import NS_PER_S
from wirelab.model.experiment import load
from wirelab.plan.build import build_plan

if TYPE_CHECKING:
    from wirelab.plan.types import Plan

ROOT = Path(__file__).parents[2]
# Loss and recovery; PAUSE and a full buffer; three hosts, a bus and a CPU; datagrams beside a stream.
SCENARIOS = ("sfp-mismatch", "sfp-flow-control", "driver-bound", "udp-and-tcp")


def shortened(name: str) -> Plan:
    """The main case of a shipped scenario, each of its flows for a second, together where they are there."""
    experiment = load(name, ROOT)
    plan = build_plan(experiment, experiment.cases[0], 1)
    starts = sorted({flow.start_ns for flow in plan.flows})
    flows = (
        replace(flow, start_ns=(1 + 2 * starts.index(flow.start_ns)) * NS_PER_S, duration_ns=NS_PER_S)
        for flow in plan.flows
    )
    return replace(plan, traffic=tuple(flows))


def everything(raw: Path) -> dict[str, Any]:
    """All raw files of a run by name; a test's cookie and port are random, and saying what is slow draws."""
    files = {path.relative_to(raw): path for path in raw.rglob("*") if path.is_file()}
    flows = {str(name): told(path) for name, path in files.items() if name.match("flows/*.json")}
    return {str(name): path.read_bytes() for name, path in files.items()} | flows


def told(file: Path) -> dict[str, Any]:
    """What one end of iperf3 says of its flow."""
    told: dict[str, Any] = json.loads(file.read_text())
    return {key: told[key] for key in ("intervals", "end")}
