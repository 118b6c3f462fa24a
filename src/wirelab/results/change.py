"""What one port counted between two snapshots."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wirelab.results.counters import PortCounters


@dataclass(frozen=True, slots=True)
class Change:
    """The counters of one port at two instants, and how far these are apart."""

    first: PortCounters
    last: PortCounters
    elapsed_ns: int

    def __getitem__(self, stat: str) -> int:
        """By how much a counter has grown."""
        return self.last[stat] - self.first[stat]

    def get(self, stat: str) -> int:
        """The same for a counter that not every port has: 0 where there is none."""
        return self.last.get(stat) - self.first.get(stat)

    @property
    def queue_drops(self) -> dict[str, int]:
        """Frames lost in the egress qdiscs: ``queue``, and ``netem`` where one loses some on purpose.

        netem counts what the queue below it drops as its own, too.
        """
        first, last = self.first.root, self.last.root
        dropped = last.dropped_frames - (first.dropped_frames if first else 0) if last else 0
        if not last or last.kind != "netem":
            return {"queue": dropped}
        below = self.last.dropped_below_root - self.first.dropped_below_root
        return {"queue": below, "netem": dropped - below}

    def sent_of(self, priority: int) -> int:
        """Frames that the queue of one priority handed to the port; 0 without such a queue."""
        first, last = (counters.of_priority(priority) for counters in (self.first, self.last))
        return (last.sent_frames if last else 0) - (first.sent_frames if first else 0)

    def queue_drops_of(self, priority: int) -> int:
        """Frames that the queue of one priority dropped; 0 without such a queue."""
        first, last = (counters.of_priority(priority) for counters in (self.first, self.last))
        return (last.dropped_frames if last else 0) - (first.dropped_frames if first else 0)

    def drops(self, direction: str) -> dict[str, int]:
        """Frames that the port dropped in ``rx`` or ``tx`` direction, by the driver's cause."""
        before = self.first.drops(direction)
        return {cause: n - before.get(cause, 0) for cause, n in self.last.drops(direction).items()}

    @property
    def drops_by_cause(self) -> dict[str, int]:
        """All frames dropped at the port, those of the egress queue first."""
        drops = self.queue_drops
        for direction in ("rx", "tx"):
            drops |= {f"{direction}_{cause}": n for cause, n in self.drops(direction).items()}
        return drops
