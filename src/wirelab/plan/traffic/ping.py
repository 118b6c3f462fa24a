"""ping: what the network does to a small frame."""

from dataclasses import dataclass
from typing import ClassVar

from wirelab.plan.traffic.item import NS_PER_S, TOS_PER_DSCP, Item

# ping(8): 1 when there was no answer, 2 when it failed itself.
_NOBODY_ANSWERED = 1
# What it says where no way leads out of its host: every port is shut.
NO_WAY = "ping: connect: Network is unreachable"
# How long ping waits for its last answer.
_PATIENCE_S = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Ping(Item):
    """ICMP echo requests, one every ``interval_ns``."""

    tool: ClassVar[str] = "ping"

    interval_ns: int

    @property
    def count(self) -> int:
        """How many requests there are."""
        return max(self.duration_ns // self.interval_ns, 1)

    @property
    def sender_file(self) -> str:
        """Where in the raw folder ping leaves its lines."""
        return f"flows/{self.name}.ping.txt"

    @property
    def log_file(self) -> str:
        """Where it says why it asks nobody."""
        return f"flows/{self.name}.ping.log"

    def is_measurement(self, code: int, words: str) -> bool:
        """That nobody answered, or nobody could be asked, is no failure of ping."""
        return code == _NOBODY_ANSWERED or words.startswith(NO_WAY)

    def sender_argv(self, address: str, *, filtered: bool = False) -> list[str]:  # noqa: ARG002 - it never gives up
        """``ping`` with numbers for names; it waits as long for its last answer as for any other."""
        interval_s = f"{self.interval_ns / NS_PER_S:g}"
        argv = ["ping", "-n", "-i", interval_s, "-c", str(self.count), "-W", str(_PATIENCE_S)]
        if self.dscp is not None:
            argv += ["-Q", str(self.dscp * TOS_PER_DSCP)]
        return [*argv, address]
