"""What a recorder costs a run: processor time with one over that without, in turns."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from timed_labs import NS_PER_S, lasting, scenario_plan

from wirelab.lab.recording import Moments, Recording

if TYPE_CHECKING:
    from figure import Figures
    from timed_labs import Labs

SECONDS = 3
LIMIT_BYTES = 4_000_000_000
# By the clock of the lab, whose traffic begins at 30 s: all of it, and 10 ms when the flow is in full swing.
ALL = ((0, 1000 * NS_PER_S),)
WINDOW = ((32 * NS_PER_S, 32 * NS_PER_S + 10_000_000),)
# What is recorded, and the most that it may take, of what it takes without.
GOALS: dict[str, tuple[Recording | Moments, float]] = {
    "everything": (Recording(ALL, LIMIT_BYTES), 1.4),
    "a window of 10 ms": (Recording(WINDOW, LIMIT_BYTES), 1.05),
    "moments": (Moments(2_000_000, 256 << 20), 1.2),
}
# With a drop for every tenth frame, and without any.
FLOWS = {"2.5G download with drops": "sfp-mismatch", "2.5G download without": "sfp-flow-control"}


def measure(figures: Figures, labs: Labs) -> None:
    """Each figure, and the processor time without, which is what to compare with a kernel that has none."""
    for flow, scenario in FLOWS.items():
        plan = lasting(scenario_plan(scenario, "download"), SECONDS)
        figures.take(f"processor, {flow}", "s", partial(labs.processor_s, plan))
        for what, (recording, goal) in GOALS.items():

            def ratio(one: Recording | Moments = recording) -> float:
                return labs.processor_s(plan, one) / labs.processor_s(plan)  # noqa: B023 - called in the loop

            figures.take(f"recorder, {what}, {flow}", "x", ratio, goal)
