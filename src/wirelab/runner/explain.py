"""What bounds the flows of a finished result: read from the Plan and the raw files that lie beside it."""

from collections.abc import Iterable, Sequence

from wirelab.errors import LabError
from wirelab.runner.explanation import ExplainedVariant, Explanation
from wirelab.runner.kept_evidence import read_evidence
from wirelab.runner.past_runs import Kept
from wirelab.runner.run_result import Evidence, VariantResult
from wirelab.verdict.bottleneck import bottlenecks


def evidence_of(kept: Kept, variant: VariantResult) -> Evidence:
    """What a variant of a result measured.

    Raises LabError where it measured nothing, or its files are missing or not what was measured.
    """
    if variant.digest is None:
        raise LabError(f"{kept.folder}: {variant.name}: its lab broke, nothing was measured")
    return read_evidence(variant, kept.folder)


def explained(kept: Kept, measured: Iterable[tuple[VariantResult, Evidence]]) -> Explanation:
    """What bounds each flow of these variants, by what was counted."""
    variants: Sequence[ExplainedVariant] = [
        ExplainedVariant(
            variant.name, evidence.result.digest, bottlenecks(evidence.plan, evidence.result), {}, ()
        )
        for variant, evidence in measured
    ]
    return Explanation(kept.run.scenario, kept.run.seed, tuple(variants))
