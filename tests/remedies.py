"""The controls of the catalogue that take a cause away by settings, and what they tell of remedies."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from typer.testing import CliRunner

from wirelab.cli.app import app
from wirelab.model.catalogue import around
from wirelab.model.experiment import load
from wirelab.model.metric import METRICS
from wirelab.runner.explain import evidence_of
from wirelab.runner.past_runs import named
from wirelab.runner.rerun import variant_called
from wirelab.verdict.remedy import given_up, helps
from wirelab.verdict.trouble import Trouble, in_trouble, trouble

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

ROOT: Final = Path(__file__).parents[1]


@dataclass(frozen=True)
class Cure:
    """A control without events of its own: ``settings`` are pairs, whose each is and its name."""

    scenario: str
    variant: str
    control: str
    settings: frozenset[tuple[str, str]]

    def __str__(self) -> str:
        return f"{self.scenario}-{self.control}"

    def is_like(self, keys: Iterable[str]) -> bool:
        """Whether some keys are those settings, or another part in its place; or some of them do it alone."""
        named = {_named(key) for key in keys}
        return bool(named) and named <= self.settings

    def is_shown(self, keys: Iterable[str]) -> bool:
        """Whether this control, or another one of the same variant, shows what some keys do."""
        own = (self.scenario, self.variant)
        return any(cure.is_like(keys) for cure in cures() if (cure.scenario, cure.variant) == own)


def cures() -> Iterator[Cure]:
    """All of the catalogue; those that make things worse too, for that is not known before they are run."""
    for name in around(ROOT).names("scenarios"):
        experiment = load(name, ROOT)
        for number, control in enumerate(experiment.scenario.controls, 1):
            if control.events is None:
                settings = frozenset(map(_named, control.settings))
                variant = control.variant or experiment.cases[0].name
                yield Cure(name, variant, control.name or f"control-{number}", settings)


def helped(result: Path, cure: Cure) -> tuple[str, Trouble] | None:
    """The flow whose trouble the control ends best, and which figure that is; None where it ends none.

    ``result`` is a folder. What is not in trouble needs no cure, though it may be better with the control.
    """
    [kept] = named(result, result.parent)
    variant, control = (variant_called(kept, name) for name in (cure.variant, cure.control))
    evidence = evidence_of(kept, variant)
    expectations = load(cure.scenario, ROOT).case(cure.variant).expectations
    gains: dict[float, tuple[str, Trouble]] = {}
    for flow in evidence.plan.flows:
        if not in_trouble(evidence.plan, flow, evidence.result, expectations):
            continue
        of = trouble(evidence.plan, flow, evidence.result, expectations)
        after = control.figure(of.subject, of.metric)
        speeds = [one.figure(flow.name, "goodput") or 0 for one in (variant, control)]
        if after is not None and helps(of.metric, of.value, after) and not given_up(*speeds):
            times = after / max(of.value, 1)
            gains[times if METRICS[of.metric].better == "more" else -times] = (flow.name, of)
    return gains[max(gains)] if gains else None


def ran(name: str, folder: Path, lab: Sequence[str]) -> Path:
    """The folder of a scenario's result; what was measured before is not measured again."""
    done = CliRunner().invoke(app, ["run", name, "--out", str(folder), "-q", "--no-pictures", *lab])
    assert done.exit_code == 0, done.output
    return folder / "latest" / name


def explained(result: Path, *options: str) -> dict[str, Any]:
    """What ``wirelab explain`` says of a result."""
    done = CliRunner().invoke(app, ["explain", str(result), "--json", *options])
    assert done.exit_code == 0, done.output
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def _named(key: str) -> tuple[str, str]:
    """``switch.p2.queue_limit`` and ``switch.queue_limit`` are one; a node alone is its part."""
    node, _, rest = key.partition(".")
    return node, rest.rpartition(".")[2] if rest else "part"
