"""``explanation.json``: what bounds the flows of a result, and what was found to help; written and read back.

It lies beside ``result.json`` where labs were run for it. Programs rely on its keys.
"""

import functools
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Final, Literal, Self

from pydantic import TypeAdapter

from wirelab.errors import InputError, LabError, refusals
from wirelab.lab.scratch import replacement
from wirelab.model.types import Name
from wirelab.results.values import BOUNDED, Count, Digest, parsed
from wirelab.verdict.bursts import Bursts
from wirelab.verdict.explanation import Bottleneck
from wirelab.verdict.remedy import Remedy, Tried
from wirelab.verdict.trouble import Trouble

FILE: Final = "explanation.json"
LIMIT_BYTES: Final = 16 << 20


@dataclass(frozen=True, slots=True)
class FlowRemedies:
    """What was tried for a flow: what helps, the best first, and what does not.

    ``helped`` is the figure that was to be helped, ``left_out`` changes were too many to be tried.
    """

    flow: Name
    helped: Trouble
    remedies: Annotated[tuple[Remedy, ...], BOUNDED]
    useless: Annotated[tuple[Tried, ...], BOUNDED] = ()
    left_out: Count = 0


@dataclass(frozen=True, slots=True)
class ExplainedVariant:
    """The flows of a variant, what single frames told of them, and what helps them, each as far as asked."""

    name: Name
    digest: Digest
    flows: Annotated[tuple[Bottleneck, ...], BOUNDED]
    bursts: Annotated[dict[Name, Bursts], BOUNDED]
    remedies: Annotated[tuple[FlowRemedies, ...], BOUNDED]


@dataclass(frozen=True, slots=True)
class Explanation:
    """All that is known of why the flows of a run are as fast as they are."""

    scenario: Name
    seed: Count
    variants: Annotated[tuple[ExplainedVariant, ...], BOUNDED]
    schema: Literal[1] = 1

    def to_json(self) -> str:
        """The text of ``explanation.json``, and what ``wirelab explain --json`` prints."""
        values = _adapter().dump_python(self, mode="json", by_alias=True)
        return json.dumps({"schema": values.pop("schema"), **values}, indent=1) + "\n"

    def with_known(self, known: "Explanation | None") -> Self:
        """With what was found before of the same runs, wherever this one does not say it itself."""
        kept = {(one.name, one.digest): one for one in known.variants} if known else {}
        return replace(
            self, variants=tuple(_merged(one, kept.get((one.name, one.digest))) for one in self.variants)
        )

    def of_flow(self, flow: str) -> Self:
        """The same of one flow alone."""
        return replace(
            self,
            variants=tuple(
                replace(one, flows=tuple(each for each in one.flows if each.flow == flow))
                for one in self.variants
            ),
        )

    def beside(self, known: "Explanation | None") -> Self:
        """With the variants that are known from before, too: what is kept of a result."""
        mine = {one.name for one in self.variants}
        others = (one for one in known.variants if one.name not in mine) if known else ()
        return replace(self, variants=(*self.variants, *others))


def _merged(one: ExplainedVariant, known: ExplainedVariant | None) -> ExplainedVariant:
    if known is None:
        return one
    mine = {remedies.flow for remedies in one.remedies}
    flows = {flow.flow for flow in one.flows}
    others = (old for old in known.remedies if old.flow not in mine and old.flow in flows)
    bursts = {flow: of for flow, of in known.bursts.items() if flow in flows}
    return replace(one, bursts={**bursts, **one.bursts}, remedies=(*one.remedies, *others))


def parse_explanation(content: bytes) -> Explanation:
    """What ``to_json`` wrote. Raises ValueError naming the field that is not as it should be."""
    return parsed(_adapter(), content, LIMIT_BYTES)


def read_explanation(folder: Path) -> Explanation | None:
    """That of a result's folder, None where there is none. Raises InputError where it is damaged."""
    path = folder / FILE
    with refusals(path):
        if not path.is_file():
            return None
        content = path.read_bytes()
    try:
        return parse_explanation(content)
    except ValueError as error:
        raise InputError(
            f"not a whole explanation: {error}", file=str(path), hint="remove it: it is found anew"
        ) from None


def write_explanation(folder: Path, explanation: Explanation) -> None:
    """Keep it beside the result. Raises LabError naming the file."""
    path = folder / FILE
    try:
        with replacement(path) as fresh:
            fresh.write_text(explanation.to_json(), encoding="utf-8")
    except OSError as error:
        raise LabError(f"{path}: cannot be written: {error.strerror}") from error


@functools.cache
def _adapter() -> TypeAdapter[Explanation]:
    # Not at import: most commands need none.
    return TypeAdapter(Explanation)
