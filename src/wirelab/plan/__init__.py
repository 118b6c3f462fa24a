"""The Plan: everything a testbed needs to know, in base units, and nothing else."""

from wirelab.plan.traffic import Copy, Flow, Iperf3, Item, Ping
from wirelab.plan.types import (
    Bus,
    Cable,
    Cpu,
    Host,
    Hub,
    Module,
    Netem,
    Node,
    Plan,
    Pool,
    Port,
    Queue,
    Route,
    Router,
    Switch,
)

__all__ = [
    "Bus",
    "Cable",
    "Copy",
    "Cpu",
    "Flow",
    "Host",
    "Hub",
    "Iperf3",
    "Item",
    "Module",
    "Netem",
    "Node",
    "Ping",
    "Plan",
    "Pool",
    "Port",
    "Queue",
    "Route",
    "Router",
    "Switch",
]
