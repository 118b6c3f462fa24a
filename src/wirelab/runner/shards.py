"""Scenarios dealt out to several machines, so that all of them end at about the same time."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from wirelab.model.experiment import Experiment
from wirelab.plan.build import build_plan
from wirelab.plan.ceiling import ceiling
from wirelab.plan.traffic import Flow, Item
from wirelab.plan.types import Plan
from wirelab.runner.past_runs import last_wall_s
from wirelab.units import BITS_PER_BYTE, NS_PER_S

_ANY_SEED: Final = 1
_START_S: Final = 2.0
"""What a lab runs beside its traffic: the links come up, neighbours are introduced."""


@dataclass(frozen=True, slots=True)
class Load:
    """A scenario: the virtual seconds it is planned to run, and the wall seconds it took, None if unknown."""

    name: str
    virtual_s: float
    wall_s: float | None = None


@dataclass(frozen=True, slots=True)
class Shard:
    """What one machine is to run, the longest first."""

    names: tuple[str, ...]
    weight_s: float


def loads(experiments: Mapping[str, Experiment], results: Path) -> list[Load]:
    """The loads of scenarios, by the names they are asked for; how long they took is said by ``results``."""
    wall_s = last_wall_s(results) if results.is_dir() else {}
    return [
        Load(
            name,
            sum(expected_s(build_plan(experiment, case, _ANY_SEED)) for case in experiment.cases),
            wall_s.get(experiment.scenario.name),
        )
        for name, experiment in experiments.items()
    ]


def expected_s(plan: Plan) -> float:
    """About how many virtual seconds a lab will run: what begins at the same time counts once.

    A transfer of so many bytes is taken to be as fast as its way can carry it.
    """
    longest_s: dict[int, float] = {}
    for item in plan.traffic:
        longest_s[item.start_ns] = max(longest_s.get(item.start_ns, 0.0), _lasts_s(plan, item))
    return _START_S + sum(longest_s.values())


def _lasts_s(plan: Plan, item: Item) -> float:
    most_s = item.duration_ns / NS_PER_S
    if not isinstance(item, Flow) or item.size_bytes is None:
        return most_s
    way = ceiling(plan, item)
    return most_s if way is None else min(most_s, item.size_bytes * BITS_PER_BYTE / way.bps)


def weights_s(loads: Sequence[Load]) -> dict[str, float]:
    """How long each will take, the longest first.

    That is what it took, else its virtual seconds at the pace of those that are known.
    """
    known = [load for load in loads if load.wall_s is not None]
    virtual_s = sum(load.virtual_s for load in known)
    pace = sum(load.wall_s or 0.0 for load in known) / virtual_s if virtual_s else 1.0
    weights = {load.name: load.virtual_s * pace if load.wall_s is None else load.wall_s for load in loads}
    return dict(sorted(weights.items(), key=lambda weight: (-weight[1], weight[0])))


def deal(loads: Iterable[Load], count: int) -> tuple[Shard, ...]:
    """At most ``count`` shards: the longest first, each to the machine with the least to do.

    That is at most a third longer than the best there is (Graham, Bounds on Multiprocessing Timing
    Anomalies, 1969). The same loads give the same shards; none is empty.
    """
    shards = [Shard((), 0.0)] * count
    for name, weight_s in weights_s(tuple(loads)).items():
        number = min(range(count), key=lambda number: shards[number].weight_s)
        shard = shards[number]
        shards[number] = Shard((*shard.names, name), shard.weight_s + weight_s)
    return tuple(shard for shard in shards if shard.names)
