"""``wirelab explain``: what bounds each flow of a result, what proves it, and what would help."""

import contextlib
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Final

import typer

from wirelab.cli import options
from wirelab.cli.names import usable_cpus
from wirelab.cli.recorder import recorder
from wirelab.errors import InputError, LabError
from wirelab.lab.cache import Cache
from wirelab.lab.first_use import select_or_take
from wirelab.lab.scratch import replacement, scratch_folder
from wirelab.lab.select import Lab
from wirelab.report.closer import CloserLook
from wirelab.report.explanation import print_explanation
from wirelab.report.html import html_report, pictures_in
from wirelab.report.live import LiveReport
from wirelab.report.text import Output, warn
from wirelab.runner.explain import evidence_of, explained
from wirelab.runner.explanation import Explanation, FlowRemedies, read_explanation, write_explanation
from wirelab.runner.frames import LOSING, bursts_of
from wirelab.runner.kept_evidence import with_evidence
from wirelab.runner.measurement_cache import MeasurementCache
from wirelab.runner.past_runs import Kept, named
from wirelab.runner.remedies import RemedyRunner, Search, flows_in_trouble, scenario_of, search
from wirelab.runner.rerun import measured_again, variant_called
from wirelab.runner.run_result import Evidence, VariantResult
from wirelab.runner.store import REPORT, Store
from wirelab.runner.trial import Runner, Trial
from wirelab.units import NS_PER_S, TIME, rounded
from wirelab.verdict.bottleneck import bottleneck
from wirelab.verdict.bursts import Bursts

DEFAULT_MOST: Final = 30
_RECORD_BYTES: Final = 256 << 20


@dataclass(frozen=True, slots=True)
class _Lab:
    """Where runs take place, and how many of them at once."""

    lab: Lab
    cpus: Sequence[int]
    use_cache: bool


def explain_command(  # noqa: PLR0913 - the options of a command line
    result: Annotated[
        Path,
        typer.Argument(
            help="A result, its folder, or a scenario's newest by its name.",
            metavar="RESULT|NAME",
            show_default=False,
        ),
    ],
    *,
    ctx: typer.Context,
    variant: Annotated[
        str | None,
        typer.Option(
            help="The variant or control. [default: every one that measured something; for what needs"
            " a lab the first]"
        ),
    ] = None,
    flow: Annotated[
        str | None,
        typer.Option(help="The flow to help. [default: those of which a figure is in trouble, or all]"),
    ] = None,
    remedies: Annotated[
        bool, typer.Option("--remedies", help="Find out what would help: run each change in a lab.")
    ] = False,
    frames: Annotated[
        bool, typer.Option("--frames", help="Look at single frames where some are lost: run it once more.")
    ] = False,
    most: Annotated[
        int, typer.Option("--most", min=1, max=1000, help="How many changes are tried at most.")
    ] = DEFAULT_MOST,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the explanation as JSON and nothing else.")
    ] = False,
    jobs: options.Jobs = None,
    out: options.Out = options.DEFAULT_OUT,
    use_cache: options.UseCache = True,
    kernel: options.Kernel = None,
    root: options.Root = None,
) -> None:
    """Name what bounds each flow of a result, and prove it by what was counted.

    It is a line, a FIFO, a queue, a bus, a CPU, storage, TCP's window, PAUSE, an application, or loss. That
    needs no run. With `--remedies` and `--frames` labs run: what they find is kept beside the result, shown
    from then on, and in its report.html.
    """
    if not (remedies or frames):
        options.refuse(ctx, ("jobs", "kernel", "root"), "--remedies or --frames")
    if not remedies:
        options.refuse(ctx, ("most", "use_cache"), "--remedies")
    kept = _kept(result, out)
    if variant is None and not (remedies or frames or flow):
        chosen = [each for each in kept.run.variants if each.digest is not None] or list(kept.run.variants)
    else:
        chosen = [variant_called(kept, variant)]
    measured = [(each, evidence_of(kept, each)) for each in chosen]
    explanation = explained(kept, measured)
    known = read_explanation(kept.folder)
    if remedies or frames:
        [(one, evidence)] = measured
        flows = flows_in_trouble(evidence, flow)
        [told] = explanation.variants
        looked_for = None
        if remedies:
            experiment, case = scenario_of(kept, one.name, evidence, Path.cwd())
            flows = flows_in_trouble(evidence, flow, case.expectations)
            looked_for = search(experiment, case, one, evidence, flows, most)
            _announce(looked_for, use_cache=use_cache)
        lab = select_or_take(kernel, root, say=options.tell)
        with lab.in_use():
            its = _Lab(lab, usable_cpus(None, jobs), use_cache)
            if frames:
                losing = [each.flow for each in told.flows if each.mechanism in LOSING]
                names = [each.name for each in flows if each.name in losing]
                told = replace(told, bursts=_frames(its, kept, one, evidence, names))
            if looked_for is not None:
                told = replace(told, remedies=_tried(its, looked_for))
            explanation = replace(explanation, variants=(told,)).with_known(known)
            _keep(its, kept, explanation.beside(known))
    else:
        if flow is not None:
            flows_in_trouble(measured[0][1], flow)
            explanation = explanation.of_flow(flow)
        explanation = explanation.with_known(known)
    with contextlib.suppress(BrokenPipeError):
        if as_json:
            typer.echo(explanation.to_json(), nl=False)
        else:
            print_explanation(Output.for_stream(sys.stdout), kept.run, explanation)


