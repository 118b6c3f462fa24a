"""A copy: a program that reads, processes and sends, and one that takes and writes."""

import json
from dataclasses import dataclass
from typing import ClassVar, Literal

from wirelab.plan.traffic.item import Blocks, Flow, Stage

_PS_PER_S = 10**12

Pipeline = Literal["sequential", "overlapped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy(Flow):
    """A program that reads a block, processes it and sends it; its peer takes the block and writes it.

    Each stage is a serial server: ``read_ps``, ``process_ps`` and ``write_ps`` are what a byte costs it,
    0 for nothing. Before each block the two exchange ``requests`` pairs of small messages, one after the
    other. ``sequential``: a block is written before the next one is read. ``overlapped``: the stages
    work at the same time, on one block each.
    """

    tool: ClassVar[str] = "copy"
    own_program: ClassVar[bool] = True

    size_bytes: int
    block_bytes: int
    pipeline: Pipeline = "overlapped"
    read_ps: int = 0
    process_ps: int = 0
    write_ps: int = 0
    requests: int = 0

    @property
    def blocks(self) -> Blocks:
        """How it goes on; what takes no time is no stage."""
        known = (
            Stage("reading", self.sender, self.read_ps, is_storage=True),
            Stage("the program", self.sender, self.process_ps, is_storage=False),
            Stage("writing", self.receiver, self.write_ps, is_storage=True),
        )
        taking = tuple(stage for stage in known if stage.byte_ps)
        return Blocks(self.block_bytes, self.requests, self.pipeline == "sequential", taking)

    def stages_s(self, payload_bytes: int, sent_s: float) -> dict[str, float]:
        """The slowest is the limit of overlapped stages; sequential ones are one."""
        stages_s = {str(stage): payload_bytes * stage.byte_ps / _PS_PER_S for stage in self.blocks.stages}
        if self.pipeline == "overlapped":
            return stages_s
        return {"reading, sending and writing one after the other": sent_s + sum(stages_s.values())}

    def receiver_argv(self) -> list[str]:
        """The end that takes and writes."""
        return self._argv("take", "port write_ps")

    def sender_argv(self, address: str, *, filtered: bool = False) -> list[str]:  # noqa: ARG002 - TCP's own patience
        """The end that reads, processes and sends."""
        own = "port client_port congestion dscp size_bytes block_bytes read_ps process_ps requests"
        return self._argv("send", own, address=address, sequential=self.pipeline == "sequential")

    def _argv(self, end: str, own: str, **more: object) -> list[str]:
        """One end, with some of the fields, and what follows from them."""
        orders = {name: getattr(self, name) for name in own.split()} | more
        return ["python3", "-B", "-m", "wirelab.guest.copier", end, json.dumps(orders, sort_keys=True)]
