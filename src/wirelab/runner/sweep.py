"""Sweeps: the settings that vary, a scenario at every point of their grid, what ``sweep.json`` says of it."""

import itertools
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Final, Literal, Self

from pydantic import TypeAdapter

from wirelab.errors import InputError, LabError, WirelabError
from wirelab.lab.scratch import discard
from wirelab.model.cases import Case, quantity_of, varied
from wirelab.model.experiment import Experiment
from wirelab.plan.build import build_plan
from wirelab.results.flow import FlowResult
from wirelab.results.ping import PingResult
from wirelab.runner.cpus import run_on
from wirelab.runner.job import Job, reported
from wirelab.runner.matrix import Watcher
from wirelab.runner.run_result import RunResult, VariantResult
from wirelab.runner.store import REPORT, Draft, write_file
from wirelab.runner.trial import Runner, Trial
from wirelab.units import Quantity, UnitError, parse, show
from wirelab.verdict.verdict import Verdict

MOST_POINTS: Final = 10_000

_RANGE: Final = re.compile(r"(?P<low>.+?)\.\.(?P<high>[^*+]+)(?P<how>[*+])(?P<step>.+)")
_BARE: Final = re.compile(r"[0-9.]+")


@dataclass(frozen=True, slots=True)
class Factor:
    """A setting and the values it takes, as a scenario would write them."""

    key: str
    values: tuple[str, ...]


def read_factors(texts: Iterable[str], case: Case) -> tuple[Factor, ...]:
    """``--vary``, each ``key=`` and a list of values; a range is ``8 KiB..256 KiB*2`` or ``0..100+25``.

    A number without a unit is in the base unit of the setting. Raises InputError, with the nearest right
    word for a key that does not exist.
    """
    listed: dict[str, list[str]] = {}
    for text in texts:
        key, equals, values = text.partition("=")
        if not equals or not key or not values:
            raise InputError(f"--vary {text}: expected key=value,value... such as module.fifo=8KiB..256KiB*2")
        if key in listed:
            raise InputError(f"--vary {key}: given twice; write all its values in one list")
        listed[key] = values.split(",")
    try:
        return factors_of(listed, case)
    except InputError as error:
        raise InputError(f"--vary {error}") from None


def factors_of(listed: Mapping[str, Iterable[str]], case: Case) -> tuple[Factor, ...]:
    """The settings that vary, each with its values or ranges of them, in the words of ``read_factors``.

    Raises InputError for what is none, naming the key, and for more points than a sweep may have.
    """
    factors = tuple(_factor(key, texts, case) for key, texts in listed.items())
    count = math.prod(len(factor.values) for factor in factors)
    if count > MOST_POINTS:
        raise InputError(f"{count} points are too many for one sweep, at most {MOST_POINTS}")
    return factors


def grid(case: Case, factors: Sequence[Factor]) -> list[tuple[tuple[str, ...], Case]]:
    """Every point, the last factor running fastest: its values, and the case with them on top.

    Raises InputError for a point that cannot be.
    """
    keys = [factor.key for factor in factors]
    points = itertools.product(*(factor.values for factor in factors))
    return [(values, varied(case, dict(zip(keys, values, strict=True)))) for values in points]


def words_for(factors: Sequence[Factor], values: Sequence[str]) -> str:
    """What a person calls a point: ``module.fifo 8 KiB, client.rx_usecs 0 us``."""
    return ", ".join(f"{factor.key} {value}" for factor, value in zip(factors, values, strict=True))


@dataclass(frozen=True, slots=True)
class Point:
    """What was measured with one combination of values.

    ``folder`` is where its files are, below that of the sweep; None where they were not kept.
    ``explanation`` says what does not hold, a broken lab or law before all else.
    """

    values: tuple[str, ...]
    verdict: Verdict
    digest: str | None
    virtual_s: float
    cached: bool
    flows: tuple[FlowResult, ...]
    pings: tuple[PingResult, ...]
    explanation: str | None = None
    folder: str | None = None

    @classmethod
    def of(cls, values: tuple[str, ...], variant: VariantResult) -> Self:
        """What stays of a point that was judged."""
        bad = (check for check in variant.checks if check.verdict is variant.verdict is not Verdict.PASS)
        return cls(
            values,
            variant.verdict,
            variant.digest,
            variant.virtual_s,
            variant.cached,
            variant.flows,
            variant.pings,
            next((check.explanation for check in bad), None),
        )


@dataclass(frozen=True, slots=True)
class Sweep:
    """A finished sweep of a variant; ``rerun_argv`` is the command line that repeats it."""

    scenario: str
    variant: str
    seed: int
    rerun_argv: tuple[str, ...]
    factors: tuple[Factor, ...]
    points: tuple[Point, ...]
    schema: Literal[1] = 1

    def to_json(self) -> str:
        """The text of ``sweep.json``."""
        return json.dumps(TypeAdapter(Sweep).dump_python(self, mode="json", by_alias=True), indent=1) + "\n"


