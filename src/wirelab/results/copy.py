"""What a copy is made of, and its two JSON files -> what it achieved."""

from dataclasses import dataclass

from wirelab.plan.traffic import Copy, Flow
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


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage of a copy at a node: what a byte takes, and whether it is storage that takes it."""

    what: str
    node: str
    byte_ps: int
    is_storage: bool


@dataclass(frozen=True, slots=True)
class Blocks:
    """How a copy goes on: block after block, each through all ``stages``.

    ``in_turn``: one stage waits for the other.
    """

    block_bytes: int
    size_bytes: int
    requests: int
    in_turn: bool
    stages: tuple[Stage, ...]


def blocks_of(flow: Flow) -> Blocks | None:
    """How a flow that is a copy goes on, with the stages that take time; None of any other."""
    if not isinstance(flow, Copy):
        return None
    stages = (
        Stage("reading", flow.sender, flow.read_ps, is_storage=True),
        Stage("the program", flow.sender, flow.process_ps, is_storage=False),
        Stage("writing", flow.receiver, flow.write_ps, is_storage=True),
    )
    taking = tuple(stage for stage in stages if stage.byte_ps)
    return Blocks(flow.block_bytes, flow.size_bytes, flow.requests, flow.pipeline == "sequential", taking)
