"""``result.json``: what became of a run. The same classes write it and read it.

Programs rely on its keys. What a newer wirelab says besides is left alone; what it says instead is refused.
"""

import functools
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Final, Literal, Self

from pydantic import Field, TypeAdapter
from pydantic_core import core_schema

from wirelab.errors import LabError, refusals
from wirelab.model.types import Name, NodeName
from wirelab.plan.types import Plan
from wirelab.results.flow import FlowResult
from wirelab.results.ping import PingResult
from wirelab.results.port import PortResult
from wirelab.results.result import Result, figure
from wirelab.results.values import BOUNDED, Amount, Count, Digest, Label, Text, parsed
from wirelab.units import NS_PER_S
from wirelab.verdict.checks import Check
from wirelab.verdict.verdict import Verdict, worst

LIMIT_BYTES: Final = 64 << 20
"""What a ``result.json`` may hold."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a variant's charts are drawn from: its Plan, and all that its raw files hold.

    It is at hand after a run, and can be read again from the folder of the result; it is no part of the JSON.
    """

    plan: Plan
    result: Result

    @classmethod
    def __get_pydantic_core_schema__(cls, *_: object) -> core_schema.CoreSchema:
        """No JSON makes one."""
        return core_schema.json_or_python_schema(
            core_schema.none_schema(), core_schema.is_instance_schema(cls)
        )


@dataclass(frozen=True, slots=True)
class Happening:
    """Something that happened while a network ran: ``what``, so many seconds after it was ready."""

    at_s: Amount
    what: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantResult:
    """One variant of a run, or one of its controls.

    ``breaks`` names the expectation that a control must fail, and is None for a variant. ``digest`` and
    ``kernel`` are None where the lab broke: then a check says how. ``cached`` is True where it had been
    measured before.
    """

    name: Name
    breaks: Text | None
    verdict: Verdict
    digest: Digest | None = None
    virtual_s: Amount = 0.0
    cached: bool = False
    flows: Annotated[tuple[FlowResult, ...], BOUNDED] = ()
    pings: Annotated[tuple[PingResult, ...], BOUNDED] = ()
    ports: Annotated[dict[Label, PortResult], BOUNDED] = field(default_factory=dict)
    blocked: Annotated[dict[NodeName, Annotated[dict[Text, Count], BOUNDED]], BOUNDED] = field(
        default_factory=dict
    )
    events: Annotated[tuple[Happening, ...], BOUNDED] = ()
    checks: Annotated[tuple[Check, ...], BOUNDED]
    drawing: Text = ""
    kernel: Text | None = None
    tools: Annotated[dict[Text, Text], BOUNDED] = field(default_factory=dict)
    evidence: Annotated[Evidence | None, Field(exclude=True)] = field(default=None, compare=False, repr=False)

    @classmethod
    def of(
        cls, plan: Plan, breaks: str | None, checks: tuple[Check, ...], result: Result | None = None
    ) -> Self:
        """A variant, or a control that ``breaks`` an expectation, judged; without a result its lab broke."""
        verdict = worst(check.verdict for check in checks)
        drawing = plan.drawing.rstrip()
        judged = cls(name=plan.variant, breaks=breaks, verdict=verdict, checks=checks, drawing=drawing)
        if result is None:
            return judged
        return replace(
            judged,
            digest=result.digest,
            virtual_s=round(result.elapsed_ns / NS_PER_S, 6),
            flows=tuple(result.flows.values()),
            pings=tuple(result.pings.values()),
            ports=dict(result.ports),
            blocked=result.blocked(),
            events=tuple(Happening(event.at_ns / NS_PER_S, event.what) for event in result.due(plan)),
            kernel=result.status.kernel,
            tools=dict(result.status.tools),
            evidence=Evidence(plan, result),
        )

    @property
    def elapsed_ns(self) -> int:
        """Virtual time that its network ran."""
        return round(self.virtual_s * NS_PER_S)

    def figure(self, subject: str, metric: str) -> float | None:
        """A metric of a flow, a ping, a port or the network in its base unit; None if nothing tells it."""
        flows = {flow.name: flow for flow in self.flows}
        pings = {ping.name: ping for ping in self.pings}
        return figure(subject, metric, flows, pings, self.ports, self.elapsed_ns)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """One run of a scenario with one seed: its variants in the scenario's order, controls after them.

    ``kernel`` is None if no lab came as far as telling it, ``digest`` if one measured nothing. ``measured``
    names the rows of the measurements that it reproduces, ``fitted`` those of them that a figure was fitted
    to. ``story`` and ``source`` are the scenario's own words, ``rerun_argv`` is the command line that repeats
    the run.
    """

    schema: Literal[1] = 1
    scenario: Name
    verdict: Verdict
    seed: Count
    kernel: Text | None
    wall_s: Amount
    virtual_s: Amount
    digest: Digest | None
    measured: Annotated[tuple[Text, ...], BOUNDED] = ()
    fitted: Annotated[tuple[Text, ...], BOUNDED] = ()
    variants: Annotated[tuple[VariantResult, ...], BOUNDED]
    story: Text = ""
    source: Text = ""
    rerun_argv: Annotated[tuple[Text, ...], BOUNDED] = ()

    @classmethod
    def missing(cls, scenario: str, seed: int) -> Self:
        """In the place of a run that nothing came of: an error."""
        check = Check("result", "", "", Verdict.ERROR, explanation="no result of it came")
        lost = VariantResult(name="run", breaks=None, verdict=Verdict.ERROR, checks=(check,))
        return cls(
            scenario=scenario,
            verdict=Verdict.ERROR,
            seed=seed,
            kernel=None,
            wall_s=0.0,
            virtual_s=0.0,
            digest=None,
            variants=(lost,),
        )

    @property
    def cached(self) -> bool:
        """Whether nothing of it had to be measured."""
        return all(variant.cached for variant in self.variants)

    @property
    def without_evidence(self) -> Self:
        """The same without what its charts are drawn from: of many runs that would fill the memory."""
        return replace(self, variants=tuple(replace(variant, evidence=None) for variant in self.variants))

    def to_json(self) -> str:
        """The text of ``result.json``."""
        return _adapter().dump_json(self, indent=1, by_alias=True).decode() + "\n"


def parse_run(content: bytes) -> RunResult:
    """The run that ``to_json`` wrote. Raises ValueError naming the field that is not as it should be."""
    return parsed(_adapter(), content, LIMIT_BYTES)


def read_run(path: Path) -> RunResult:
    """The run of a ``result.json``. Raises LabError naming the file where it is none, or half of one."""
    try:
        with refusals(path):
            return parse_run(path.read_bytes())
    except ValueError as error:
        raise LabError(
            f"{path}: not a whole result: {error}", hint=f"remove {path.parent}, and run the scenario again"
        ) from None


@functools.cache
def _adapter() -> TypeAdapter[RunResult]:
    # Not at import: most commands need none, and making one takes a tenth of their start.
    return TypeAdapter(RunResult)
