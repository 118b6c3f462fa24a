"""What a worker does when it is told to: ``python -m wirelab.fleet.agent hello | run SCENARIO``.

Nothing but the answer is ever written on standard output, see `bundle`.
"""

import argparse
import contextlib
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final

from wirelab.cli.errors import exit_code_of
from wirelab.cli.names import load_all, usable_cpus
from wirelab.errors import LabError, WirelabError, refusals
from wirelab.fleet.bundle import Answer, checksum
from wirelab.fleet.identity import Identity
from wirelab.lab import lock
from wirelab.lab.memory import memory_folder
from wirelab.lab.scratch import discard
from wirelab.lab.select import select
from wirelab.plan.types import MEMORY_BYTES
from wirelab.report.html import html_report
from wirelab.report.live import LiveReport
from wirelab.report.text import Output, warn
from wirelab.runner import tarball
from wirelab.runner.job import Job
from wirelab.runner.matrix import Matrix
from wirelab.runner.store import Store
from wirelab.runner.trial import Runner
from wirelab.verdict.verdict import Verdict

ROOM_BYTES: Final = 32 << 20
"""What a run needs on the disk of its results: raw files, a report and the bundle."""


def run(
    scenario: str, seed: int, cpus: Sequence[int], work: Path, *, use_cache: bool
) -> tuple[Answer, bytes]:
    """Run a scenario of the catalogue and pack its result.

    Where the machine has no room, the answer says ``full`` and no verdict is to be trusted.
    """
    if lacking := no_room(work):
        return Answer(full=lacking), b""
    with own_folder(work) as folder:
        # A folder `scenarios` of the user's, where this was started, is none of our business.
        os.chdir(folder)
        (name, experiment), *_ = load_all([scenario]).items()
        job = Job.of(name, experiment, seed)
        lab = select()
        live = LiveReport(Output.for_stream(sys.stderr), job.trials, hidden=True)
        with lab.in_use():
            runner = Runner.of(lab, warn, use_cache=use_cache)
            matrix = Matrix(runner, Store(folder), usable_cpus(cpus, None), live, html_report)
            (finished,) = matrix.run([job])
        verdict = finished.run.verdict
        if (finished.error or verdict is Verdict.ERROR) and (lacking := no_room(work)):
            return Answer(full=lacking), b""
        if finished.error is not None or finished.folder is None:
            raise finished.error or LabError(f"{scenario} left no result")
        bundle = tarball.pack(finished.folder)
    return Answer(verdict=verdict, size_bytes=len(bundle), sha256=checksum(bundle)), bundle


def no_room(work: Path) -> str:
    """What is full of the folders that a run writes to; empty if none is."""
    # Before the first run it is not there, and nothing can be executed in what is not there.
    memory = memory_folder(_nearest(work))
    for folder, wanted_bytes, purpose in (
        (work, ROOM_BYTES, "disk"),
        (memory, MEMORY_BYTES, "folder of a lab's memory"),
    ):
        free_bytes = shutil.disk_usage(_nearest(folder)).free
        if free_bytes < wanted_bytes:
            free = f"{free_bytes >> 20} MiB free, a run takes up to {wanted_bytes >> 20} MiB"
            return f"the {purpose} of {folder} is full: {free}"
    return ""


def _nearest(folder: Path) -> Path:
    """The folder, or what is there of the path to it."""
    return next(path for path in (folder, *folder.parents) if path.exists())


@contextlib.contextmanager
def own_folder(work: Path) -> Iterator[Path]:
    """A folder for one run; what runs left here that were killed is removed."""
    with refusals(work, "cannot be written: "):
        work.mkdir(parents=True, exist_ok=True)
        for left in work.iterdir():
            with lock.exclusive_now(left) as abandoned:
                if abandoned:
                    discard(left)
        folder, descriptor = lock.locked_folder(work)
    try:
        yield folder
    finally:
        os.chdir(work)
        discard(folder)
        os.close(descriptor)


def main(argv: Sequence[str]) -> int:
    """Do what was asked and answer; what goes wrong is an answer, too. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="wirelab.fleet.agent")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("hello")
    runner = commands.add_parser("run")
    runner.add_argument("scenario")
    runner.add_argument("--seed", type=int, default=1)
    runner.add_argument("--cpu", type=int, action="append", default=[])
    runner.add_argument("--work", type=Path, required=True)
    runner.add_argument("--no-cache", action="store_true")
    args = parser.parse_args(argv)
    # Whatever a library may print is not part of the answer.
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as out:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        bundle = b""
        try:
            if args.command == "hello":
                answer = Answer(**asdict(Identity.here()), cpus=tuple(usable_cpus(None, None)))
            else:
                work = args.work.absolute()
                answer, bundle = run(args.scenario, args.seed, args.cpu, work, use_cache=not args.no_cache)
        except WirelabError as error:
            answer = Answer(error=str(error), hint=error.hint)
        # Nobody listens any more: the cable is cut, and who asked has given the job to somebody else.
        with contextlib.suppress(BrokenPipeError):
            out.write(answer.line() + bundle)
            out.flush()
    return 0


if __name__ == "__main__":
    sys.exit(exit_code_of(lambda: main(sys.argv[1:])))
