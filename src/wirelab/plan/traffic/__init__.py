"""What happens in the network: each kind of traffic in base units, and the programs that make it.

Standard library only, as the Plan that it is part of.
"""

from collections.abc import Mapping

from wirelab.plan.traffic.copy import Copy
from wirelab.plan.traffic.iperf3 import Iperf3
from wirelab.plan.traffic.item import Flow, Item, Protocol
from wirelab.plan.traffic.ping import Ping

__all__ = ["KINDS", "Copy", "Flow", "Iperf3", "Item", "Ping", "Protocol"]

KINDS: Mapping[str, type[Item]] = {kind.tool: kind for kind in (Iperf3, Copy, Ping)}
"""Every kind of traffic, by the word that it stands under in a scenario."""
