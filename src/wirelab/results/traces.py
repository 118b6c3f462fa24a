"""traces.json -> what the ports that follow a trace did of it, and when."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from wirelab.plan.types import Plan
from wirelab.results.rawjson import Field, read_json

FILE: Final = "traces.json"


@dataclass(frozen=True, slots=True)
class Filled:
    """That a bucket was filled: when, with how many opportunities, and what was left of those before."""

    at_ns: int
    opportunities: int
    kept_bytes: int


Followed = tuple[Filled, ...]


def read_followed(plan: Plan, raw: Path) -> dict[str, Followed]:
    """What the lab says of each port that follows a trace, by interface name. Raises LabError if nothing."""
    if not plan.traces:
        return {}
    told = read_json(raw, FILE)
    filled = {}
    for port in plan.ports:
        if port.shape and port.shape.trace:
            filled[port.name] = tuple(map(_filled, told[port.name].elements()))
    return filled


def _filled(told: Field) -> Filled:
    at_ns, opportunities, kept_bytes = (number.integer() for number in told.elements())
    return Filled(at_ns, opportunities, kept_bytes)
