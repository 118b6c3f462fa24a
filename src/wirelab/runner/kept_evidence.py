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
    variants = (
        variant if variant.digest is None else replace(variant, evidence=read_evidence(variant, folder))
        for variant in run.variants
    )
    return replace(run, variants=tuple(variants))


def read_evidence(variant: VariantResult, folder: Path) -> Evidence:
    """What a variant measured whose result is in ``folder``.

    Raises LabError where files are missing or not what was measured.
    """
    plan = read_plan(folder, variant.name)
    raw = folder / variant.name / RAW
    with refusals(raw):
        if not raw.is_dir():
            raise LabError(f"{raw}: there is none", hint="it holds what was measured: keep the whole folder")
        result = read_result(plan, raw)
    if result.digest != variant.digest:
        raise LabError(f"{raw}: this is not what {folder} is about: its digest is another one")
    return Evidence(plan, result)
