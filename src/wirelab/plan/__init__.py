"""The Plan: everything a testbed needs to know, in base units, and nothing else."""

from wirelab.plan.types import Cable, Flow, Host, Module, Netem, Node, Plan, Port, Queue, Switch

__all__ = ["Cable", "Flow", "Host", "Module", "Netem", "Node", "Plan", "Port", "Queue", "Switch"]
