"""How a line at the prompt may go on."""

from wirelab.model.cases import Case
from wirelab.model.setting_table import settings_of
from wirelab.plan.types import Plan
from wirelab.shell.command import WORDS
from wirelab.shell.condition import FIGURES, FILLS, HAPPENS

_PROGRAMS = (
    "ping -c 3",
    "iperf3 -c",
    "ss -ti",
    "ethtool -S",
    "ip -s link",
    "tcpdump -ni",
    "tc -s qdisc",
    "cat",
)


def completions(line: str, plan: Plan, case: Case) -> list[str]:
    """The words that may come at the end of a line, in place of the one that is begun."""
    *before, begun = line.split(" ")
    before = [word for word in before if word]
    return [word for word in dict.fromkeys(_next(before, plan, case)) if word.startswith(begun)]


def _next(before: list[str], plan: Plan, case: Case) -> list[str]:
    nodes = [node.name for node in plan.nodes]
    ports = [port.label for port in plan.ports]
    match before:
        case []:
            return [*WORDS, *nodes]
        case ["run"]:
            return ["until", "1 ms", "10 ms", "100 ms", "1 s"]
        case ["run", "until"]:
            flows = [flow.name for flow in plan.flows if flow.protocol == "tcp"]
            fills = [f"{port}.{fill}" for port in ports for fill in FILLS]
            return [*ports, *fills, *(f"{flow}.{figure}" for flow in flows for figure in FIGURES)]
        case ["run", "until", port] if port in ports:
            return list(HAPPENS)
        case ["start", *_]:
            return [item.name for item in plan.timetable]
        case ["show", *_]:
            return [*nodes, *ports]
        case ["set" | "again"]:
            return settings_for(case)
        case ["help"]:
            return list(WORDS)
        case [node] if node in nodes:
            return list(_PROGRAMS)
        case [node, *_] if node in nodes:
            return [*nodes, *(port.name for port in plan.ports if port.node == node)]
    return []


def settings_for(case: Case) -> list[str]:
    """The keys of all settings of a network."""
    topology = case.wiring.topology
    known = list(topology.nodes)
    for name, node in topology.nodes.items():
        known += [f"{name}.{setting}" for setting in settings_of(node.kind)]
    for ref in topology.ports():
        kind = topology.nodes[ref.node].kind
        known += [f"{topology.label(ref)}.{setting}" for setting in settings_of(f"{kind} port")]
    for cable in topology.cables:
        if cable.name:
            known += [f"{cable.name}.{setting}" for setting in settings_of("cable")]
    return known
