"""Which laws a recording breaks, and one that breaks several."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recorded import Recording, plan, recording

from wirelab.results.result import read_result
from wirelab.verdict.checks import Check, check_laws

if TYPE_CHECKING:
    from pathlib import Path

    from wirelab.plan.types import Plan


def violations(recorded: Recording, folder: Path, the_plan: Plan | None = None) -> tuple[Check, ...]:
    """The laws that a recording breaks."""
    if the_plan is not None:
        recorded.link_as(the_plan)
    the_plan = the_plan or plan()
    return check_laws(the_plan, read_result(the_plan, recorded.write(folder)))


def names(found: tuple[Check, ...]) -> set[str]:
    """The names of the laws."""
    return {violation.name.removeprefix("law.") for violation in found}


def dropped_by_buffer() -> Recording:
    """A run in which switch.p1 found its packet buffer full once."""
    recorded = recording(dropped=0)
    stats = recorded.stats("end", "switch-p1")
    stats["rx_dropped_buffer"] = 1
    stats["rx_wire_frames"] += 1
    recorded.stats("end", "server-eth0")["tx_frames"] += 1
    recorded.qdisc("end", "server-eth0")["packets"] += 1
    return recorded
