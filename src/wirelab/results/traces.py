"""traces.json -> what the ports that follow a trace did of it, and when."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from wirelab.errors import LabError
from wirelab.plan.types import Plan
from wirelab.results.rawjson import Field, read_json
from wirelab.units import NS_PER_MS

FILE: Final = "traces.json"


@dataclass(frozen=True, slots=True)
class Filled:
    """That a bucket was filled: when, with how many opportunities, and what was left of those before."""

    at_ns: int
    opportunities: int
    kept_bytes: int


Followed = tuple[Filled, ...]


def read_followed(plan: Plan, raw: Path) -> dict[str, Followed]:
    """What the lab says of each port that follows a trace, by interface name.

    Raises LabError when it says nothing, or when an opportunity was left out, or came in another millisecond.
    """
    if not plan.traces:
        return {}
    told = read_json(raw, FILE)
    found = {}
    for port in plan.ports:
        trace = plan.trace(port.shape) if port.shape else None
        if trace is None:
            continue
        found[port.name] = done = tuple(map(_filled, told[port.name].elements()))
        for filled, (at_ns, opportunities) in zip(done, trace.instants(), strict=False):
            if filled.opportunities != opportunities or not 0 <= filled.at_ns - at_ns < NS_PER_MS:
                asked = f"{opportunities} opportunities at {at_ns} ns of {trace.name}"
                what = f"{filled.opportunities} at {filled.at_ns} ns"
                raise LabError(f"{raw / FILE}: {port.label} had {what} in the place of {asked}")
    return found


def _filled(told: Field) -> Filled:
    at_ns, opportunities, kept_bytes = (number.integer() for number in told.elements())
    return Filled(at_ns, opportunities, kept_bytes)
