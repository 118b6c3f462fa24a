"""``wirelab capture``: a run's frames, as Wireshark reads them."""

import os
import sys
from pathlib import Path
from typing import Annotated, Final

import typer

from wirelab.cli import options
from wirelab.cli.names import usable_cpus
from wirelab.errors import LabError
from wirelab.lab.cache import Cache
from wirelab.lab.first_use import select_or_take
from wirelab.lab.scratch import replacement, scratch_folder
from wirelab.model.experiment import load
from wirelab.plan.build import build_plan
from wirelab.report.capture import write_capture
from wirelab.report.live import LiveReport
from wirelab.report.text import Output, warn
from wirelab.results.record import read_record
from wirelab.runner.measurement_cache import MeasurementCache
from wirelab.runner.recorded import Recorder, port_called
from wirelab.runner.trial import LabTestbed, Trial
from wirelab.units import NS_PER_S, SIZE, show

_LIMIT_BYTES: Final = 2 << 30


def capture_command(  # noqa: PLR0913 - the options of a command line
    name: options.Name,
    *,
    out: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The capture, a pcapng file.")],
    variant: options.Variant = None,
    port: Annotated[
        list[str] | None, typer.Option(metavar="PORT", help="Only these ports. Repeatable. [default: all]")
    ] = None,
    window: Annotated[
        str,
        typer.Option(
            "--record",
            metavar="WINDOW",
            help="`12.9s..13.1s`, `first module.line.drops +-2ms` or `all`.",
        ),
    ] = "all",
    seed: options.Seed = options.DEFAULT_SEED,
    kernel: options.Kernel = None,
    root: options.Root = None,
) -> None:
    """Write what the ports of a scenario send, receive and drop as a capture for Wireshark.

    The scenario runs again with a recorder: its digest proves that it is the same run.
    """
    experiment = load(name, Path.cwd())
    case = experiment.cases[0] if variant is None else experiment.case(variant)
    plan = build_plan(experiment, case, seed)
    ports = [port_called(plan, label).name for label in port] if port else [one.name for one in plan.ports]
    [cpu, *_] = usable_cpus(None, 1)
    lab = select_or_take(kernel, root, say=options.tell)
    trial = Trial(plan, case.expectations, case.breaks)
    live = LiveReport(Output.for_stream(sys.stderr), (trial,))
    with lab.in_use(), live, scratch_folder() as folder:
        measurements = MeasurementCache.of(Cache.at(os.environ).root, lab, warn)
        recorder = Recorder(
            LabTestbed(lab), measurements, folder, cpu, _LIMIT_BYTES, lambda done: live.progress(trial, done)
        )
        known = recorder.measured(plan)
        recorded = recorder.record(plan, known, window)
        try:
            with replacement(out) as fresh, fresh.open("wb") as file:
                captured = write_capture(
                    file, plan, read_record(recorded.record), known.status.ready_ns, ports
                )
        except OSError as error:
            raise LabError(f"{out}: cannot be written: {error.strerror}") from error
    [(from_ns, until_ns)] = recorded.windows_ns
    if captured.cut_ns is not None:
        until_ns = captured.cut_ns
        warn(f"the record was {show(_LIMIT_BYTES, SIZE)} long at {until_ns / NS_PER_S:.6f} s and ends there")
    typer.echo(
        f"{out}: {captured.packets} frames, {captured.drops} of them dropped,"
        f" {from_ns / NS_PER_S:.6f} to {until_ns / NS_PER_S:.6f} s, digest {known.digest[:12]}"
    )
