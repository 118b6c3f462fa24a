"""``wirelab compare``: what changed between two results, or two folders of them."""

import contextlib
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from wirelab.cli import options
from wirelab.cli.names import usable_cpus
from wirelab.cli.recorder import DEFAULT_LIMIT, RecordLimit, limit_bytes, recorder
from wirelab.errors import InputError
from wirelab.lab.first_use import select_or_take
from wirelab.report.compare import comparison_page, print_comparison
from wirelab.report.text import Output
from wirelab.runner.compare import Outcome, compare
from wirelab.runner.kept_record import KeptRecord
from wirelab.runner.parting import Parting, Rerun, first_parting
from wirelab.runner.past_runs import Kept, named
from wirelab.runner.rerun import measured_again, variant_called
from wirelab.verdict.verdict import Verdict

_SIDE = typer.Argument(
    help="A result, its folder, a folder of many, or a scenario's newest by its name.",
    metavar="RESULT|FOLDER|NAME",
    show_default=False,
)


def compare_command(  # noqa: PLR0913 - the options of a command line
    before: Annotated[Path, _SIDE],
    after: Annotated[Path, _SIDE],
    *,
    ctx: typer.Context,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the comparison as JSON and nothing else.")
    ] = False,
    html_file: Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Write a page.")] = None,
    frames: Annotated[
        bool,
        typer.Option("--frames", help="Run both again, and say at which frame they part. Of one scenario."),
    ] = False,
    variant: Annotated[
        str | None,
        typer.Option(help="The variant that is run again. [default: the first that differs]"),
    ] = None,
    limit: RecordLimit = None,
    out: options.Out = options.DEFAULT_OUT,
    kernel: options.Kernel = None,
    root: options.Root = None,
) -> None:
    """Tell what changed between two results, or two folders of results, beyond the spread of their seeds.

    Equal digests are the same run. Where they differ a figure has changed if it is beyond the spread over the
    seeds: four a side are the fewest that can tell. The newest result of each scenario and seed counts.

    Exit codes: 0 nothing changed, 1 something did, or may have, 2 bad input, 4 if a lab broke.
    """
    record_bytes = limit_bytes(limit or DEFAULT_LIMIT)
    if not frames:
        options.refuse(ctx, ("variant", "limit", "kernel", "root"), "--frames")
    sides = [named(side, out) for side in (before, after)]
    comparison = compare(*sides)
    looked_for = _looked_for(sides[0], sides[1], variant) if frames else None
    if not as_json:
        with contextlib.suppress(BrokenPipeError):
            print_comparison(Output.for_stream(sys.stdout), comparison)
    parting = _parting(looked_for, record_bytes, kernel, root) if looked_for else None
    told = _told(looked_for, parting) if frames else ""
    with contextlib.suppress(BrokenPipeError):
        if as_json:
            values = comparison.to_values()
            if frames:
                values["parting"] = parting and looked_for and _values(looked_for, parting)
            typer.echo(json.dumps(values, indent=1))
        elif told:
            Output.for_stream(sys.stdout).print(told, soft_wrap=True, markup=False)
    options.write_file(html_file, lambda one: comparison_page(one, str(before), str(after), told), comparison)
    if any(one.outcome is Outcome.BROKEN for one in comparison.variants):
        raise typer.Exit(Verdict.ERROR.exit_code)
    is_changed = comparison.is_changed or parting is not None
    raise typer.Exit(Verdict.FAIL.exit_code if is_changed else 0)


@dataclass(frozen=True, slots=True)
class _LookedFor:
    """A variant with a seed that both sides have, to be run again on each."""

    variant: str
    seed: int
    kept: tuple[Kept, Kept]


def _looked_for(before: Sequence[Kept], after: Sequence[Kept], variant: str | None) -> _LookedFor | None:
    """What is to be run again, of the lowest common seed: None where no variant measured something else."""
    seed = _common_seed(before, after)
    kept = _of(before, seed), _of(after, seed)
    if variant is None:
        variant = _first_that_differs(*kept)
    else:
        for side in kept:
            variant_called(side, variant)
    return None if variant is None else _LookedFor(variant, seed, kept)


def _told(looked_for: _LookedFor | None, parting: Parting | None) -> str:
    if looked_for is None:
        return "every variant that both sides measured has equal digests, so no frame differs"
    of = f"{looked_for.variant}, seed {looked_for.seed}"
    return f"{of}: {parting or 'equal digests, so no frame differs'}"


def _values(looked_for: _LookedFor, parting: Parting) -> dict[str, object]:
    return {
        "at_ns": parting.at_ns,
        "before": parting.before,
        "after": parting.after,
        "variant": looked_for.variant,
        "seed": looked_for.seed,
    }


def _first_that_differs(before: Kept, after: Kept) -> str | None:
    """The first variant of which both sides measured something, and not the same."""
    digests = {variant.name: variant.digest for variant in after.run.variants}
    return next(
        (
            variant.name
            for variant in before.run.variants
            if variant.digest and digests.get(variant.name) not in {None, variant.digest}
        ),
        None,
    )


def _common_seed(before: Sequence[Kept], after: Sequence[Kept]) -> int:
    """The lowest that both sides have. Raises InputError where they are not of one scenario."""
    names = {one.run.scenario for one in (*before, *after)}
    if len(names) > 1:
        raise InputError(f"--frames is about one scenario, these are of {', '.join(sorted(names))}")
    seeds = {one.run.seed for one in before} & {one.run.seed for one in after}
    if not seeds:
        raise InputError("--frames needs a seed that both sides have")
    return min(seeds)


def _of(side: Sequence[Kept], seed: int) -> Kept:
    return next(one for one in side if one.run.seed == seed)


def _parting(
    looked_for: _LookedFor, record_bytes: int, kernel: Path | None, root: Path | None
) -> Parting | None:
    [cpu, *_] = usable_cpus(None, 1)
    lab = select_or_take(kernel, root, say=options.tell)
    with lab.in_use(), contextlib.ExitStack() as stack:
        runs = []
        for side in looked_for.kept:
            variant = variant_called(side, looked_for.variant)
            frames = KeptRecord.beside(side.folder / variant.name)
            its = stack.enter_context(recorder(lab, cpu, record_bytes, lambda _: None, frames))
            runs.append(Rerun(*measured_again(side, variant, its, lab), its))
        before, after = runs
        return first_parting(before, after)
