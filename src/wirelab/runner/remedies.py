"""What would help, found by running it: each change of a result's variant in a lab, and what came of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from wirelab.errors import InputError
from wirelab.lab.scratch import discard
from wirelab.model.cases import Case
from wirelab.model.expect import Expectation
from wirelab.model.experiment import Experiment, load
from wirelab.plan.build import build_plan
from wirelab.plan.traffic import Flow
from wirelab.runner.changes import Change, changes
from wirelab.runner.cpus import run_on
from wirelab.runner.explanation import FlowRemedies
from wirelab.runner.matrix import Watcher
from wirelab.runner.past_runs import Kept
from wirelab.runner.run_result import Evidence, VariantResult
from wirelab.runner.store import Draft
from wirelab.runner.trial import Runner, Trial
from wirelab.units import RATE, rounded
from wirelab.verdict.bottleneck import NO_FLOW, bottleneck, where_lost
from wirelab.verdict.explanation import Bottleneck
from wirelab.verdict.remedy import Measured, Remedy, Tried, costs, given_up, helps, ranked
from wirelab.verdict.trouble import LOSSES, Trouble, in_trouble, trouble
from wirelab.verdict.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Search:
    """What is to be tried for some flows of one variant of a result: ``helped`` has which figure of each."""

    variant: VariantResult
    evidence: Evidence
    helped: Mapping[str, Trouble]
    changes: tuple[Change, ...]
    left_out: int

    @property
    def virtual_s(self) -> float:
        """How much virtual time its labs take together, about."""
        return self.variant.virtual_s * len(self.changes)


def scenario_of(kept: Kept, variant: str, evidence: Evidence, folder: Path) -> tuple[Experiment, Case]:
    """The scenario that a result is of, as ``folder`` has it: what it plans is what was measured.

    Raises InputError where there is none, or another one by now.
    """
    name = kept.run.rerun_argv[2] if len(kept.run.rerun_argv) > 2 else kept.run.scenario  # noqa: PLR2004
    hint = f"what would help is found by running the scenario {kept.run.scenario} with changes: it is needed"
    try:
        experiment = load(name, folder)
        case = experiment.case(variant)
    except InputError as error:
        raise InputError.of(error.problems) from InputError(hint)
    planned = build_plan(experiment, case, kept.run.seed)
    if planned.physical_json() != evidence.plan.physical_json():
        raise InputError(
            f"{kept.folder}: {name} is not the scenario any more that this is a result of",
            hint="run it again, and explain that",
        )
    return experiment, case


def flows_in_trouble(
    evidence: Evidence, named: str | None, expectations: Sequence[Expectation] = ()
) -> tuple[Flow, ...]:
    """The flows to ask about: the one that is named, else those of which a figure is in trouble, else all.

    Raises InputError for a name that no flow has, and where there is no flow.
    """
    flows = evidence.plan.flows
    if not flows:
        raise InputError(f"{evidence.plan.scenario} {evidence.plan.variant} has {NO_FLOW}")
    if named is not None:
        if chosen := tuple(flow for flow in flows if flow.name == named):
            return chosen
        raise InputError(f"no flow is called `{named}`: there are {', '.join(flow.name for flow in flows)}")
    bad = [flow for flow in flows if in_trouble(evidence.plan, flow, evidence.result, expectations)]
    return tuple(bad) or flows


def search(  # noqa: PLR0913, PLR0917 - all that a search is about
    experiment: Experiment,
    case: Case,
    variant: VariantResult,
    evidence: Evidence,
    flows: Sequence[Flow],
    most: int,
) -> Search:
    """What is to be tried for these flows, at most ``most`` changes in all, those of each flow in turn."""
    plan, result = evidence.plan, evidence.result
    helped = {flow.name: trouble(plan, flow, result, case.expectations) for flow in flows}
    proposed = []
    for flow in flows:
        of = helped[flow.name]
        place = _place(evidence, flow, of)
        proposed.append(changes(experiment, case, plan.seed, plan, flow, result, place, of))
    distinct: dict[str, Change] = {}
    for number in range(max(map(len, proposed), default=0)):
        for of_flow in proposed:
            if number < len(of_flow):
                distinct.setdefault(of_flow[number].plan.physical_json(), of_flow[number])
    chosen = list(distinct.values())
    return Search(variant, evidence, helped, tuple(chosen[:most]), max(len(chosen) - most, 0))


@dataclass(frozen=True, slots=True)
class RemedyRunner:
    """Carries out searches; the files of each run are gone after it, what it measured is in the cache."""

    runner: Runner
    draft: Draft
    watcher: Watcher

    def run(self, searches: Sequence[Search], cpus: Sequence[int]) -> list[tuple[FlowRemedies, ...]]:
        """What helps the flows of each search. KeyboardInterrupt ends all of them first."""
        tasks: list[Callable[[int], VariantResult]] = []
        for number, one in enumerate(searches):
            tasks += [
                partial(self._try, f"change-{number}-{n}", change) for n, change in enumerate(one.changes)
            ]
        done = iter(run_on(cpus, tasks, self.runner.testbed.stop))
        return [_remedies(one, [next(done) for _ in one.changes]) for one in searches]

    def _try(self, name: str, change: Change, cpu: int) -> VariantResult:
        trial = Trial(replace(change.plan, variant=name), ())
        self.watcher.begun(trial)
        on_progress = partial(self.watcher.progress, trial)
        measured = self.runner.run(trial, self.draft, cpu=cpu, on_progress=on_progress)
        self.watcher.done(trial, measured)
        discard(self.draft.folder / name)
        self.watcher.finished()
        return measured


def _place(evidence: Evidence, flow: Flow, helped: Trouble) -> Bottleneck:
    """Where to help: where frames are lost, if that is the trouble, else at the bottleneck."""
    plan, result = evidence.plan, evidence.result
    lost = where_lost(plan, flow, result) if helped.metric in LOSSES else None
    return lost or bottleneck(plan, flow, result)


def _remedies(of: Search, tried: Sequence[VariantResult]) -> tuple[FlowRemedies, ...]:
    """What of the changes helps each flow, the best first."""
    before = _measured(of.variant)
    told = []
    for name, helped in of.helped.items():
        helping: list[Remedy] = []
        useless: list[Tried] = []
        for change, variant in zip(of.changes, tried, strict=True):
            remedy = _remedy(name, helped, change, before, variant)
            if isinstance(remedy, Remedy):
                helping.append(remedy)
            else:
                useless.append(remedy)
        told.append(FlowRemedies(name, helped, ranked(helped.metric, helping), tuple(useless), of.left_out))
    return tuple(told)


def _remedy(
    flow: str, helped: Trouble, change: Change, before: Measured, variant: VariantResult
) -> Remedy | Tried:
    """What a change does for a figure of a flow."""
    evidence, settings = variant.evidence, dict(change.settings)
    if evidence is None or variant.verdict is Verdict.ERROR or variant.digest is None:
        bad = next(check for check in variant.checks if check.verdict is not Verdict.PASS)
        return Tried(settings, None, bad.explanation or bad.measured)
    after = _measured(variant)
    figure = variant.figure(helped.subject, helped.metric)
    if figure is None:
        return Tried(settings, None, f"nothing came through that would tell {helped.name(flow)}")
    if not helps(helped.metric, helped.value, figure):
        return Tried(settings, figure)
    was_bps, now_bps = (one.flows[flow].goodput_bps or 0.0 for one in (before, after))
    if given_up(was_bps, now_bps):
        rates = " instead of ".join(rounded(one, RATE) for one in (now_bps, was_bps))
        return Tried(settings, figure, f"{flow} has {rates} then")
    of = next(one for one in evidence.plan.flows if one.name == flow)
    return Remedy(
        settings=settings,
        effort=change.effort,
        before=helped.value,
        after=figure,
        goodput_bps=now_bps,
        then=bottleneck(evidence.plan, of, evidence.result).where,
        costs=costs(flow, helped, before, after),
        digest=variant.digest,
        what=change.what,
    )


def _measured(variant: VariantResult) -> Measured:
    return Measured(
        {flow.name: flow for flow in variant.flows},
        {ping.name: ping for ping in variant.pings},
        variant.ports,
        variant.elapsed_ns,
    )
