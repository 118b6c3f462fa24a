"""Before anything is measured: neighbours know each other's addresses, switches who is where."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wirelab.guest import clock
from wirelab.guest.shell import CommandError, run
from wirelab.plan.path import crossing_ns, path

if TYPE_CHECKING:
    from wirelab.guest.network import Network
    from wirelab.plan.path import Hop
    from wirelab.plan.types import Plan

# What an answer may take beyond what the Plan says it takes: ARP, retries, frames that are lost.
_PATIENCE_S = 10
# ARP's request and answer, then the echo and its: each CPU and each long path is crossed so often.
_CROSSINGS = 4
# The longest that somebody waits for what may never come; virtual time in which nothing happens is free.
_LONGEST_S = 600


def warm_arp(network: Network) -> None:
    """A ping each way between the ends of all traffic: ARP and the switches' tables are filled.

    Repeated until it is answered, for a path may be meant to lose frames. Raises CommandError when
    nothing comes through where by the Plan something must: then the lab is broken.
    """
    plan = network.plan
    pairs = {(item.sender, item.receiver) for item in plan.traffic}
    for sender, receiver in sorted(pairs | {(receiver, sender) for sender, receiver in pairs}):
        way = (*path(plan, sender, receiver), *path(plan, receiver, sender))
        patience_s = min(_PATIENCE_S + _CROSSINGS * crossing_ns(way) // clock.NS_PER_S, _LONGEST_S)
        argv = ["ping", "-c", "1", "-w", str(patience_s), plan.address_of(receiver)]
        try:
            run(network.argv(sender, argv))
        except CommandError:
            if must_answer(plan, way):
                raise


def must_answer(plan: Plan, way: tuple[Hop, ...]) -> bool:
    """Whether an echo cannot but come back: nothing on its way loses, blocks or outlasts it."""
    blocking = {firewall.name for firewall in plan.firewalls if "icmp" in firewall.nft}
    return (
        not any(hop.out.netem is not None and hop.out.netem.loss_ratio for hop in way)
        and not any(hop.into.node in blocking for hop in way)
        and _CROSSINGS * crossing_ns(way) < _LONGEST_S * clock.NS_PER_S
    )
