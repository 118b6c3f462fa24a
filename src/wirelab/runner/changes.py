"""What may help a flow: the one-change variants of a case, made from the tables of settings and parts."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, get_args

from wirelab.errors import InputError
from wirelab.model.bond import HashPolicy
from wirelab.model.cases import Case, read_settings, varied
from wirelab.model.experiment import Experiment
from wirelab.model.parts import PartKind
from wirelab.model.setting_table import Place, SettingKind, settings_of
from wirelab.model.settings import QueueKind, Trust
from wirelab.model.types import figure_value
from wirelab.plan.build import build_plan
from wirelab.plan.ceiling import ceiling_bps
from wirelab.plan.traffic import Flow
from wirelab.plan.types import Plan
from wirelab.results.result import Result
from wirelab.runner.companions import companions
from wirelab.runner.flow_changes import flow_changes
from wirelab.runner.places import Places
from wirelab.units import SIZE, show
from wirelab.verdict.explanation import Bottleneck, Mechanism
from wirelab.verdict.remedy import HELPS_FROM, Effort
from wirelab.verdict.trouble import Trouble

_OWNERS: Final = (
    *("module", "module port", "switch", "switch port", "firewall", "firewall port"),
    *("cable", "bond", "host", "host port", "network"),
)
_LANES: Final = (1, 4, 16)
_MOST_PARTS: Final = 8
"""Others of one kind at one place."""
_PARTS: Final = {
    Mechanism.FIFO: ("module", "switch"),
    Mechanism.QUEUE: ("switch",),
    Mechanism.CPU: ("host", "firewall"),
    Mechanism.LINE: ("module", "switch", "hub"),
}
"""What a node is where another part of its kind may help."""


@dataclass(frozen=True, slots=True)
class Change:
    """A case with one thing changed: the settings that say so, as they would be written, and its Plan.

    ``what`` is the name of what is changed where the settings alone do not tell.
    """

    settings: tuple[tuple[str, str], ...]
    effort: Effort
    plan: Plan
    what: str = ""


@dataclass(frozen=True, slots=True)
class Proposal:
    """Settings that might be tried, before anybody has looked whether they make sense."""

    settings: tuple[tuple[str, str], ...]
    effort: Effort = Effort.SETTING
    what: str = ""


def changes(  # noqa: PLR0913, PLR0917 - all that a change depends on
    experiment: Experiment,
    case: Case,
    seed: int,
    begun: Plan,
    flow: Flow,
    result: Result,
    found: Bottleneck,
    helped: Trouble,
) -> list[Change]:
    """What may help a flow of a case, nothing twice; ``begun`` is the Plan that was measured.

    What cannot be is left out, what is the same to the lab as another one, and what by the ceiling of its
    path cannot be ``HELPS_FROM`` faster. Where a line is full and speed is not what is to be helped, the line
    is taken as it is: what would make it a faster one is left out.
    """
    places = Places(case.wiring, begun, result.linked(begun, flow), flow, found, helped.words(found))
    ceiling_now_bps = ceiling_bps(begun, flow) or 0.0
    known = {"", begun.physical_json()}
    made = []
    parts: Counter[str] = Counter()
    for proposal, plan in _planned(experiment, case, seed, places):
        goodput_bps = result.flows[flow.name].goodput_bps or 0.0
        most_bps = ceiling_bps(plan, next(one for one in plan.flows if one.name == flow.name))
        if most_bps is None or (helped.is_speed and most_bps < goodput_bps * HELPS_FROM):
            continue
        is_faster = most_bps >= ceiling_now_bps * HELPS_FROM
        if is_faster and not helped.is_speed and found.mechanism is Mechanism.LINE:
            continue
        if (physics := _physics(plan, proposal, flow)) in known:
            continue
        if proposal.effort is Effort.PART:
            key, _ = proposal.settings[0]
            parts[key] += 1
            if parts[key] > _MOST_PARTS:
                continue
        known.add(physics)
        made.append(Change(proposal.settings, proposal.effort, plan, proposal.what))
    return made


def _physics(plan: Plan, proposal: Proposal, flow: Flow) -> str:
    """What the lab gets of it; a host's congestion control is nothing to a flow that has its own."""
    ours = next(one for one in plan.flows if one.name == flow.name)
    keys = {key.rpartition(".")[2] for key, _ in proposal.settings}
    if keys == {"congestion"} and ours.congestion == flow.congestion:
        return ""
    return plan.physical_json()


def _planned(
    experiment: Experiment, case: Case, seed: int, places: Places
) -> Iterator[tuple[Proposal, Plan]]:
    """Those that can be, with their Plans: what takes another device comes last."""
    proposals = list(_proposals(places))
    yield from _possible(experiment, case, seed, (one for one in proposals if one.effort < Effort.PART))
    for changed, key, text in flow_changes(experiment, places):
        yield Proposal(((key, text),)), build_plan(changed, case, seed)
    yield from _possible(experiment, case, seed, (one for one in proposals if one.effort is Effort.PART))


def _possible(
    experiment: Experiment, case: Case, seed: int, proposals: Iterable[Proposal]
) -> Iterator[tuple[Proposal, Plan]]:
    for proposal in proposals:
        try:
            yield proposal, build_plan(experiment, varied(case, dict(proposal.settings)), seed)
        except InputError:
            continue


