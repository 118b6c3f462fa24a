"""wirelab against another simulator of networks: the same flow in both, measured in turns.

Wall and processor seconds per virtual second come from a short and a long run of each, as in `bench.py`. A
ratio is the median of those of neighbours, with their spread. What a flow carries shows that it is the same.
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from ns3 import Ns3
from timed_labs import LONG_S, SHORT_S, Labs, lasting, scenario_plan

from wirelab.lab.select import select
from wirelab.results.result import read_result

if TYPE_CHECKING:
    from collections.abc import Callable

    from wirelab.plan.types import Plan

# It takes longer, and its runs are more alike.
NS3_SHORT_S, NS3_LONG_S = 0.25, 1.25
GOAL = 12
# The scenario of a flow, its name there, and how the other one is the same.
FLOWS = {
    "2.5G flow without loss": (
        "sfp-flow-control",
        "download",
        "here by PAUSE, which ns-3 does not have; there by a window that is half of a queue",
    ),
    "saturated 10G flow, MTU 1500": ("clean-10g", "download", "no queue is ever full"),
}


@dataclass(frozen=True)
class Run:
    """What a flow achieved, and the seconds that it took."""

    goodput_bps: float
    retransmits: int
    wall_s: float
    cpu_s: float


@dataclass(frozen=True)
class Cost:
    """What a virtual second takes, by a short run and a long one."""

    wall_s: float
    cpu_s: float
    long: Run


def timed(work: Callable[[], tuple[float, int]]) -> Run:
    """Goodput and retransmits of a flow, with what the programs took that were started for it."""
    begun_s, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    goodput_bps, retransmits = work()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Run(goodput_bps, retransmits, time.monotonic() - begun_s, cpu_s)


def cost(run: Callable[[float], tuple[float, int]], short_s: float, long_s: float) -> Cost:
    """What a virtual second takes."""
    short, long = (timed(partial(run, seconds)) for seconds in (short_s, long_s))
    span_s = long_s - short_s
    return Cost((long.wall_s - short.wall_s) / span_s, (long.cpu_s - short.cpu_s) / span_s, long)


def run_here(labs: Labs, plan: Plan, seconds: float) -> tuple[float, int]:
    """Goodput and retransmits of the one flow of a Plan, in a lab."""
    lasts = lasting(plan, round(seconds))
    labs.wall_s(lasts)
    flow = read_result(lasts, labs.raw).flows[plan.flows[0].name]
    return flow.goodput_bps or 0, flow.retransmits or 0


def line(name: str, costs: list[Cost]) -> str:
    """What a virtual second takes in one of the two, as it is printed."""
    walls_s, long = [cost.wall_s for cost in costs], costs[0].long
    return (
        f"  {name:<8} {median(walls_s):>6.2f} s/s ({min(walls_s):.2f}..{max(walls_s):.2f})"
        f"   processor {median(cost.cpu_s for cost in costs):>6.2f} s/s"
        f"   {long.goodput_bps / 1e9:.3f} Gbit/s, {long.retransmits} retransmits"
    )


def ratio(name: str, pairs: list[tuple[float, float]]) -> str:
    """How many times as much the other one takes, as it is printed."""
    ratios = sorted(theirs / ours for ours, theirs in pairs)
    return f"{median(ratios):.1f} times ({ratios[0]:.1f}..{ratios[-1]:.1f}) the {name}"


def main() -> None:
    """Measure in turns, and print what each takes and carries."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("peer", choices=["ns-3"])
    parser.add_argument("--runs", type=int, default=3, help="how often each is measured")
    parser.add_argument("--only", default="", help="measure the flows whose names hold this")
    options = parser.parse_args()
    lab, cpu = select(None, None), max(os.sched_getaffinity(0))
    with lab.in_use(), tempfile.TemporaryDirectory() as folder:
        labs, peer = Labs(lab, Path(folder), cpu), Ns3(Path(folder), cpu)
        print(peer, flush=True)
        for name, (scenario, flow, alike) in FLOWS.items():
            if options.only not in name:
                continue
            plan = scenario_plan(scenario, flow)
            print(f"{name}: {alike}", flush=True)
            pairs = [
                (
                    cost(partial(run_here, labs, plan), SHORT_S, LONG_S),
                    cost(partial(peer.run, plan), NS3_SHORT_S, NS3_LONG_S),
                )
                for _ in range(options.runs)
            ]
            print(line("wirelab", [ours for ours, _ in pairs]))
            print(line(options.peer, [theirs for _, theirs in pairs]))
            walls = ratio("wall time", [(ours.wall_s, theirs.wall_s) for ours, theirs in pairs])
            cpus = ratio("processor time", [(ours.cpu_s, theirs.cpu_s) for ours, theirs in pairs])
            print(f"  {options.peer} takes {walls} and {cpus}   at least {GOAL}", flush=True)


if __name__ == "__main__":
    main()
