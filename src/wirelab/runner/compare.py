"""Two sides, each of one or many runs: what is measured otherwise, and what of that is beyond their spread.

How it is decided. A run is a pure function of its Plan, so equal digests of a seed are the same run, byte
for byte. Where they differ, any change sends what is chaotic in a run another way: one seed on each side can
only be told to be unequal. With more of them each figure is held by the exact test of Mann and Whitney
against what dealing its values to the sides by chance would give; of all figures that are tested at most
``FALSE_SHARE`` of those named are named by chance (Benjamini and Hochberg).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Final, Self

from wirelab.model.metric import METRICS, Metric, SubjectKind, metrics_of
from wirelab.runner.kept_plan import differences, plan_values
from wirelab.runner.past_runs import Kept
from wirelab.runner.run_result import VariantResult
from wirelab.verdict.ranks import false_discoveries_held, least_p_value, p_value
from wirelab.verdict.verdict import Verdict

FALSE_SHARE: Final = 0.05
VERDICT: Final = "verdict"
"""What is compared beside the metrics: how many seeds pass."""
_PLACES: Final = 9


class Outcome(StrEnum):
    """What became of a variant from one side to the other."""

    SAME = "same"
    WITHIN = "within the spread"
    UNDECIDED = "differs"
    CHANGED = "changed"
    ONLY_BEFORE = "only before"
    ONLY_AFTER = "only after"
    BROKEN = "error"

    @property
    def is_nothing(self) -> bool:
        """Whether nothing can be said to have changed."""
        return self in {Outcome.SAME, Outcome.WITHIN}


@dataclass(frozen=True, slots=True)
class Change:
    """A figure that is not the same on both sides: its values by seed, in base units.

    ``p`` is None where there are too few of them to decide. ``is_real`` says that it is beyond the spread.
    """

    subject: str
    metric: str
    before: tuple[float, ...]
    after: tuple[float, ...]
    p: float | None = None
    is_real: bool = False

    @property
    def of(self) -> Metric | None:
        """The metric, None for the verdict."""
        return METRICS.get(self.metric)


@dataclass(frozen=True, slots=True)
class VariantChange:
    """A variant of a scenario on both sides.

    ``same_seeds`` of the ``common_seeds`` have one digest on both. ``settings`` are what their Plans say
    otherwise: where, and both values as JSON.
    """

    scenario: str
    variant: str
    outcome: Outcome
    before: tuple[int, ...] = ()
    after: tuple[int, ...] = ()
    common_seeds: int = 0
    same_seeds: int = 0
    settings: tuple[tuple[str, str, str], ...] = ()
    changes: tuple[Change, ...] = ()

    @property
    def is_decidable(self) -> bool:
        """Whether two sides of that many seeds can be told apart at all."""
        return _is_decidable(len(self.before), len(self.after))


@dataclass(frozen=True, slots=True)
class Comparison:
    """All variants that either side has, by scenario; ``tested`` figures were held by a test."""

    variants: tuple[VariantChange, ...]
    tested: int

    @property
    def is_changed(self) -> bool:
        """Whether anything can be said to have changed, or cannot be said not to have."""
        return not all(variant.outcome.is_nothing for variant in self.variants)

    def to_values(self) -> dict[str, object]:
        """What ``--json`` prints."""
        return {
            "schema": 1,
            "changed": self.is_changed,
            "false_share": FALSE_SHARE,
            "tested": self.tested,
            "variants": [_values(variant) for variant in self.variants],
        }


@dataclass(frozen=True, slots=True)
class _Side:
    """The runs of one variant, by seed."""

    runs: Mapping[int, VariantResult]
    folders: Mapping[int, Path]

    @classmethod
    def of(cls, kept: Iterable[Kept], scenario: str, variant: str) -> Self:
        by_seed = {
            one.run.seed: (result, one.folder)
            for one in kept
            if one.run.scenario == scenario
            for result in one.run.variants
            if result.name == variant
        }
        return cls(
            {seed: by_seed[seed][0] for seed in sorted(by_seed)},
            {seed: by_seed[seed][1] for seed in sorted(by_seed)},
        )

    @property
    def whole(self) -> tuple[VariantResult, ...]:
        """Those of which a lab measured something."""
        return tuple(run for run in self.runs.values() if run.digest is not None)


def compare(before: Sequence[Kept], after: Sequence[Kept]) -> Comparison:
    """What changed from one side to the other. Each scenario and seed is there at most once on a side."""
    keys = dict.fromkeys(
        (one.run.scenario, variant.name) for one in (*before, *after) for variant in one.run.variants
    )
    variants = [
        _variant(scenario, name, _Side.of(before, scenario, name), _Side.of(after, scenario, name))
        for scenario, name in sorted(keys, key=lambda key: key[0])
    ]
    p_values = [change.p for variant in variants for change in variant.changes if change.p is not None]
    limit = false_discoveries_held(p_values, FALSE_SHARE)
    return Comparison(tuple(_decided(variant, limit) for variant in variants), len(p_values))


def _variant(scenario: str, name: str, before: _Side, after: _Side) -> VariantChange:
    """Both sides of a variant; what is real among its changes is not decided yet."""
    told = VariantChange(scenario, name, Outcome.SAME, tuple(before.runs), tuple(after.runs))
    if not before.runs or not after.runs:
        return replace(told, outcome=Outcome.ONLY_BEFORE if before.runs else Outcome.ONLY_AFTER)
    common = [seed for seed in before.runs if seed in after.runs]
    seed_before, seed_after = (common[0], common[0]) if common else (told.before[0], told.after[0])
    told = replace(
        told,
        common_seeds=len(common),
        same_seeds=sum(_is_same(before.runs[seed], after.runs[seed]) for seed in common),
        settings=_settings(before.folders[seed_before], after.folders[seed_after], name),
    )
    if len(before.whole) < len(before.runs) or len(after.whole) < len(after.runs):
        return replace(told, outcome=Outcome.BROKEN)
    if common and told.same_seeds == len(common):
        # The runs are the same. What is expected of them may not be.
        verdicts = tuple(
            change
            for change in _changes(
                *(_Side({s: side.runs[s] for s in common}, {}) for side in (before, after))
            )
            if change.metric == VERDICT
        )
        is_real = bool(verdicts or told.settings)
        verdicts = tuple(replace(change, is_real=True) for change in verdicts)
        return replace(told, outcome=Outcome.CHANGED if is_real else Outcome.SAME, changes=verdicts)
    changes = tuple(_changes(before, after))
    if told.is_decidable:
        changes = tuple(replace(change, p=p_value(change.before, change.after)) for change in changes)
    return replace(told, outcome=Outcome.WITHIN if told.is_decidable else Outcome.UNDECIDED, changes=changes)


def _decided(variant: VariantChange, limit: float) -> VariantChange:
    """With what is beyond the spread first, by how far."""
    decided = [
        replace(change, is_real=True) if change.p is not None and change.p <= limit else change
        for change in variant.changes
    ]
    decided.sort(key=lambda change: (not change.is_real, 1.0 if change.p is None else change.p))
    is_changed = variant.outcome is Outcome.WITHIN and any(change.is_real for change in decided)
    outcome = Outcome.CHANGED if is_changed else variant.outcome
    if outcome is Outcome.WITHIN and variant.settings:
        outcome = Outcome.CHANGED
    return replace(variant, outcome=outcome, changes=tuple(decided))


def _is_same(before: VariantResult, after: VariantResult) -> bool:
    return before.digest is not None and before.digest == after.digest


def _is_decidable(before: int, after: int) -> bool:
    return least_p_value(before, after) <= FALSE_SHARE


def _settings(before: Path, after: Path, variant: str) -> tuple[tuple[str, str, str], ...]:
    ours, theirs = plan_values(before, variant), plan_values(after, variant)
    return () if ours is None or theirs is None else differences(ours, theirs)


def _changes(before: _Side, after: _Side) -> Iterator[Change]:
    """Every figure that all runs of both sides have, and that is not one value in all of them."""
    passes = [tuple(float(run.verdict is Verdict.PASS) for run in side.whole) for side in (before, after)]
    yield from _unequal("", VERDICT, *passes)
    subjects = dict.fromkeys(
        subject for side in (before, after) for run in side.whole for subject in _of(run)
    )
    for subject, kind in subjects:
        for metric in metrics_of(kind):
            ours, theirs = (_figures(side.whole, subject, metric.name) for side in (before, after))
            if ours is not None and theirs is not None:
                yield from _unequal(subject, metric.name, ours, theirs)


def _unequal(
    subject: str, metric: str, before: tuple[float, ...], after: tuple[float, ...]
) -> Iterator[Change]:
    if len({*before, *after}) > 1:
        yield Change(subject, metric, before, after)


def _of(run: VariantResult) -> Iterator[tuple[str, SubjectKind]]:
    """The subjects of a run that have figures."""
    for flow in run.flows:
        yield flow.name, "UDP flow" if flow.protocol == "udp" else "flow"
    for ping in run.pings:
        yield ping.name, "ping"
    for port in run.ports:
        yield port, "port"


def _figures(runs: Iterable[VariantResult], subject: str, metric: str) -> tuple[float, ...] | None:
    """A figure of each run; None where a run has none, for its flow was lost, or it has no such subject."""
    figures: list[float] = []
    for run in runs:
        try:
            figure = run.figure(subject, metric)
        except (KeyError, ValueError):
            return None
        if figure is None:
            return None
        figures.append(round(figure, _PLACES))
    return tuple(figures)


def _values(variant: VariantChange) -> dict[str, object]:
    return {
        "scenario": variant.scenario,
        "variant": variant.variant,
        "outcome": str(variant.outcome),
        "seeds": {"before": variant.before, "after": variant.after},
        "common_seeds": variant.common_seeds,
        "same_seeds": variant.same_seeds,
        "settings": [dict(zip(("where", "before", "after"), one, strict=True)) for one in variant.settings],
        "changes": [
            {
                "subject": change.subject,
                "metric": change.metric,
                "before": change.before,
                "after": change.after,
                "p": change.p,
                "beyond_spread": change.is_real,
            }
            for change in variant.changes
        ],
    }
