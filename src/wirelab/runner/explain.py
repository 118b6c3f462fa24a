"""What bounds the flows of a finished result: read from the Plan and the raw files that lie beside it."""

from collections.abc import Iterable, Sequence

from wirelab.errors import LabError, refusals
from wirelab.results.result import read_result
from wirelab.runner.explanation import ExplainedVariant, Explanation
from wirelab.runner.kept_plan import read_plan
from wirelab.runner.past_runs import Kept
from wirelab.runner.run_result import Evidence, VariantResult
from wirelab.runner.store import RAW
from wirelab.verdict.bottleneck import bottlenecks


def evidence_of(kept: Kept, variant: VariantResult) -> Evidence:
    """What a variant of a result measured.

    Raises LabError where it measured nothing, or its files are missing or not what was measured.
    """
    if variant.digest is None:
        raise LabError(f"{kept.folder}: {variant.name}: its lab broke, nothing was measured")
    plan = read_plan(kept.folder, variant.name)
    raw = kept.folder / variant.name / RAW
    with refusals(raw):
        if not raw.is_dir():
            raise LabError(f"{raw}: there is none", hint="it holds what was measured: keep the whole folder")
        result = read_result(plan, raw)
    if result.digest != variant.digest:
        raise LabError(f"{raw}: this is not what {kept.folder} is about: its digest is another one")
    return Evidence(plan, result)


def explained(kept: Kept, measured: Iterable[tuple[VariantResult, Evidence]]) -> Explanation:
    """What bounds each flow of these variants, by what was counted."""
    variants: Sequence[ExplainedVariant] = [
        ExplainedVariant(
            variant.name, evidence.result.digest, bottlenecks(evidence.plan, evidence.result), {}, ()
        )
        for variant, evidence in measured
    ]
    return Explanation(kept.run.scenario, kept.run.seed, tuple(variants))