def _proposals(places: Places) -> Iterator[Proposal]:
    """Settings first, at the place and then at the ends; then other parts, other cards last."""
    kinds = {kind.name: kind for owner in _OWNERS for kind in settings_of(owner).values() if kind.helps}
    ordered = sorted(kinds.values(), key=lambda kind: (kind.kind in get_args(PartKind), kind.hardware))
    yield from _together(places, [kind for kind in ordered if kind.together])
    for kind in ordered:
        if not kind.together and kind.name != "nic":
            yield from _of_setting(places, kind)
    yield from _parts(places)
    yield from _of_setting(places, kinds["nic"])


def _together(places: Places, kinds: Iterable[SettingKind]) -> Iterator[Proposal]:
    """What is changed at once, as all costs of a CPU are, and both thresholds of a queue."""
    settings: dict[tuple[str, Effort, str], list[tuple[str, str]]] = {}
    for kind in kinds:
        effort = Effort.HARDWARE if kind.hardware else Effort.SETTING
        for place, tries in places.of_setting(kind):
            for keys in places.keys(place, kind.name):
                for text in tries:
                    values = [(key, value) for key in keys if (value := _value(places, kind, key, text))]
                    settings.setdefault((kind.together, effort, text), []).extend(values)
    yield from (Proposal(tuple(of), effort, what) for (what, effort, _), of in settings.items() if of)


def _of_setting(places: Places, kind: SettingKind) -> Iterator[Proposal]:
    effort = Effort.HARDWARE if kind.hardware else Effort.SETTING
    if kind.kind in get_args(PartKind):
        effort = Effort.PART
    for place, tries in places.of_setting(kind):
        for keys in places.keys(place, kind.name):
            for text in tries or _words(places, kind, place, keys[0]):
                # All along a path some may not have it: the others are asked all the same.
                values = [(key, _value(places, kind, key, text)) for key in keys]
                if place == "path":
                    values = [value for value in values if _is_possible(places, value)]
                if values and all(value for _, value in values):
                    others = [one for key, value in values for one in companions(places, key, value)]
                    wanted = [one for one in (*values, *others) if not _is_said(places, one)]
                    if wanted:
                        yield Proposal(tuple(wanted), effort)


def _is_said(places: Places, setting: tuple[str, str]) -> bool:
    """Whether the scenario has it so already."""
    try:
        [new] = read_settings(Case("", places.wiring, ()), dict([setting]))
    except InputError:
        return False
    said = places.wiring.settings.get((new.target, new.name))
    return said is not None and said.value == new.value


def _is_possible(places: Places, setting: tuple[str, str]) -> bool:
    try:
        varied(Case("", places.wiring, ()), dict([setting]))
    except InputError:
        return False
    return True


def _value(places: Places, kind: SettingKind, key: str, text: str) -> str:
    """A value as it is tried: itself, or a multiple of what is there; empty where nothing is."""
    if not text.startswith("x"):
        return text
    now = places.current(key)
    if not now or (kind.quantity is None and kind.kind != "queue_limit"):
        return ""
    if kind.quantity is None:
        return show(round(now * float(text[1:])), SIZE)
    return show(round(now * float(text[1:])), kind.quantity)


def _words(places: Places, kind: SettingKind, place: Place, key: str) -> list[str]:
    """All that a setting in words may say; who says PAUSE is told not to."""
    if kind.kind == "on_off":
        return ["off" if place in {"peer", "switches"} else "on"]
    if kind.kind == "priorities":
        # Where all frames have the same, stopping that one stops them all.
        several = places.priorities()
        return [str(one) for one in several] if len(several) > 1 else []
    if kind.kind == "bus":
        # Of its own family with more lanes, too: a card for PCI Express has none of USB.
        own = str(figure_value(places.wiring.nic(key.partition(".")[0]), "bus") or "").partition("-")[0]
        names = [name for name in places.wiring.parts.buses if name.partition("-")[0] == own]
        return [f"{name} x{lanes}" for name in names for lanes in _LANES]
    if kind.kind in get_args(PartKind):
        return list(places.wiring.parts.of(_PART_KINDS[kind.kind]))
    return list(_CHOICES.get(kind.kind, ()))


_PART_KINDS: Final[Mapping[str, PartKind]] = {kind: kind for kind in get_args(PartKind)}
_CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "queue": get_args(QueueKind),
    "hash_policy": get_args(HashPolicy),
    "trust": get_args(Trust),
}


def _parts(places: Places) -> Iterator[Proposal]:
    """Another part of its kind at each node of the place; one that says PAUSE where all on the way obey."""
    wiring = places.wiring
    for node in places.part_keys():
        kind = wiring.topology.nodes[node].kind
        if kind not in _PARTS.get(places.found.mechanism, ()) or not places.has(places.found.mechanism):
            continue
        for name, part in wiring.parts.of(kind).items():
            if name == wiring.part_name(node):
                continue
            yield Proposal(((node, name),), Effort.PART)
            if kind == "module" and figure_value(part, "host_pause"):
                others = [f"{one}.flow_control" for one in places.silent() if one != node]
                obeying = [(key, "on") for key in others if _is_possible(places, (key, "on"))]
                yield Proposal(((node, name), *obeying), Effort.PART, f"{name}, and PAUSE on along the path")
