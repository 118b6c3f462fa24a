"""Tables: pandas is an extra, and imported only where one is asked for."""

import importlib
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Final

from wirelab.errors import LabError
from wirelab.plan.types import Plan
from wirelab.results.samples import FlowSample, PortSample, Sample
from wirelab.units import NS_PER_S

if TYPE_CHECKING:  # pandas is an extra, imported when a table is asked for
    import pandas as pd

_FIGURES: Final = {kind: tuple(field.name for field in fields(kind)) for kind in (PortSample, FlowSample)}


def pandas() -> Any:  # noqa: ANN401 - the module
    """The module pandas. Raises LabError where it is not installed."""
    try:
        return importlib.import_module("pandas")
    except ImportError as error:
        raise LabError(
            "tables are pandas', which is not installed", hint="pip install 'wirelab[notebook]'"
        ) from error


def sample_frame(plan: Plan, samples: tuple[Sample, ...]) -> "pd.DataFrame":
    """A row for each sample, a column for each figure of a port or flow; what a flow has while it lasts."""
    labels = {port.name: port.label for port in plan.ports}
    rows = [
        {
            f"{label}.{name}": getattr(figures, name)
            for label, figures in _labelled(sample, labels)
            for name in _FIGURES[type(figures)]
        }
        for sample in samples
    ]
    seconds = pandas().Index([sample.at_ns / NS_PER_S for sample in samples], name="at_s", dtype="float64")
    table: pd.DataFrame = pandas().DataFrame(rows, index=seconds)
    return table


def _labelled(sample: Sample, labels: Mapping[str, str]) -> Iterator[tuple[str, PortSample | FlowSample]]:
    for port, figures in sample.ports.items():
        yield labels[port], figures
    yield from sample.flows.items()
