"""A flow of a run, as Python sees it."""

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Self

from wirelab.api.tables import pandas
from wirelab.results.flow import FlowResult
from wirelab.results.rtt import Rtt

if TYPE_CHECKING:  # pandas is an extra, imported when a table is asked for
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Flow(FlowResult):
    """A flow of a run: its figures as in ``result.json``, and its course as a series."""

    @classmethod
    def of(cls, result: FlowResult) -> Self:
        """The same figures."""
        return cls(**{field.name: getattr(result, field.name) for field in fields(result)})

    @property
    def rtt_us(self) -> Rtt | None:
        """The smoothed round-trip time of TCP: least, mean, most, percentiles. None where unknown."""
        return self.rtt

    @property
    def intervals(self) -> "pd.Series[float]":
        """The receiver's goodput in bit/s in each second, by the second of the flow at which it begins.

        Raises LabError where pandas is not installed; ``intervals_bps`` is the same as a tuple.
        """
        seconds = pandas().RangeIndex(len(self.intervals_bps), name="from_s")
        series: pd.Series[float] = pandas().Series(
            self.intervals_bps, index=seconds, dtype="float64", name="goodput_bps"
        )
        return series
