"""How fast the labs are on this machine: every figure a median, printed and written as JSON.

Virtual time makes results independent of the machine; how long one waits for them is not. A figure of
wall seconds per virtual second comes from two runs that differ only in how long the traffic lasts, so
that booting and building the network cancel out.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from memory import PeakMemory

from wirelab import __version__
from wirelab.lab.command import run_command
from wirelab.lab.machine import Machine, guest_folder
from wirelab.lab.select import Lab, select
from wirelab.model.experiment import load
from wirelab.plan.build import build_plan

if TYPE_CHECKING:
    from collections.abc import Callable

    from wirelab.plan.types import Plan

NS_PER_S = 1_000_000_000
SHORT_S, LONG_S = 1, 6
HOSTS = 40
# The scenario of a flow, its name there, and the most that a virtual second of it is meant to take.
FLOWS = {
    "sfp-mismatch download": ("sfp-mismatch", "download", 0.6),
    "2.5G flow without loss": ("sfp-flow-control", "download", 1.0),
    "2.5G upload": ("sfp-mismatch", "upload", None),
    "saturated 10G flow, MTU 1500": ("clean-10g", "download", 2.5),
}
# Some of everything: loss, PAUSE, a bus, a CPU and links without traffic.
MATRIX = ("sfp-*", "pcie-x1", "driver-bound", "autoneg-matrix")
MANY_HOSTS_SCRIPT = Path(__file__).parent / "many_hosts.py"


@dataclass(frozen=True)
class Figure:
    """One measured figure: every run's value, and the most it is meant to be."""

    name: str
    unit: str
    runs: tuple[float, ...]
    at_most: float | None

    @property
    def median(self) -> float:
        """The value to quote."""
        return statistics.median(self.runs)

    def line(self) -> str:
        """As it is printed."""
        goal = "" if self.at_most is None else f"   at most {self.at_most:g}"
        spread = f"{min(self.runs):.2f}..{max(self.runs):.2f}"
        return f"{self.name:<56} {self.median:>8.2f} {self.unit:<8} ({spread}){goal}"


