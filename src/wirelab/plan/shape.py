"""What lets pass what leaves a port. Standard library only, for the guest."""

from dataclasses import dataclass
from typing import Final, Literal

ShapeKind = Literal["tbf", "htb", "cake", "police"]

ROUTER_BURST_BYTES: Final = 1600
"""What a router's htb lets pass at once: tc's own choice where timers are of high resolution (tc/q_htb.c).

Said all the same: on a kernel in its first ticks, tc would choose what passes in 4 ms.
"""
_GSO_MAX_BYTES: Final = 65536
"""GSO_LEGACY_MAX_SIZE of include/linux/netdevice.h: what a stack hands to a queue as one."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What lets ``rate_bps`` pass, and ``burst_bytes`` at once after a silence.

    What may not pass yet waits in the egress queue below it, or in itself (``cake``, which spaces frames and
    has no burst), or is dropped (``police``, a policer).

    A frame counts as its length as Linux has it, without FCS, and ``overhead_bytes``, which may be less than
    nothing; ``least_bytes`` if that is more. It meets single frames and no GSO packets: Linux would add the
    overhead once to each of those.

    A policer has a ``number`` of its own in a lab, by which it is changed.

    With a ``trace``, the one that the Plan has by that name, bytes pass as that says; until it begins, and in
    the mean of it, at ``rate_bps``. One that ``varies`` is changed by events, as that is by its trace.
    """

    kind: ShapeKind
    rate_bps: int
    burst_bytes: int
    overhead_bytes: int = 0
    least_bytes: int = 0
    trace: str = ""
    number: int = 0
    varies: bool = False

    @property
    def kicked(self) -> bool:
        """Whether a plug is beside it, by which the port looks at it again when it has changed."""
        return bool(self.trace) or self.varies

    @property
    def noun(self) -> str:
        """What a person calls it."""
        return "policer" if self.kind == "police" else "shaper"

    def counted_bytes(self, frame: int) -> int:
        """What a frame of so many bytes counts."""
        return max(frame + self.overhead_bytes, self.least_bytes)


def router_shape(rate_bps: int) -> Shape:
    """A router's own htb: it takes GSO packets whole, so that one passes at once beside its burst."""
    return Shape("htb", rate_bps, ROUTER_BURST_BYTES + _GSO_MAX_BYTES)
