"""A finished result, run again: its Plan is beside it, and its digest proves that it is the same run."""

from wirelab.errors import InputError, LabError, unknown
from wirelab.lab.select import Lab
from wirelab.plan.types import Plan
from wirelab.results.result import Result, read_result
from wirelab.runner.kept_plan import read_plan
from wirelab.runner.past_runs import Kept
from wirelab.runner.recorded import Recorder
from wirelab.runner.run_result import VariantResult
from wirelab.runner.store import RAW


def variant_called(kept: Kept, name: str | None) -> VariantResult:
    """A variant or control of a result, its first where none is named. Raises InputError."""
    for variant in kept.run.variants:
        if name in {None, variant.name}:
            return variant
    raise InputError(unknown("variant", name or "", (variant.name for variant in kept.run.variants)))


def measured_again(kept: Kept, variant: VariantResult, recorder: Recorder, lab: Lab) -> tuple[Plan, Result]:
    """The Plan of a variant, and what it measures: what the result has, to the byte.

    With a kept record it need not be run again: what it measured lies beside that.
    Raises LabError where the result has no Plan, nothing was measured, or this lab measures something else.
    """
    if variant.digest is None:
        raise LabError(f"{kept.folder}: {variant.name}: its lab broke, nothing was measured")
    plan = read_plan(kept.folder, variant.name)
    if recorder.kept and recorder.kept.digest == variant.digest:
        known = read_result(plan, kept.folder / variant.name / RAW)
        if known.digest == variant.digest:
            return plan, known
    known = recorder.measured(plan)
    if known.digest != variant.digest:
        raise LabError(
            f"{kept.folder}: {variant.name} is another run in this lab: its digest is"
            f" {known.digest[:12]}, and not {variant.digest[:12]}",
            hint=_other_lab(variant, lab),
        )
    return plan, known


def _other_lab(variant: VariantResult, lab: Lab) -> str:
    """Which lab it was measured with."""
    tools = lab.tool_versions()
    # What a root image has of no version it need not be told of.
    others = [f"{name} {version}" for name, version in variant.tools.items() if tools.get(name) != version]
    made = ", ".join([f"kernel {variant.kernel}", *others])
    return (
        f"it was measured with {made}; where that lab is: wirelab lab export FILE, and here"
        " wirelab lab import FILE (or run the scenario anew with the wirelab that you have)"
    )
