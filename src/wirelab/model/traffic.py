"""Traffic: what happens in a network, each item under the name of the tool that does it."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Final, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from wirelab.model.metric import SubjectKind
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
    key,
    optional,
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
    """What every item has: a name, two ends and a start. It stands under its ``tool``."""

    tool: ClassVar[str]
    mistakes: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("src", "source", "sender"), "from"),
        **dict.fromkeys(("dst", "destination", "receiver"), "to"),
    }

    name: Name = key("How expectations call it.")
    sender: Name = key("The host that sends, or asks.", alias="from")
    receiver: Name = key("The host that receives, or answers.", alias="to")
    start_ns: Time | None = optional(
        "When it starts, after the network is ready; else when all before it have ended.", alias="start"
    )
    concurrent_with: Name | None = optional("An earlier item that it starts together with.", alias="with")


class Iperf3(_Item):
    """One run of iperf3."""

    tool: ClassVar[str] = "iperf3"
    mistakes: ClassVar[Mapping[str, str]] = {
        **_Item.mistakes,
        **dict.fromkeys(("duration", "seconds"), "time"),
        **dict.fromkeys(("bandwidth", "rate"), "bitrate"),
        **dict.fromkeys(("udp", "tcp"), "protocol"),
        "streams": "parallel",
        "length": "payload",
        "size": "bytes",
        "tos": "dscp",
    }

    @property
    def subject(self) -> SubjectKind:
        """Which metrics it has."""
        return "UDP flow" if self.protocol == "udp" else "flow"

    duration_ns: Seconds | None = optional("How long it sends; this or `bytes`.", alias="time")
    size_bytes: Size | None = optional("How much it sends; this or `time`.", alias="bytes")
    within_ns: Seconds | None = optional(
        "How long a transfer of `bytes` may take; 10 minutes if nothing is said.", alias="within"
    )
    congestion: Congestion | None = optional(
        "TCP's congestion control; without it the sender's own. `dctcp` needs `ecn: on` of the sender: "
        "without ECN it is Reno."
    )
    protocol: Literal["tcp", "udp"] = key(
        "TCP, or UDP, which sends at its rate whatever happens.", default="tcp"
    )
    bitrate_bps: Rate | None = optional(
        "At most how fast it sends; TCP without it as fast as it can.", alias="bitrate"
    )
    payload_bytes: Size | None = optional("The length of one write, or of one datagram.", alias="payload")
    parallel: PositiveCount = key("Connections at the same time.", default=1)
    dscp: Dscp | None = optional("The traffic class of its packets.")
    window_bytes: Size | None = optional("The size of the socket buffers.", alias="window")
    pacing_bps: Rate | None = optional(
        "The rate at which the sender's kernel spaces the frames of each connection.", alias="pacing"
    )

    @property
    def longest_ns(self) -> int:
        """How long it lasts, or for a transfer of ``bytes`` may last at most."""
        return self.duration_ns or self.within_ns or LONGEST_TRANSFER_NS


class Copy(_Item):
    """A program that reads blocks, processes them and sends them; the other end writes them."""

    tool: ClassVar[str] = "copy"
    subject: ClassVar[SubjectKind] = "copy"

    size_bytes: Size = key("How much it copies.", alias="bytes")
    within_ns: Seconds | None = optional(
        "How long it may take; 10 minutes if nothing is said.", alias="within"
    )
    block_bytes: Size = key(
        "How much it reads, processes and sends at a time.", alias="block", default=1 << 20
    )
    pipeline: Literal["sequential", "overlapped"] = key(
        "One block after the other, or all stages at the same time.", default="overlapped"
    )
    process_ps: Cost = key("What processing a byte takes.", alias="process", default=0)
    requests: Count = key(
        "Exchanges of small messages before each block, as when a file is looked up and opened.", default=0
    )
    congestion: Congestion | None = optional("TCP's congestion control; without it the sender's own.")
    dscp: Dscp | None = optional("The traffic class of its packets.")

    @property
    def longest_ns(self) -> int:
        """How long it may take."""
        return self.within_ns or LONGEST_TRANSFER_NS


class Ping(_Item):
    """ICMP echo requests: what the network does to a small frame."""

    tool: ClassVar[str] = "ping"
    mistakes: ClassVar[Mapping[str, str]] = {
        **_Item.mistakes,
        **dict.fromkeys(("duration", "count"), "time"),
    }
    subject: ClassVar[SubjectKind] = "ping"

    duration_ns: Seconds = key("How long it asks.", alias="time")
    interval_ns: Interval = key(
        "How long from one request to the next.", alias="interval", default=10 * NS_PER_MS
    )
    dscp: Dscp | None = optional("The traffic class of its packets.")

    @property
    def longest_ns(self) -> int:
        """How long it lasts."""
        return self.duration_ns


Item = Iperf3 | Copy | Ping


class TrafficItem(Model):
    """One thing that happens, under the name of the tool that does it."""

    iperf3: Iperf3 | None = None
    copy_: Copy | None = Field(default=None, alias="copy")
    ping: Ping | None = None

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if not self._items:
            raise ValueError("is empty: say what runs, such as iperf3: {...}")
        if len(self._items) > 1:
            raise ValueError("is more than one thing: begin each of them with a dash of its own")
        return self

    @property
    def _items(self) -> tuple[Item, ...]:
        return tuple(item for item in (self.iperf3, self.copy_, self.ping) if item is not None)

    @property
    def item(self) -> Item:
        """What it is."""
        return self._items[0]
