"""What a flow achieved, whichever program made it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Final, Self

from pydantic import Field

from wirelab.model.metric import CONNECTS
from wirelab.model.types import Name, NodeName
from wirelab.plan.traffic import Flow, Protocol
from wirelab.results import rtt
from wirelab.results.rawjson import Field as RawField
from wirelab.results.rtt import Rtt
from wirelab.results.values import Amount, Count, Text, WholeAmount
from wirelab.units import BITS_PER_BYTE, NS_PER_S, PPM

_MOST_INTERVALS: Final = 100_000


@dataclass(frozen=True, slots=True)
class FlowResult:
    """What one flow achieved.

    ``goodput_bps`` is the payload that the receiver's application got, over the receiver's clock.
    ``retransmits`` is the sender's count of segments, None for UDP; ``lost_datagrams`` of
    ``sent_datagrams`` are the receiver's, None for TCP. ``rtt`` is the smoothed RTT of TCP (``tcpi_rtt``).
    ``intervals_bps`` are the receiver's one-second figures. ``duration_s`` is what a transfer of a given
    size takes at its goodput, None for a flow that ran for a given time. Where no connection came about
    ``connected`` is False, and where it was lost ``lost_connection`` is what the program says, too: figures
    are None then, for a 0 would pass as one that was measured. ``reached_bytes`` is what had come when a
    transfer was ended because its time was over, else None. ``path_bps`` is the most that its path can carry,
    ``share_ppm`` its part of the goodput of all flows. ``longest_gap_ns`` is the longest time without
    anything new acknowledged, ``recovery_ns`` how long after the last event it was as fast as before the
    first; None where samples do not tell.
    """

    name: Name
    sender: Annotated[NodeName, Field(alias="from")]
    receiver: Annotated[NodeName, Field(alias="to")]
    goodput_bps: WholeAmount | None
    retransmits: Count | None
    lost_datagrams: Count | None = None
    sent_datagrams: Count | None = None
    duration_s: Amount | None = None
    connected: bool = True
    lost_connection: Text = ""
    reached_bytes: Count | None = None
    rtt: Annotated[Rtt | None, Field(alias="rtt_us")] = None
    intervals_bps: Annotated[
        tuple[WholeAmount, ...], Field(alias="intervals", max_length=_MOST_INTERVALS)
    ] = ()
    protocol: Protocol = "tcp"
    path_bps: WholeAmount | None = None
    share_ppm: Amount | None = None
    longest_gap_ns: Count | None = None
    recovery_ns: Count | None = None

    @classmethod
    def unconnected(cls, flow: Flow, lost_connection: str) -> Self:
        """A flow that came to nothing: its sender never reached its receiver, or lost it."""
        return cls(
            name=flow.name,
            sender=flow.sender,
            receiver=flow.receiver,
            protocol=flow.protocol,
            goodput_bps=None,
            retransmits=None,
            connected=False,
            lost_connection=lost_connection,
        )

    @property
    def untold(self) -> str:
        """Why there are no figures of it, as a cell of a table says it; empty where there are."""
        if self.connected:
            return ""
        return "connection lost" if self.lost_connection else "no connection"

    @property
    def lost_ppm(self) -> float | None:
        """The share of the datagrams that did not arrive, in parts per million; None for TCP."""
        if self.lost_datagrams is None or not self.sent_datagrams:
            return None
        return self.lost_datagrams * PPM / self.sent_datagrams

    @property
    def duration_ns(self) -> float | None:
        """What the transfer takes."""
        return None if self.duration_s is None else self.duration_s * NS_PER_S


FIGURES: Final[Mapping[str, Callable[[FlowResult], float | None]]] = {
    "goodput": lambda flow: flow.goodput_bps,
    "goodput_first": lambda flow: flow.intervals_bps[0] if flow.intervals_bps else None,
    "goodput_last": lambda flow: flow.intervals_bps[-1] if flow.intervals_bps else None,
    "share": lambda flow: flow.share_ppm,
    "retransmits": lambda flow: flow.retransmits,
    "duration": lambda flow: flow.duration_ns,
    "longest_gap": lambda flow: flow.longest_gap_ns,
    "recovers_within": lambda flow: flow.recovery_ns,
    "lost": lambda flow: flow.lost_ppm,
    "connects": lambda flow: CONNECTS.values.index("yes" if flow.connected else "no"),
}


def flow_figure(metric: str, flow: FlowResult) -> float | None:
    """A metric of a flow in its base unit; None where nothing came through that would tell it."""
    if metric in rtt.FIGURES:
        return rtt.FIGURES[metric](flow.rtt) if flow.rtt else None
    return FIGURES[metric](flow)


def goodput_bps(received: RawField) -> float:
    """The rate of ``bytes`` in ``seconds``.

    Raises LabError when either is missing or not a number, or the time is not above 0.
    """
    seconds = received["seconds"]
    if seconds.number() <= 0:
        raise seconds.broken("expected a time above 0")
    return received["bytes"].integer() * BITS_PER_BYTE / seconds.number()