class Bench:
    """Runs Plans on one CPU of this machine and takes their times."""

    def __init__(self, lab: Lab, folder: Path, runs: int, cpu: int, *, only: str = "") -> None:
        """``only`` is what the names of the figures hold that are measured."""
        self._only = only
        self._lab = lab
        self._folder = folder
        self._runs = runs
        self._cpu = cpu

    def figure(self, name: str, unit: str, measure: Callable[[], float], at_most: float | None) -> Figure:
        """Measure so many times, and print; what is not asked for has no runs."""
        if self._only not in name:
            return Figure(name, unit, (), at_most)
        measured = Figure(name, unit, tuple(measure() for _ in range(self._runs)), at_most)
        print(measured.line(), flush=True)
        return measured

    def wall_s(self, plan: Plan, memory: PeakMemory | None = None) -> float:
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
        ) as machine:
            machine.wait(plan.wall_limit_s, on_poll=memory)
            return machine.wall_s()

    def wall_per_virtual(self, plan: Plan) -> float:
        """What a virtual second of a Plan's traffic takes."""
        short_s, long_s = (self.wall_s(lasting(plan, seconds)) for seconds in (SHORT_S, LONG_S))
        return (long_s - short_s) / (LONG_S - SHORT_S)

    def command_s(self, *argv: str) -> float:
        """How long a command in a lab of its own takes."""
        folder = Path(tempfile.mkdtemp(dir=self._folder))
        start_s = time.monotonic()
        with (folder / "out").open("wb") as out:
            code = run_command(
                argv,
                self._lab,
                folder,
                work=MANY_HOSTS_SCRIPT.parent,
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
    """The same Plan, its one flow so long and from the first second on."""
    flow = replace(plan.flows[0], start_ns=NS_PER_S, duration_ns=seconds * NS_PER_S)
    return replace(plan, traffic=(flow,))


def warm_scenario_s(cpu: int) -> float:
    """The command line from start to verdict, main variant and control on two CPUs if there are two."""
    start_s = time.monotonic()
    with tempfile.TemporaryDirectory() as results:
        argv = [sys.executable, "-m", "wirelab", "run", "sfp-mismatch", "--no-cache"]
        argv += ["--quiet", "--out", results]
        done = subprocess.run(argv, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"sfp-mismatch on CPU {cpu}: {done.stdout}{done.stderr}")
    return time.monotonic() - start_s


def matrix_s_per_s(jobs: int) -> float:
    """Virtual seconds for each wall second and core, of several scenarios with so many labs at once."""
    with tempfile.TemporaryDirectory() as results:
        listed = Path(results) / "all.json"
        argv = [sys.executable, "-m", "wirelab", "run", *MATRIX, "--no-cache", "--quiet", "-j", str(jobs)]
        start_s = time.monotonic()
        done = subprocess.run(
            [*argv, "--out", results, "--json-file", str(listed)], check=False, capture_output=True, text=True
        )
        took_s = time.monotonic() - start_s
        if done.returncode != 0:
            sys.exit(f"matrix: {done.stdout}{done.stderr}")
        virtual_s = sum(float(document["virtual_s"]) for document in json.loads(listed.read_text()))
    return virtual_s / took_s / jobs


def folder_mib(folder: Path) -> float:
    """What a folder's files take on disk."""
    seen = {file.lstat().st_ino: file.lstat().st_blocks * 512 for file in folder.rglob("*")}
    return sum(seen.values()) / 2**20


def peak_mib(bench: Bench) -> float:
    """The most memory that a whole lab has at any look, with 10 Gbit/s of traffic."""
    memory = PeakMemory()
    bench.wall_s(lasting(scenario_plan("clean-10g", "download"), 3), memory)
    return memory.peak_bytes / 2**20


def host_facts(lab: Lab) -> dict[str, str]:
    """What the figures were measured on."""
    models = [
        line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")
    ]
    return {
        "processor": models[0].partition(": ")[2] if models else platform.processor(),
        "cpus": str(len(os.sched_getaffinity(0))),
        "kernel": platform.release(),
        "system": platform.freedesktop_os_release().get("PRETTY_NAME", ""),
        "load": " ".join(f"{average:.2f}" for average in os.getloadavg()),
        "wirelab": __version__,
        "lab_kernel": lab.kernel_id,
        "lab_root": lab.root_id,
    }


def measure(bench: Bench, lab: Lab, cpu: int) -> list[Figure]:
    """Every figure, in the order in which they are printed."""
    per_second = "s/s"
    figures = [
        bench.figure(
            f"wall per virtual second, {name}",
            per_second,
            partial(bench.wall_per_virtual, scenario_plan(scenario, flow)),
            goal,
        )
        for name, (scenario, flow, goal) in FLOWS.items()
    ]
    script = ("python3", "-B", MANY_HOSTS_SCRIPT.name, str(HOSTS))
    figures += [
        bench.figure("boot to a running Open vSwitch", "s", lambda: bench.command_s("true"), 1.5),
        bench.figure(f"{HOSTS}-host Mininet topology to ready", "s", lambda: bench.command_s(*script), 10),
        bench.figure("warm `wirelab run sfp-mismatch`", "s", lambda: warm_scenario_s(cpu), 20),
        *(
            bench.figure(
                f"matrix, virtual seconds a core, {jobs} at once",
                per_second,
                partial(matrix_s_per_s, jobs),
                None,
            )
            for jobs in sorted({1, len(os.sched_getaffinity(0))})
        ),
        bench.figure("peak memory of a run", "MiB", lambda: peak_mib(bench), 1024),
        bench.figure("root image", "MiB", lambda: folder_mib(lab.root), 250),
    ]
    return [figure for figure in figures if figure.runs]


def main() -> None:
    """Measure everything and write it down."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5, help="how often each figure is measured")
    parser.add_argument("--json", type=Path, default=Path("bench.json"), help="where the figures go")
    parser.add_argument("--only", default="", help="measure the figures whose names hold this")
    parser.add_argument("--kernel", type=Path, default=None)
    parser.add_argument("--root", type=Path, default=None)
    options = parser.parse_args()
    lab = select(options.kernel, options.root)
    cpu = max(os.sched_getaffinity(0))
    facts = host_facts(lab)
    for name, value in facts.items():
        print(f"{name:<56} {value}")
    with lab.in_use(), tempfile.TemporaryDirectory() as folder:
        figures = measure(Bench(lab, Path(folder), options.runs, cpu, only=options.only), lab, cpu)
    document = {
        "host": facts,
        "figures": [
            {
                "name": figure.name,
                "unit": figure.unit,
                "median": figure.median,
                "runs": figure.runs,
                "at_most": figure.at_most,
            }
            for figure in figures
        ],
    }
    options.json.write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
