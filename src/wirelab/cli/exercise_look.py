"""``wirelab exercise look``: the report of a run, opened at the picture; of a hidden fault a capture."""

import os
import sys
from pathlib import Path
from typing import Annotated, Final

import typer

from wirelab.cli import options
from wirelab.cli.exercise_work import Desk, Exercise, Folder
from wirelab.cli.names import usable_cpus
from wirelab.cli.recorder import DEFAULT_LIMIT, limit_bytes, recorder
from wirelab.errors import InputError
from wirelab.exercise.network import Networks
from wirelab.exercise.steps import run_asked
from wirelab.lab.first_use import select_or_take
from wirelab.lab.scratch import replacement
from wirelab.plan.types import Plan
from wirelab.report.capture import write_capture
from wirelab.report.live import LiveReport
from wirelab.report.text import Output
from wirelab.results.record import read_record
from wirelab.runner.store import LATEST, REPORT
from wirelab.runner.window import port_called
from wirelab.units import NS_PER_MS

_PICTURE: Final = "burst"
_WINDOW_NS: Final = 50 * NS_PER_MS


def look_command(  # noqa: PLR0913 - the options of a command line
    run: Annotated[
        str | None, typer.Argument(metavar="[RUN]", help="A run, for --capture. [default: the first]")
    ] = None,
    *,
    capture: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the frames at --port, for Wireshark (.pcapng).")
    ] = None,
    port: Annotated[
        str | None, typer.Option(metavar="PORT", help="Of which port. [default: the first]")
    ] = None,
    window: Annotated[
        str | None,
        typer.Option(
            "--record",
            metavar="WINDOW",
            help="Of which time: `1s..1.1s`. [default: 50 ms of the last flow]",
        ),
    ] = None,
    open_it: Annotated[bool, typer.Option("--open/--print", help="Open it, or only say where it is.")] = True,
    folder: Folder = None,
    exercise: Exercise = None,
    kernel: options.Kernel = None,
    root: options.Root = None,
) -> None:
    """Look at the newest run: its report, at the picture of what was dropped or paused, or a capture."""
    desk = Desk.found(folder, exercise)
    if capture is not None:
        _capture(desk, run, capture, port, window, (kernel, root))
        return
    if run or port or window:
        raise InputError(
            "a run, --port and --record are of a capture", hint="wirelab exercise look --capture FILE"
        )
    if desk.exercise.said.sees == "technician":
        raise InputError(
            "a technician has no report of a hidden fault", hint="wirelab exercise look --capture FILE"
        )
    page = desk.results / LATEST / desk.exercise.name / REPORT
    if not page.is_file():
        raise InputError("nothing was run yet: there is nothing to look at", hint="wirelab exercise run")
    page = page.resolve()
    place = f"#{_PICTURE}" if f'id="{_PICTURE}"' in page.read_text(encoding="utf-8") else ""
    address = f"{page.as_uri()}{place}"
    typer.echo(address)
    if open_it and sys.stdout.isatty() and _has_screen():
        typer.launch(address)


def _has_screen() -> bool:
    """Whether there is one that a browser could be seen on: over SSH there mostly is none."""
    return sys.platform == "darwin" or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))


def _capture(  # noqa: PLR0913, PLR0917 - what a capture is of
    desk: Desk,
    run: str | None,
    out: Path,
    port: str | None,
    window: str | None,
    lab_of: tuple[Path | None, Path | None],
) -> None:
    name, setup = run_asked(desk.exercise, desk.work, run or desk.exercise.run(None).name)
    if not desk.work.has_run(name):
        raise InputError(f"`{name}` was not run yet", hint="wirelab exercise run")
    setup = Networks(desk.exercise, desk.figures).run(name)
    trial = setup.trial(desk.exercise, name)
    managed = {node.name for node in (*trial.plan.hosts, *trial.plan.switches, *trial.plan.firewalls)}
    ports = [one for one in trial.plan.ports if one.node in managed]
    chosen = port_called(trial.plan, port or ports[0].label)
    if desk.exercise.said.sees == "technician" and chosen not in ports:
        raise InputError(
            f"nobody can capture at `{chosen.label}`", hint="hosts and switches can be captured at"
        )
    lab = select_or_take(*lab_of, say=options.tell)
    live = LiveReport(Output.for_stream(sys.stderr), (trial,))
    [cpu, *_] = usable_cpus(None, 1)
    limit = limit_bytes(DEFAULT_LIMIT)
    with lab.in_use(), live, recorder(lab, cpu, limit, lambda done: live.progress(trial, done)) as its:
        known = its.measured(trial.plan)
        recorded = its.record(trial.plan, known, window or _beginning(known.timed(trial.plan)))
        with replacement(out) as fresh, fresh.open("wb") as file:
            frames = read_record(recorded.record)
            written = write_capture(file, trial.plan, frames, known.status.ready_ns, [chosen.name])
    typer.echo(f"{out}: {written.packets} frames at {chosen.label}")


def _beginning(plan: Plan) -> str:
    """The first 50 ms of the last flow, which is mostly the slow one; long ones would fill a disk."""
    start_ns = max(item.start_ns for item in plan.traffic)
    return f"{start_ns} ns..{start_ns + _WINDOW_NS} ns"
