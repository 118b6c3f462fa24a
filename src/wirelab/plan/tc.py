"""A port's egress in tc's words: the lab gives them to tc, ``wirelab plan`` shows them.

Standard library only, for the guest. tc reads a bare delay as milliseconds, ``mbps`` as megabytes per
second and a loss in percent: every number here has its unit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wirelab.plan.types import Netem, Port, Queue

PRIORITIES = 8

_PERCENT = 100


def egress(port: Port) -> Iterator[str]:
    """The qdiscs of a port as tc commands, without the word ``tc``; none where the kernel's default stays.

    With PFC each priority has its own. A long path comes first and the egress queue below it: what netem
    has held back waits in front of the wire like any other frame.
    """
    if port.pfc:
        yield from _by_priority(port)
        return
    where = "root"
    if port.netem is not None:
        yield f"qdisc replace dev {port.name} root handle 1: netem {_netem(port.netem)}"
        where = "parent 1:"
    if port.queue is not None:
        yield f"qdisc replace dev {port.name} {where} {_queue(port.queue)}"


def redirect(source: str, target: str) -> Iterator[str]:
    """What enters one port of a module leaves by the other."""
    yield f"qdisc add dev {source} clsact"
    yield f"filter add dev {source} ingress matchall action mirred egress redirect dev {target}"


def _by_priority(port: Port) -> Iterator[str]:
    """One queue for each of the port's eight TX queues; the port takes them in strict order."""
    yield f"qdisc replace dev {port.name} root handle 1: mq"
    if port.queue is not None:
        for number in range(1, PRIORITIES + 1):
            yield f"qdisc replace dev {port.name} parent 1:{number} {_queue(port.queue)}"


def _queue(queue: Queue) -> str:
    words = queue.kind
    if queue.limit_bytes is not None:
        words += f" {'memlimit' if queue.kind == 'cake' else 'limit'} {queue.limit_bytes}"
    if queue.limit_frames is not None:
        words += f" limit {queue.limit_frames}"
    if queue.ecn is not None:
        words += " ecn" if queue.ecn else " noecn"
    return words


def _netem(netem: Netem) -> str:
    words = f"limit {netem.limit_packets}"
    if netem.delay_ns:
        words += f" delay {netem.delay_ns}ns"
        if netem.jitter_ns:
            words += f" {netem.jitter_ns}ns"
    if netem.loss_ratio:
        words += f" loss {netem.loss_ratio * _PERCENT:.4f}%"
    if netem.reorder_ratio:
        words += f" reorder {netem.reorder_ratio * _PERCENT:.4f}%"
    return words
