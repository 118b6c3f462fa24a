"""The two JSON files of a copy -> what it achieved."""

from wirelab.plan.traffic import Flow
from wirelab.results.flow import FlowResult, goodput_bps
from wirelab.results.rawjson import Field
from wirelab.units import BITS_PER_BYTE


def parse_copy(flow: Flow, client: Field, server: Field) -> FlowResult:
    """The figures of ``flow`` from the file of the end that sent and of the end that took.

    Goodput is over the time from the connection to the last byte that was written.
    Raises LabError when a file is incomplete, or when not all bytes came though all were sent.
    """
    received = server["bytes"]
    finished = client.get("finished") is None
    if finished and received.integer() != client["bytes"].integer():
        raise received.broken(f"{client['bytes'].integer()} bytes were sent, {received.integer()} taken")
    sizes = server["bytes_of_second"].elements()
    return FlowResult(
        name=flow.name,
        sender=flow.sender,
        receiver=flow.receiver,
        goodput_bps=goodput_bps(server),
        retransmits=client["retransmits"].integer(),
        intervals_bps=tuple(float(size.integer() * BITS_PER_BYTE) for size in sizes),
        duration_s=server["seconds"].number() if finished else None,
        reached_bytes=None if finished else received.integer(),
    )
