"""``wirelab capture``: a run's frames, as Wireshark and others read them."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from wirelab.cli import options
from wirelab.cli.names import usable_cpus
from wirelab.cli.recorder import DEFAULT_LIMIT, WINDOW_HELP, Limit, limit_bytes, recorder
from wirelab.errors import InputError, LabError, unknown
from wirelab.lab.first_use import select_or_take
from wirelab.lab.machine import Progress
from wirelab.lab.scratch import replacement
from wirelab.lab.select import Lab
from wirelab.model.experiment import load
from wirelab.plan.build import build_plan
from wirelab.plan.types import Plan
from wirelab.report.capture import PACKETS, write_capture
from wirelab.report.graphs import graphs_page
from wirelab.report.live import LiveReport
from wirelab.report.perfetto import write_perfetto
from wirelab.report.qlog import write_qlog
from wirelab.report.text import Output, warn
from wirelab.results.connections import read_connections
from wirelab.results.record import Kind, read_record
from wirelab.results.result import Result
from wirelab.runner.kept_plan import read_plan
from wirelab.runner.kept_record import KeptRecord
from wirelab.runner.past_runs import Kept, named
from wirelab.runner.recorded import Recorded, Recorder
from wirelab.runner.rerun import measured_again, variant_called
from wirelab.runner.store import RESULT
from wirelab.runner.trial import Trial
from wirelab.runner.window import ALL, Between, Window, parse_window, port_called
from wirelab.units import NS_PER_S


class Format(StrEnum):
    """What a record may be written as; each is the ending of its files, too."""

    PCAPNG = "pcapng"
    QLOG = "qlog"
    PFTRACE = "pftrace"
    HTML = "html"


def _kind(of: Format) -> str:
    return f"{'an' if of is Format.HTML else 'a'} .{of} file"


def capture_command(  # noqa: PLR0913 - the options of a command line
    name: Annotated[
        str,
        typer.Argument(
            help="A scenario by name or file, or a finished result.",
            metavar="NAME|FILE|RESULT",
            autocompletion=options.complete_scenario,
        ),
    ],
    *,
    out: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="FILE", help="What is written: .pcapng, .qlog, .pftrace or .html."
        ),
    ],
    form: Annotated[
        Format | None,
        typer.Option("--format", metavar="|".join(Format), help="As what. [default: by the file's ending]"),
    ] = None,
    variant: options.Variant = None,
    port: Annotated[
        list[str] | None, typer.Option(metavar="PORT", help="Only these ports. Repeatable. [default: all]")
    ] = None,
    window: Annotated[
        str | None,
        typer.Option(
            "--record",
            metavar="WINDOW",
            help=f"{WINDOW_HELP} [default: what the result has a record of, else all]",
        ),
    ] = None,
    limit: Limit = DEFAULT_LIMIT,
    seed: Annotated[
        int | None,
        typer.Option(min=0, max=options.SEED_MAX, help="What the lab's randomness grows from. [default: 1]"),
    ] = None,
    kernel: options.Kernel = None,
    root: options.Root = None,
) -> None:
    """Write what the ports of a run send, receive and drop, and what its TCP does, at each change.

    A capture for Wireshark (.pcapng), qlog of the TCP flows (.qlog), a trace for ui.perfetto.dev (.pftrace),
    or the graphs of tcptrace as a page (.html). It runs again with a recorder, unless the result has a record
    of the window: its digest proves that it is the same run.
    """
    record_bytes = limit_bytes(limit)
    chosen = form or _by_ending(out)
    if port and chosen is not Format.PCAPNG:
        raise InputError(f"--port is about captures, .pcapng: {_kind(chosen)} is about all of the run")
    source = _Source.of(name, variant, seed)
    wanted = source.window(window)
    ports = [port_called(source.trial.plan, label).name for label in port or ()]
    [cpu, *_] = usable_cpus(None, 1)
    lab = select_or_take(kernel, root, say=options.tell)
    live = LiveReport(Output.for_stream(sys.stderr), (source.trial,))

    def progress(done: Progress) -> None:
        live.progress(source.trial, done)

    with lab.in_use(), live, recorder(lab, cpu, record_bytes, progress, source.record) as its:
        plan, known = source.measured(its, lab)
        recorded = its.record_window(plan, known, wanted)
        [(from_ns, until_ns)] = recorded.windows_ns
        try:
            with replacement(out) as fresh:
                names = ports or [one.name for one in plan.ports]
                told, cut_ns = _WRITERS[chosen](fresh, plan, recorded, known.status.ready_ns, names)
        except OSError as error:
            raise LabError(f"{out}: cannot be written: {error.strerror}") from error
    if cut_ns is not None:
        until_ns = cut_ns
        full = f"the record was as long as it may be at {until_ns / NS_PER_S:.6f} s and ends there"
        warn(f"{full}: --limit is {limit}, and the disk has to have room for it")
    typer.echo(
        f"{out}: {told}, {from_ns / NS_PER_S:.6f} to {until_ns / NS_PER_S:.6f} s, digest {known.digest[:12]}"
    )


@dataclass(frozen=True, slots=True)
class _Source:
    """What is run again: a case of a scenario, or a variant of a finished result, with the record it has."""

    trial: Trial
    kept: Kept | None = None
    record: KeptRecord | None = None

    @classmethod
    def of(cls, name: str, variant: str | None, seed: int | None) -> "_Source":
        path = Path(name)
        if path.name == RESULT or path.is_dir():
            if seed is not None:
                raise InputError("--seed is a scenario's: a result has its own")
            kept = named(path, options.DEFAULT_OUT)
            if len(kept) > 1:
                raise InputError(f"{len(kept)} results are there: name one", file=name)
            called = variant_called(kept[0], variant).name
            plan = read_plan(kept[0].folder, called)
            return cls(Trial(plan, ()), kept[0], KeptRecord.beside(kept[0].folder / called))
        experiment = load(name, Path.cwd())
        case = experiment.cases[0] if variant is None else experiment.case(variant)
        plan = build_plan(experiment, case, options.DEFAULT_SEED if seed is None else seed)
        return cls(Trial(plan, case.expectations, case.breaks))

    def window(self, text: str | None) -> Window:
        """What is to be seen: all that is recorded already, or all there is, where nobody says it."""
        if text is None and self.record:
            return Between("all that is recorded", self.record.from_ns, self.record.until_ns)
        return parse_window(text or ALL, self.trial.plan)

    def measured(self, its: Recorder, lab: Lab) -> tuple[Plan, Result]:
        """The Plan, and what it measures; what a result has, to the byte."""
        if self.kept is None:
            return self.trial.plan, its.measured(self.trial.plan)
        return measured_again(self.kept, variant_called(self.kept, self.trial.plan.variant), its, lab)


def _by_ending(out: Path) -> Format:
    ending = out.suffix.removeprefix(".")
    # It always was a capture, whatever its name.
    if ending in {"", "cap", "pcap"}:
        return Format.PCAPNG
    if ending not in set(Format):
        raise InputError(unknown("ending", f".{ending}", (f".{form}" for form in Format)), hint="or --format")
    return Format(ending)


def _pcapng(
    out: Path, plan: Plan, recorded: Recorded, ready_ns: int, ports: list[str]
) -> tuple[str, int | None]:
    with out.open("wb") as file:
        from_ns = min(recorded.windows_ns[0][0], 0)
        record = read_record(recorded.record, PACKETS)
        captured = write_capture(file, plan, record, ready_ns, ports, from_ns=from_ns)
    return f"{captured.packets} frames, {captured.drops} of them dropped", captured.cut_ns


def _qlog(out: Path, plan: Plan, recorded: Recorded, ready_ns: int, _: list[str]) -> tuple[str, int | None]:
    connections = read_connections(plan, read_record(recorded.record, _OF_TCP), ready_ns)
    with out.open("w", encoding="utf-8") as file:
        events = write_qlog(file, plan, connections, ready_ns)
    return f"{events} events of {len(connections.states)} ends of TCP flows", connections.cut_ns


def _pftrace(
    out: Path, plan: Plan, recorded: Recorded, ready_ns: int, _: list[str]
) -> tuple[str, int | None]:
    with out.open("wb") as file:
        cut_ns = write_perfetto(file, plan, read_record(recorded.record), ready_ns)
    return f"{len(plan.ports)} ports", cut_ns


def _html(out: Path, plan: Plan, recorded: Recorded, ready_ns: int, _: list[str]) -> tuple[str, int | None]:
    page, cut_ns = graphs_page(plan, read_record(recorded.record), ready_ns, recorded.windows_ns[0])
    out.write_text(page, encoding="utf-8")
    return "the graphs of tcptrace", cut_ns


_OF_TCP = frozenset({Kind.TCP, Kind.END})
_WRITERS: dict[Format, Callable[[Path, Plan, Recorded, int, list[str]], tuple[str, int | None]]] = {
    Format.PCAPNG: _pcapng,
    Format.QLOG: _qlog,
    Format.PFTRACE: _pftrace,
    Format.HTML: _html,
}
