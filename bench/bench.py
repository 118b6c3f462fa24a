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
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import growth
import jail_cost
import picture
import recorder
from figure import Figures
from timed_labs import Labs, lasting, scenario_plan

from wirelab import __version__
from wirelab.lab.select import Lab, select

# The scenario of a flow, its name there, and the most that a virtual second of it is meant to take.
FLOWS = {
    "sfp-mismatch download": ("sfp-mismatch", "download", 0.6),
    "2.5G flow without loss": ("sfp-flow-control", "download", 1.0),
    "2.5G upload": ("sfp-mismatch", "upload", None),
    "saturated 10G flow, MTU 1500": ("clean-10g", "download", 2.5),
}
# What scripts do all the time: start a program, and fork twice for what a pipeline prints.
PROGRAMS = {"1000 programs of bash": "ip -V >/dev/null", "1000 pipelines of bash": "x=$(echo a | grep a)"}
PROGRAMS_FILE = Path(__file__).parent / "programs.py"
# Some of everything: loss, PAUSE, a bus, a CPU and links without traffic.
MATRIX = ("sfp-*", "pcie-x1", "driver-bound", "autoneg-matrix")


def warm_scenario_s(cpu: int, *more: str) -> float:
    """The command line from start to end, main variant and control on two CPUs if there are two."""
    start_s = time.monotonic()
    with tempfile.TemporaryDirectory() as results:
        argv = [sys.executable, "-m", "wirelab", "run", "sfp-mismatch", "--no-cache"]
        argv += ["--quiet", "--out", results, *more]
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


def measure(figures: Figures, labs: Labs, lab: Lab, folder: Path, cpu: int) -> None:
    """Every figure, in the order in which they are printed."""
    for name, (scenario, flow, goal) in FLOWS.items():
        took = partial(labs.wall_per_virtual, scenario_plan(scenario, flow))
        figures.take(f"wall per virtual second, {name}", "s/s", took, goal)
    figures.take("boot to a running Open vSwitch", "s", labs.boot_s, 1.5)
    for name, what in PROGRAMS.items():
        figures.take(name, "s", partial(labs.command_s, PROGRAMS_FILE, "1000", what))
    figures.take("what the jail adds to a start", "ms", lambda: jail_cost.added_ms(lab, folder), 20)
    figures.take("what the jail adds to a call", "ns", lambda: jail_cost.added_to_a_call_ns(folder))
    name = "warm `wirelab run --no-pictures sfp-mismatch`"
    figures.take(name, "s", lambda: warm_scenario_s(cpu, "--no-pictures"), 20)
    figures.take("warm `wirelab run sfp-mismatch`", "s", lambda: warm_scenario_s(cpu), 20)
    for jobs in sorted({1, len(os.sched_getaffinity(0))}):
        name = f"matrix, virtual seconds a core, {jobs} at once"
        figures.take(name, "s/s", partial(matrix_s_per_s, jobs))
    saturated = lasting(scenario_plan("clean-10g", "download"), 3)
    figures.take("peak memory of a run", "MiB", lambda: growth.peak_mib(labs, saturated), 1024)
    figures.take("root image", "MiB", lambda: folder_mib(lab.root), 250)
    growth.measure(figures, labs)
    recorder.measure(figures, labs)
    picture.measure(figures, labs)


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
        figures = Figures(options.runs, options.only)
        measure(figures, Labs(lab, Path(folder), cpu), lab, Path(folder), cpu)
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
            for figure in figures.taken
        ],
    }
    options.json.write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
