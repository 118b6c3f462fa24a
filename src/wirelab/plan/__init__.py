"""The Plan: everything a testbed needs to know, in base units, and nothing else."""

from wirelab.plan.types import (
    Bus,
    Cable,
    Cpu,
    Flow,
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
    "Cpu",
    "Flow",
    "Host",
    "Hub",
    "Module",
    "Netem",
    "Node",
    "Plan",
    "Pool",
    "Port",
    "Queue",
    "Route",
    "Router",
    "Switch",
]