def _kept(result: Path, out: Path) -> Kept:
    kept = named(result, out)
    if len(kept) > 1:
        raise InputError(f"{len(kept)} results are there: name one", file=str(result))
    return kept[0]


def _announce(looked_for: Search, *, use_cache: bool) -> None:
    """Say what is going to be run before it is."""
    count, each = len(looked_for.changes), rounded(looked_for.variant.virtual_s * NS_PER_S, TIME)
    options.tell(
        f"{count} change{'' if count == 1 else 's'} of {looked_for.variant.name} for"
        f" {', '.join(of.name(flow) for flow, of in looked_for.helped.items())}, each in a lab for"
        f" {each} of virtual time"
        f"{'; what was measured before is not measured again' if use_cache else ''}"
    )


def _tried(its: _Lab, looked_for: Search) -> tuple[FlowRemedies, ...]:
    """What of the changes helps."""
    live = LiveReport(Output.for_stream(sys.stderr), (), len(looked_for.changes), "changes")
    runner = Runner.of(its.lab, warn, use_cache=its.use_cache)
    with scratch_folder() as folder:
        scenario = looked_for.evidence.plan.scenario
        with Store(folder).begin(scenario, datetime.now(UTC)) as draft, live:
            [found] = RemedyRunner(runner, draft, live).run([looked_for], its.cpus)
    return found


def _frames(
    its: _Lab, kept: Kept, variant: VariantResult, evidence: Evidence, flows: Sequence[str]
) -> dict[str, Bursts]:
    """What single frames tell of each flow that loses some."""
    trial = Trial(evidence.plan, ())
    live = LiveReport(Output.for_stream(sys.stderr), (trial,))
    found = {}
    on_progress = partial(live.progress, trial)
    with live, recorder(its.lab, its.cpus[0], _RECORD_BYTES, on_progress) as recording:
        plan, known = measured_again(kept, variant, recording, its.lab)
        for flow in (one for one in plan.flows if one.name in flows):
            told = bursts_of(recording, plan, known, flow, bottleneck(plan, flow, known))
            if told is not None:
                found[flow.name] = told
    return found


def _keep(its: _Lab, kept: Kept, explanation: Explanation) -> None:
    """Put it beside the result and into its page. What goes wrong there costs no more than that."""
    try:
        write_explanation(kept.folder, explanation)
        run = with_evidence(kept.run, kept.folder)
        look = CloserLook(MeasurementCache.of(Cache.at(os.environ).root, its.lab, warn))
        digests = {each.name: each.digest for each in run.variants}
        report = kept.folder / REPORT
        before = report.read_text(encoding="utf-8", errors="replace") if report.is_file() else ""
        drawn = [one for one in pictures_in(before) if one.digest == digests.get(one.variant)]
        page = html_report(run, [*drawn, *look.kept_of(run)], explanation)
        with replacement(report) as fresh:
            fresh.write_text(page, encoding="utf-8")
    except LabError as error:
        warn(f"not kept: {error.message}")
    except OSError as error:
        warn(f"{kept.folder / REPORT} is as it was: {error.strerror}")
