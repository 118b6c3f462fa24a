"""What a flow itself may do otherwise: its congestion control, its pacing, its window, its connections."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from wirelab.model.experiment import Experiment
from wirelab.model.traffic import Iperf3, Item, TrafficItem
from wirelab.plan.path import flow_path
from wirelab.runner.places import Places
from wirelab.units import RATE, SIZE, show
from wirelab.verdict.explanation import Mechanism
from wirelab.verdict.trouble import WAIT

_CONGESTIONS: Final = ("cubic", "reno", "bbr")
_PACED_PERCENT: Final = 96
"""Of the slowest line, with preamble and gap of each frame: 1538 B on it are 1514 B to the pacing."""
_TIMES: Final = 4


def flow_changes(experiment: Experiment, places: Places) -> Iterator[tuple[Experiment, str, str]]:
    """Each as the scenario with it, its key and its value as written: ``download.pacing``, ``2.4 Gbit/s``."""
    item = next(item for item in experiment.scenario.items if item.name == places.flow.name)
    for field, alias, value, text in _tries(item, places):
        if getattr(item, field) != value:
            yield _with(experiment, item.name, {field: value}), f"{item.name}.{alias}", text


def _tries(item: Item, places: Places) -> Iterator[tuple[str, str, Any, str]]:
    """The field, what a scenario calls it, and its value in base units and as written."""
    loses = places.has(Mechanism.FIFO, Mechanism.QUEUE, Mechanism.LOSS)
    waits = WAIT in places.words
    if isinstance(item, Iperf3) and item.protocol == "tcp":
        if loses or waits or places.has(Mechanism.WINDOW, Mechanism.LINE):
            # Else it is the host's setting, and one of the table.
            words = _CONGESTIONS if item.congestion is not None else ()
            yield from (("congestion", "congestion", word, word) for word in words)
        rates = [hop.served_bps for hop in flow_path(places.plan, places.flow)]
        if (loses or waits) and rates:
            paced_bps = min(rates) * _PACED_PERCENT // 100 // item.parallel
            yield "pacing_bps", "pacing", paced_bps, show(paced_bps, RATE)
        if places.has(Mechanism.LOSS, Mechanism.WINDOW, Mechanism.FIFO):
            yield "parallel", "parallel", _TIMES * item.parallel, str(_TIMES * item.parallel)
    if isinstance(item, Iperf3) and places.has(Mechanism.WINDOW):
        window_bytes = _TIMES * (item.window_bytes or 1 << 20)
        yield "window_bytes", "window", window_bytes, show(window_bytes, SIZE)
    if isinstance(item, Iperf3) and item.bitrate_bps and places.has(Mechanism.APPLICATION):
        yield "bitrate_bps", "bitrate", 2 * item.bitrate_bps, show(2 * item.bitrate_bps, RATE)
    block = getattr(item, "block_bytes", None)
    if block is not None and places.has(Mechanism.APPLICATION, Mechanism.STORAGE):
        yield "pipeline", "pipeline", "overlapped", "overlapped"
        block_bytes = _TIMES * block
        yield "block_bytes", "block", block_bytes, show(block_bytes, SIZE)


def _with(experiment: Experiment, name: str, fields: dict[str, Any]) -> Experiment:
    """The scenario with some fields of one item changed."""
    scenario = experiment.scenario
    traffic = tuple(
        _changed(entry, fields) if entry.item.name == name else entry for entry in scenario.traffic
    )
    return replace(experiment, scenario=scenario.model_copy(update={"traffic": traffic}))


def _changed(entry: TrafficItem, fields: dict[str, Any]) -> TrafficItem:
    kind = "copy_" if entry.copy_ is not None else "iperf3"
    return entry.model_copy(update={kind: entry.item.model_copy(update=fields)})
