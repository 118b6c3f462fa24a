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


def completions(line: str, plan: Plan, case: Case, *, is_fixed: bool = False) -> list[str]:
    """The words that may come at the end of a line, in place of the one that is begun.

    ``is_fixed``: no setting may be changed.
    """
    *before, begun = line.split(" ")
    before = [word for word in before if word]
    words = [word for word in dict.fromkeys(_next(before, plan, case)) if word.startswith(begun)]
    if not is_fixed:
        return words
    if before[:1] in (["set"], ["again"]):
        return []
    is_command = before in ([], ["help"])
    return [word for word in words if not (is_command and word == "set")]


def _next(before: list[str], plan: Plan, case: Case) -> list[str]:
    nodes = [node.name for node in plan.nodes]
    ports = [port.label for port in plan.ports]
    if not before:
        return [*WORDS, *nodes]
    word, *rest = before
    if word in nodes:
        return [*nodes, *(port.name for port in plan.ports_of(word))] if rest else list(_PROGRAMS)
    if word == "run":
        return _of_run(rest, plan)
    if word in {"set", "again"}:
        return [] if rest else settings_for(case)
    known = {
        "start": [item.name for item in plan.timetable],
        "show": [*nodes, *ports],
        "help": [] if rest else list(WORDS),
    }
    return known.get(word, [])


def _of_run(rest: list[str], plan: Plan) -> list[str]:
    ports = [port.label for port in plan.ports]
    match rest:
        case []:
            return ["until", "1 ms", "10 ms", "100 ms", "1 s"]
        case ["until"]:
            flows = [flow.name for flow in plan.flows if flow.protocol == "tcp"]
            fills = [f"{port}.{fill}" for port in ports for fill in FILLS]
            return [*ports, *fills, *(f"{flow}.{figure}" for flow in flows for figure in FIGURES)]
        case ["until", port] if port in ports:
            return list(HAPPENS)
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
