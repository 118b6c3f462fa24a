"""What bounds the flows of a finished result: read from the Plan and the raw files that lie beside it."""

from collections.abc import Sequence

from wirelab.errors import LabError, refusals
from wirelab.results.result import read_result
from wirelab.runner.kept_plan import read_plan
from wirelab.runner.past_runs import Kept
from wirelab.runner.run_result import VariantResult
from wirelab.runner.store import RAW
from wirelab.verdict.bottleneck import bottlenecks
from wirelab.verdict.explanation import Bottleneck


def explained(kept: Kept, variants: Sequence[VariantResult]) -> dict[str, tuple[Bottleneck, ...]]:
    """The bottleneck of each flow of these variants, by their names.

    Raises LabError where a variant measured nothing, or its files are missing or not what was measured.
    """
    return {variant.name: _of(kept, variant) for variant in variants}


def _of(kept: Kept, variant: VariantResult) -> tuple[Bottleneck, ...]:
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
    return bottlenecks(plan, result)
