"""What every kind of traffic has: two ends and a time; and what every flow of payload has."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal

Protocol = Literal["tcp", "udp"]

# The traffic class of a frame is the upper six bits of its TOS byte (RFC 2474).
TOS_PER_DSCP = 4
NS_PER_S = 1_000_000_000

# What a program says that never reached its peer.
NO_CONNECTION = "unable to connect"


@dataclass(frozen=True, slots=True, kw_only=True)
class Item(ABC):
    """Something that one host does to another, from ``start_ns`` on for ``duration_ns``.

    ``start_ns`` counts from the instant the network is ready. Items whose times overlap run together.
    One that is ``early`` comes after a transfer that may take less than its time, and then begins as
    many whole seconds before ``start_ns`` as that leaves. ``dscp`` is what its frames carry, those of
    the answers too. A tool with a program of the lab's ``own_program`` is known nowhere else. A sending end
    that fails with one of its ``findings`` has measured something all the same.
    """

    tool: ClassVar[str]
    own_program: ClassVar[bool] = False
    findings: ClassVar[tuple[str, ...]] = (NO_CONNECTION,)

    name: str
    sender: str
    receiver: str
    start_ns: int
    duration_ns: int
    dscp: int | None = None
    early: bool = False

    @property
    def end_ns(self) -> int:
        """When its time is over."""
        return self.start_ns + self.duration_ns

    def overlaps(self, other: "Item") -> bool:
        """Whether both are there at the same time for a while."""
        return self.start_ns < other.end_ns and other.start_ns < self.end_ns

    @property
    def sender_file(self) -> str:
        """Where in the raw folder the sending end leaves what it has to say."""
        return f"flows/{self.name}.client.json"

    @property
    def receiver_file(self) -> str:
        """The same for the receiving end."""
        return f"flows/{self.name}.server.json"

    @property
    def received_block_bytes(self) -> int | None:
        """How much the receiving end reads at once, if it never looks at what it reads; else None."""
        return None

    @abstractmethod
    def sender_argv(self, address: str, *, filtered: bool = False) -> list[str]:
        """The program at the sending end; ``address`` is the receiver's.

        In a network that is ``filtered`` a firewall may swallow what it sends.
        """

    def is_measurement(self, code: int, words: str) -> bool:  # noqa: ARG002 - for who says nothing
        """Whether a sending end that ended with ``code``, not 0, and ``words`` was not broken by the lab."""
        return words.startswith(self.findings)

    def receiver_argv(self) -> list[str] | None:
        """The program at the receiving end, None where the kernel answers."""
        return None


@dataclass(frozen=True, slots=True)
class Stage:
    """What is done with each byte at a node: how long that takes, and whether it is storage that takes it."""

    what: str
    node: str
    byte_ps: int
    is_storage: bool

    def __str__(self) -> str:
        return f"{self.what} at {self.node}"


@dataclass(frozen=True, slots=True)
class Blocks:
    """How a flow goes on block after block, each through all ``stages`` in the order in which they are.

    Before each block there are so many ``requests``. ``in_turn``: one stage waits for the other.
    """

    block_bytes: int
    requests: int
    in_turn: bool
    stages: tuple[Stage, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow(Item):
    """Payload from one host to another, for its time or until ``size_bytes`` are sent.

    With a size ``duration_ns`` is the longest that it may take. ``payload_bytes`` is one write or one
    datagram, None where the program chooses. ``port`` is the receiver's,
    ``client_port`` the sender's first of ``parallel`` connections. ``congestion`` is None for UDP.
    """

    port: int
    client_port: int
    protocol: Protocol = "tcp"
    congestion: str | None = None
    size_bytes: int | None = None
    payload_bytes: int | None = None
    parallel: int = 1

    @property
    def blocks(self) -> Blocks | None:
        """How it goes on block after block, None where it does not."""
        return None

    def stages_s(self, payload_bytes: int, sent_s: float) -> dict[str, float]:  # noqa: ARG002
        """How long the programs at its ends take, by what they do, for a payload sent in ``sent_s``."""
        return {}
