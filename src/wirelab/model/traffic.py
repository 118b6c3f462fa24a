"""Traffic: what happens in a network, each item under the name of the tool that does it."""

from __future__ import annotations

from typing import Annotated, ClassVar, Final, Literal

from pydantic import AfterValidator, Field, model_validator

from wirelab.model.metric import SubjectKind  # noqa: TC001 - pydantic reads annotations
from wirelab.model.types import (
    Congestion,
    Cost,
    Count,
    Dscp,
    Model,
    Name,
    PositiveCount,
    Rate,
    Seconds,
    Size,
    Time,
)
from wirelab.units import NS_PER_MS, NS_PER_S

LONGEST_TRANSFER_NS: Final = 600 * NS_PER_S
"""How long a transfer of ``bytes`` may take if the scenario does not say; idle virtual time costs nothing."""


def _interval(value: int) -> int:
    if value % NS_PER_MS or not NS_PER_MS <= value <= NS_PER_S:
        raise ValueError("ping waits for whole milliseconds, 1 ms..1 s")
    return value


Interval = Annotated[Time, AfterValidator(_interval)]


class _Item(Model):
    """What every item has: a name, two ends and a start."""

    name: Name = Field(description="How expectations call it.")
    sender: Name = Field(description="The host that sends, or asks.", alias="from")
    receiver: Name = Field(description="The host that receives, or answers.", alias="to")
    start_ns: Time | None = Field(
        description="When it starts, after the network is ready; else when all before it have ended.",
        default=None,
        alias="start",
    )
    concurrent_with: Name | None = Field(
        description="An earlier item that it starts together with.", default=None, alias="with"
    )


class Iperf3(_Item):
    """One run of iperf3."""

    @property
    def subject(self) -> SubjectKind:
        """Which metrics it has."""
        return "UDP flow" if self.protocol == "udp" else "flow"

    duration_ns: Seconds | None = Field(
        description="How long it sends; this or `bytes`.", default=None, alias="time"
    )
    size_bytes: Size | None = Field(
        description="How much it sends; this or `time`.", default=None, alias="bytes"
    )
    within_ns: Seconds | None = Field(
        description="How long a transfer of `bytes` may take; 10 minutes if nothing is said.",
        default=None,
        alias="within",
    )
    congestion: Congestion | None = Field(
        default=None, description="TCP's congestion control; without it the sender's own."
    )
    protocol: Literal["tcp", "udp"] = Field(
        default="tcp", description="TCP, or UDP, which sends at its rate whatever happens."
    )
    bitrate_bps: Rate | None = Field(
        description="At most how fast it sends; TCP without it as fast as it can.",
        default=None,
        alias="bitrate",
    )
    payload_bytes: Size | None = Field(
        description="The length of one write, or of one datagram.", default=None, alias="payload"
    )
    parallel: PositiveCount = Field(default=1, description="Connections at the same time.")
    dscp: Dscp | None = Field(default=None, description="The traffic class of its packets.")
    window_bytes: Size | None = Field(
        description="The size of the socket buffers.", default=None, alias="window"
    )
    pacing_bps: Rate | None = Field(
        description="The rate at which the sender's kernel spaces the frames of each connection.",
        default=None,
        alias="pacing",
    )

    @property
    def longest_ns(self) -> int:
        """How long it lasts, or for a transfer of ``bytes`` may last at most."""
        return self.duration_ns or self.within_ns or LONGEST_TRANSFER_NS


class Copy(_Item):
    """A program that reads blocks, processes them and sends them; the other end writes them."""

    subject: ClassVar[SubjectKind] = "copy"

    size_bytes: Size = Field(description="How much it copies.", alias="bytes")
    within_ns: Seconds | None = Field(
        description="How long it may take; 10 minutes if nothing is said.", default=None, alias="within"
    )
    block_bytes: Size = Field(
        description="How much it reads, processes and sends at a time.", default=1 << 20, alias="block"
    )
    pipeline: Literal["sequential", "overlapped"] = Field(
        default="overlapped", description="One block after the other, or all stages at the same time."
    )
    process_ps: Cost = Field(description="What processing a byte takes.", default=0, alias="process")
    requests: Count = Field(
        default=0,
        description="Exchanges of small messages before each block, as when a file is looked up and opened.",
    )
    congestion: Congestion | None = Field(
        default=None, description="TCP's congestion control; without it the sender's own."
    )
    dscp: Dscp | None = Field(default=None, description="The traffic class of its packets.")

    @property
    def longest_ns(self) -> int:
        """How long it may take."""
        return self.within_ns or LONGEST_TRANSFER_NS


class Ping(_Item):
    """ICMP echo requests: what the network does to a small frame."""

    subject: ClassVar[SubjectKind] = "ping"

    duration_ns: Seconds = Field(description="How long it asks.", alias="time")
    interval_ns: Interval = Field(
        description="How long from one request to the next.", default=10 * NS_PER_MS, alias="interval"
    )
    dscp: Dscp | None = Field(default=None, description="The traffic class of its packets.")

    @property
    def longest_ns(self) -> int:
        """How long it lasts."""
        return self.duration_ns


Item = Iperf3 | Copy | Ping
TOOLS: Final = ("iperf3", "copy", "ping")


class TrafficItem(Model):
    """One thing that happens, under the name of the tool that does it."""

    iperf3: Iperf3 | None = None
    copy_: Copy | None = Field(default=None, alias="copy")
    ping: Ping | None = None

    @model_validator(mode="after")
    def _one_kind(self) -> TrafficItem:
        items = [item for item in (self.iperf3, self.copy_, self.ping) if item is not None]
        if not items:
            raise ValueError("is empty: say what runs, such as iperf3: {...}")
        if len(items) > 1:
            raise ValueError("is more than one thing: begin each of them with a dash of its own")
        return self

    @property
    def tool(self) -> str:
        """The word it stands under."""
        return next(tool for tool in TOOLS if getattr(self, "copy_" if tool == "copy" else tool))

    @property
    def item(self) -> Item:
        """What it is."""
        item = self.iperf3 or self.copy_ or self.ping
        assert item is not None  # noqa: S101 - _one_kind saw to it
        return item
