"""The Plan: everything a testbed needs to know, in base units, and nothing else."""

from wirelab.plan.traffic import Copy, Flow, Iperf3, Item, Ping
from wirelab.plan.types import (
    Bus,
    Cable,
    Cpu,
    Firewall,
    Host,
    Hub,
    Netem,
    Node,
    Plan,
    Pool,
    Port,
    Queue,
    Route,
    Switch,
    Transceiver,
)

__all__ = [
    "Bus",
    "Cable",
    "Copy",
    "Cpu",
    "Firewall",
    "Flow",
    "Host",
    "Hub",
    "Iperf3",
    "Item",
    "Netem",
    "Node",
    "Ping",
    "Plan",
    "Pool",
    "Port",
    "Queue",
    "Route",
    "Switch",
    "Transceiver",
]