@dataclass(frozen=True, slots=True)
class SweepJob:
    """A sweep to be carried out: ``case`` of a scenario with the values of all ``factors`` on top.

    ``name`` is what the scenario was asked for by.
    """

    name: str
    experiment: Experiment
    case: Case
    factors: tuple[Factor, ...]
    seed: int

    def finished(self, points: Sequence[Point]) -> Sweep:
        """The sweep that came of it."""
        argv = self._rerun_argv([factor.values for factor in self.factors])
        scenario = self.experiment.scenario.name
        return Sweep(scenario, self.case.name, self.seed, argv, self.factors, tuple(points))

    def job(self, number: int, values: tuple[str, ...], case: Case) -> Job:
        """One point: ``case`` is that of the sweep with ``values`` on top."""
        plan = replace(build_plan(self.experiment, case, self.seed), variant=f"point-{number}")
        return Job(
            plan.scenario,
            self.seed,
            trials=(Trial(plan, case.expectations),),
            story=self.experiment.story,
            rerun_argv=self._rerun_argv([(value,) for value in values]),
        )

    def _rerun_argv(self, values: Sequence[Sequence[str]]) -> tuple[str, ...]:
        vary = (
            f"--vary={factor.key}={','.join(of)}" for factor, of in zip(self.factors, values, strict=True)
        )
        options = (*vary, f"--variant={self.case.name}", f"--seed={self.seed}")
        # The file alone: where it is on this machine means nothing to others.
        return ("wirelab", "sweep", Path(self.name).name, *options)


@dataclass(frozen=True, slots=True)
class SweepRunner:
    """Carries out a sweep, with the files that are kept in ``draft``.

    Those of a point are kept where its lab broke, or ``keep_points``, with a page if there is a ``report`` to
    make it. What the others measured is in the cache, and need not lie in 10 000 folders besides. A page
    that cannot be made or written costs no more than itself: ``pageless`` says why.
    """

    sweep: SweepJob
    runner: Runner
    draft: Draft
    watcher: Watcher
    report: Callable[[RunResult], str] | None
    keep_points: bool = False
    pageless: list[WirelabError] = field(default_factory=list)

    def run(self, cases: Iterable[tuple[tuple[str, ...], Case]], cpus: Sequence[int]) -> Sweep:
        """Carry out the cases of its grid, each of which comes with its values."""
        return self.sweep.finished(run_on(cpus, self.tasks(cases), self.runner.testbed.stop))

    def tasks(
        self, cases: Iterable[tuple[tuple[str, ...], Case]], *, first: int = 1
    ) -> list[Callable[[int], Point]]:
        """What carries out each of its cases on a CPU, for who has others to carry out besides.

        Points are numbered from ``first`` on: those of several sweeps may be kept in one draft.
        """
        numbered = enumerate(cases, start=first)
        return [partial(self._measure, number, values, case) for number, (values, case) in numbered]

    def _measure(self, number: int, values: tuple[str, ...], case: Case, cpu: int) -> Point:
        # Planned when it is its turn and let go after it: 10 000 plans and results would fill the memory.
        job = self.sweep.job(number, values, case)
        (trial,) = job.trials
        self.watcher.begun(trial)
        on_progress = partial(self.watcher.progress, trial)
        variant = self.runner.run(trial, self.draft, cpu=cpu, on_progress=on_progress)
        self.watcher.done(trial, variant)
        point = Point.of(values, variant)
        folder = self.draft.folder / variant.name
        if self.keep_points or point.verdict is Verdict.ERROR:
            self._keep_page(folder, job.result([variant], wall_s=0.0))
            point = replace(point, folder=folder.name)
        else:
            discard(folder)
        self.watcher.finished()
        return point

    def _keep_page(self, folder: Path, run: RunResult) -> None:
        page, error = reported(run, self.report)
        if page is not None:
            try:
                write_file(folder / REPORT, page)
            except LabError as unwritten:
                # All that the other points measured must not go unseen for it.
                error = unwritten
        if error is not None:
            self.pageless.append(error)


def _factor(key: str, texts: Iterable[str], case: Case) -> Factor:
    quantity = quantity_of(case, key)
    try:
        values = (value for text in texts for value in _values(text.strip(), key, quantity))
        distinct = tuple(dict.fromkeys(itertools.islice(values, MOST_POINTS + 1)))
    except UnitError as error:
        raise InputError(f"{key}: {error}") from None
    if len(distinct) > MOST_POINTS:
        raise InputError(f"{key}: more than {MOST_POINTS} values")
    return Factor(key, distinct)


def _values(text: str, key: str, quantity: Quantity | None) -> Iterator[str]:
    """A value, or those of a range. Raises UnitError for what is none."""
    match = _RANGE.fullmatch(text)
    if match is None:
        if quantity is not None and ".." in text:
            raise UnitError(f"a range needs a step: {text}*2, or {text}+STEP")
        yield text if quantity is None else show(_number(text, quantity), quantity)
        return
    if quantity is None:
        raise InputError(f"{key}={text}: {key} is not a quantity; list its values")
    value, high = (_number(match[name], quantity) for name in ("low", "high"))
    if value > high:
        raise UnitError(f"`{text}` is empty: its low end is above its high end")
    while value <= high:
        yield show(value, quantity)
        value = _next(value, match["how"], match["step"], quantity)


def _next(value: int, how: str, step: str, quantity: Quantity) -> int:
    if how == "+":
        after = value + _number(step, quantity)
    else:
        try:
            after = round(value * float(step))
        except (ValueError, OverflowError):
            raise UnitError(f"`*{step}` is not a factor") from None
    if after <= value:
        raise UnitError(f"a step of `{how}{step}` does not get from {show(value, quantity)} on")
    return after


def _number(text: str, quantity: Quantity) -> int:
    is_bare = bool(quantity.units) and _BARE.fullmatch(text.strip()) is not None
    return parse(f"{text.strip()} {quantity.base}" if is_bare else text, quantity)
