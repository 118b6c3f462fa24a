"""events.json -> what was done while the network ran, and when."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from wirelab.plan.event import relinked
from wirelab.plan.types import Plan
from wirelab.results.rawjson import read_json
from wirelab.results.status import Readback, parse_readbacks

FILE = "events.json"


@dataclass(frozen=True, slots=True)
class Happened:
    """When each event took place, counted as the traffic is, and all that was read back after them.

    ``relinked`` says of each port whose link changes, by its name, when it does.
    """

    at_ns: tuple[int, ...] = ()
    readbacks: tuple[Readback, ...] = ()
    relinked: Mapping[str, Sequence[int]] = field(default_factory=dict)


def read_happened(plan: Plan, raw: Path) -> Happened:
    """What the lab says of the events of a Plan. Raises LabError when it says nothing of them."""
    if not plan.events:
        return Happened(relinked=relinked(plan))
    told = read_json(raw, FILE)
    events = list(told["events"].elements())
    readbacks = [setting for event in events for setting in parse_readbacks(event["settings"])]
    readbacks += parse_readbacks(told["last"])
    at_ns = tuple(event["at_ns"].integer() for event in events)
    return Happened(at_ns, tuple(readbacks), relinked(plan))
