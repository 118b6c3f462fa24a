"""Traffic: what happens in a network, each item under the name of the tool that does it."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field, model_validator

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
    """What every item has: a name, two ends and a start.

    It starts at ``start`` after the network is ready, or together ``with`` an earlier item, or, with
    neither, after every earlier item has ended.
    """

    name: Name
    sender: Name = Field(alias="from")
    receiver: Name = Field(alias="to")
    start_ns: Time | None = Field(default=None, alias="start")
    concurrent_with: Name | None = Field(default=None, alias="with")


class Iperf3(_Item):
    """One iperf3 run: ``from`` sends to ``to`` for ``time``, or until ``bytes`` are sent.

    Without ``congestion`` the sender's own default holds; without ``bitrate`` it sends as fast as it can;
    ``payload`` is the length of one write or datagram; ``window`` sizes the socket buffers; ``pacing`` is
    the rate at which the sender's kernel spaces the frames of each connection. A transfer of ``bytes``
    must be over ``within`` a time.
    """

    duration_ns: Seconds | None = Field(default=None, alias="time")
    size_bytes: Size | None = Field(default=None, alias="bytes")
    within_ns: Seconds | None = Field(default=None, alias="within")
    congestion: Congestion | None = None
    protocol: Literal["tcp", "udp"] = "tcp"
    bitrate_bps: Rate | None = Field(default=None, alias="bitrate")
    payload_bytes: Size | None = Field(default=None, alias="payload")
    parallel: PositiveCount = 1
    dscp: Dscp | None = None
    window_bytes: Size | None = Field(default=None, alias="window")
    pacing_bps: Rate | None = Field(default=None, alias="pacing")

    @property
    def longest_ns(self) -> int:
        """How long it lasts, or for a transfer of ``bytes`` may last at most."""
        return self.duration_ns or self.within_ns or LONGEST_TRANSFER_NS


class Copy(_Item):
    """A program that copies ``bytes`` from the storage of ``from`` to the storage of ``to``, in blocks.

    It reads a block, processes it (``process`` is what a byte costs), sends it, and the other end writes
    it: ``sequential``, one block after the other, or ``overlapped``, all stages at the same time. Before
    each block there are ``requests`` exchanges of small messages, as when a file is looked up and opened.
    """

    size_bytes: Size = Field(alias="bytes")
    within_ns: Seconds | None = Field(default=None, alias="within")
    block_bytes: Size = Field(default=1 << 20, alias="block")
    pipeline: Literal["sequential", "overlapped"] = "overlapped"
    process_ps: Cost = Field(default=0, alias="process")
    requests: Count = 0
    congestion: Congestion | None = None
    dscp: Dscp | None = None

    @property
    def longest_ns(self) -> int:
        """How long it may take."""
        return self.within_ns or LONGEST_TRANSFER_NS


class Ping(_Item):
    """ICMP echo requests, one every ``interval`` for ``time``: what the network does to a small frame."""

    duration_ns: Seconds = Field(alias="time")
    interval_ns: Interval = Field(default=10 * NS_PER_MS, alias="interval")
    dscp: Dscp | None = None

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
