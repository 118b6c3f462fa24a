"""What the charts of a kept result are drawn from, read again from its folder."""

from dataclasses import replace
from pathlib import Path

from wirelab.errors import LabError, refusals
from wirelab.results.result import read_result
from wirelab.runner.kept_plan import read_plan
from wirelab.runner.run_result import Evidence, RunResult, VariantResult
from wirelab.runner.store import RAW


def with_evidence(run: RunResult, folder: Path) -> RunResult:
    """The run with all that its page is made of. Raises LabError where a file is missing or another one."""
    return replace(run, variants=tuple(_with_evidence(variant, folder) for variant in run.variants))


def _with_evidence(variant: VariantResult, folder: Path) -> VariantResult:
    if variant.digest is None:
        return variant
    plan = read_plan(folder, variant.name)
    raw = folder / variant.name / RAW
    with refusals(raw):
        result = read_result(plan, raw)
    if result.digest != variant.digest:
        raise LabError(f"{raw}: this is not what {folder} is about: its digest is another one")
    return replace(variant, evidence=Evidence(plan, result))
