"""Where frames were lost: in a queue, a buffer or a port, or by the rule of a firewall."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from wirelab.units import COUNT, SIZE, rounded, show

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wirelab.plan.path import Hop
    from wirelab.plan.types import Port
    from wirelab.results.result import Result

MOST_NAMED: Final = 2
"""What is said of more places is their sum."""


@dataclass(frozen=True, slots=True)
class DropSite:
    """Frames lost at one port for one cause."""

    port: Port
    cause: str
    frames: int

    def __str__(self) -> str:
        """``15 980 frames were dropped at module.line (FIFO 16 KiB full)``."""
        return f"{frames_were(self.frames)} dropped at {self.port.label} ({_cause(self.port, self.cause)})"


def frames_were(count: int) -> str:
    """``1 frame was``, ``15 980 frames were``."""
    return "1 frame was" if count == 1 else f"{rounded(count, COUNT)} frames were"


def drop_sites(result: Result, ports: Iterable[Port], flow: str | None) -> list[DropSite]:
    """Where frames were lost during ``flow`` (None: the whole run), the most first."""
    sites = [
        DropSite(port, cause, frames)
        for port in ports
        for cause, frames in result.change(port.name, flow).drops_by_cause.items()
        if frames > 0
    ]
    return sorted(sites, key=lambda site: -site.frames)


def dropped(result: Result, ports: Iterable[Port], flow: str | None = None) -> list[str]:
    """The same in words, without the places where little was lost."""
    sites = drop_sites(result, ports, flow)
    words = [str(site) for site in sites[:MOST_NAMED]]
    rest = sum(site.frames for site in sites[MOST_NAMED:])
    return [*words, f"{rounded(rest, COUNT)} more elsewhere"] if rest else words


def blocked(result: Result, way: Iterable[Hop], flow: str | None) -> list[str]:
    """What the rules of the firewalls on these hops dropped: on purpose, so it counts as no port's drop."""
    passed = {hop.into.node for hop in way}
    return [
        f"{frames_were(frames)} blocked by {firewall} (rule {rule})"
        for firewall, rules in result.blocked(flow).items()
        for rule, frames in rules.items()
        if frames and firewall in passed
    ]


def _cause(port: Port, cause: str) -> str:
    words = {
        "queue": _full_queue(port),
        "netem": "lost by netem, as asked",
        "rx_buffer": f"packet buffer {show(port.buffer_bytes, SIZE)} full",
        "rx_oversize": f"longer than MTU {port.mtu_bytes} allows",
        "rx_down": "link down",
        "tx_down": "link down",
        "rx_error": "no memory",
        "tx_error": "no memory",
        "rx_collision": "damaged by a late collision",
        "tx_collisions": "given up after 16 collisions or a late one",
        "rx_pool": f"shared packet memory {show(port.pool.size_bytes, SIZE)} full" if port.pool else "pool",
    }
    return words.get(cause, cause.replace("_", " "))


def _full_queue(port: Port) -> str:
    queue = port.queue
    if queue is None:
        return "egress queue full"
    if not queue.kind.endswith("fifo"):
        # It drops on purpose, long before it is full.
        return f"by {queue.kind}"
    return "FIFO full" if queue.limit_bytes is None else f"FIFO {show(queue.limit_bytes, SIZE)} full"
