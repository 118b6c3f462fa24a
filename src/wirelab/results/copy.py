"""The two JSON files of a copy -> what it achieved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wirelab.results.flow import FlowResult
from wirelab.units import BITS_PER_BYTE

if TYPE_CHECKING:
    from wirelab.plan.traffic import Flow
    from wirelab.results.rawjson import Field


def parse_copy(flow: Flow, client: Field, server: Field) -> FlowResult:
    """The figures of ``flow`` from the file of the end that sent and of the end that took.

    Goodput is over the time from the connection to the last byte that was written.
    Raises LabError when a file is incomplete, or when not all bytes came though all were sent.
    """
    received, seconds = server["bytes"], server["seconds"]
    finished = client.get("finished") is None
    if finished and received.integer() != client["bytes"].integer():
        raise received.broken(f"{client['bytes'].integer()} bytes were sent, {received.integer()} taken")
    if seconds.number() <= 0:
        raise seconds.broken("expected a time above 0")
    return FlowResult(
        name=flow.name,
        sender=flow.sender,
        receiver=flow.receiver,
        goodput_bps=received.integer() * BITS_PER_BYTE / seconds.number(),
        retransmits=client["retransmits"].integer(),
        intervals_bps=tuple(
            float(size.integer() * BITS_PER_BYTE) for size in server["bytes_of_second"].elements()
        ),
        duration_s=seconds.number() if finished else None,
        reached_bytes=None if finished else received.integer(),
    )
