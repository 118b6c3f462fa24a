"""A matrix begins and ends: ``python -m wirelab.fleet.matrix begin --results DIR | end --queue DIR``.

``begin`` puts scenarios in a queue and prints what the playbook goes on with, as JSON. ``end`` says who was
lost, and gives one verdict on all of it: its exit code is that of `wirelab summary`, so a worker that was
lost does not change it, a missing result does.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from wirelab.cli.errors import exit_code_of
from wirelab.cli.names import load_all, read_seeds, require_runs
from wirelab.cli.options import Files
from wirelab.cli.summary import summarize
from wirelab.errors import InputError, LabError
from wirelab.fleet.identity import Identity
from wirelab.fleet.queue import JobQueue, QueuedJob
from wirelab.lab.select import select
from wirelab.runner.shards import loads, weights_s


def jobs_of(names: Sequence[str], seeds: Sequence[int], results: Path) -> list[QueuedJob]:
    """A job for each scenario and seed, the longest first: by how long it took, by the ``results``."""
    for name in names:
        if os.sep in name or name.endswith((".yaml", ".yml")):
            hint = "put it in scenarios/ and run provision.yml again"
            raise InputError("a file; workers have the catalogue that they were given", file=name, hint=hint)
    experiments = load_all(names)
    require_runs(len(experiments) * len(seeds))
    weights = weights_s(loads(experiments, results))
    return [QueuedJob(name, seed, len(experiments[name].cases)) for name in weights for seed in seeds]


def require_writable(folder: Path) -> None:
    """Raise LabError if results cannot be kept in ``folder``, which is made."""
    hint = "choose a folder of your own: -e wirelab_results=FOLDER"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as probe:
            probe.write(b"?")
    except OSError as error:
        raise LabError(f"{folder}: cannot write results: {error.strerror}", hint=hint) from error


def begin(names: Sequence[str], seeds: str, results: Path, *, check: bool) -> None:
    """Make the queue, unless this is a ``check``, and say what is in it."""
    select()
    jobs = jobs_of(names, read_seeds(seeds), results)
    queue = ""
    if not check:
        require_writable(results)
        queue = str(JobQueue.make_anew(jobs, time.time()).folder)
    matrix = {
        "queue": queue,
        "results": str(results),
        "identity": asdict(Identity.here()),
        "scenarios": list(dict.fromkeys(job.scenario for job in jobs)),
        "runs": [job.title for job in jobs],
    }
    sys.stdout.write(json.dumps(matrix) + "\n")


def end(queue: JobQueue, scenarios: Sequence[str], seeds: str, files: Files) -> int:
    """Say how the matrix ended, and remove its queue. Returns the exit code."""
    results = queue.results()
    lines = [f"lost: {host}: {why}" for host, why in sorted(queue.lost().items())]
    lines += [f"no result: {title}: {why}" for title, why in queue.dropped().items()]
    for host, count in sorted(Counter(result.host for result in results).items()):
        lines.append(f"{host}: {count} {'result' if count == 1 else 'results'}")
    sys.stdout.write("\n".join([*lines, "", ""]))
    sys.stdout.flush()
    shutil.rmtree(queue.folder, ignore_errors=True)
    return summarize([Path(result.folder) for result in results], scenarios, seeds, files).exit_code


def main(argv: Sequence[str]) -> int:
    """Do what was asked. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="wirelab.fleet.matrix")
    commands = parser.add_subparsers(dest="command", required=True)
    begin_parser = commands.add_parser("begin")
    begin_parser.add_argument("--check", action="store_true", help="make nothing")
    begin_parser.add_argument("--results", type=Path, required=True)
    end_parser = commands.add_parser("end")
    end_parser.add_argument("--queue", type=Path, required=True)
    for name in ("--junit", "--json-file", "--markdown"):
        end_parser.add_argument(name, type=Path)
    for command, nargs in ((begin_parser, "*"), (end_parser, "+")):
        command.add_argument("--seeds", default="1")
        command.add_argument("scenarios", nargs=nargs)
    args = parser.parse_args(argv)
    if args.command == "end":
        files = Files(args.junit, args.json_file, args.markdown)
        return end(JobQueue(args.queue), args.scenarios, args.seeds, files)
    begin(args.scenarios, args.seeds, args.results, check=args.check)
    return 0


if __name__ == "__main__":
    sys.exit(exit_code_of(lambda: main(sys.argv[1:])))
