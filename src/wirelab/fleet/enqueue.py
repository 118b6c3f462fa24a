"""A matrix begins: ``python -m wirelab.fleet.enqueue --results DIR [NAME|PATTERN]...``.

Prints what the playbook goes on with, as JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from wirelab.cli.errors import exit_code_of
from wirelab.cli.names import load_all, read_seeds
from wirelab.cli.options import DEFAULT_SEED
from wirelab.errors import InputError, LabError
from wirelab.fleet.identity import Identity
from wirelab.fleet.queue import Job, JobQueue
from wirelab.lab.select import select
from wirelab.runner.shards import loads, weights_s

if TYPE_CHECKING:
    from collections.abc import Sequence


def jobs_of(names: Sequence[str], seeds: Sequence[int], results: Path) -> list[Job]:
    """A job for each scenario and seed, the longest first: by how long it took, by the ``results``."""
    for name in names:
        if os.sep in name or name.endswith((".yaml", ".yml")):
            hint = "put it in scenarios/ and run provision.yml again"
            raise InputError("a file; workers have the catalogue that they were given", file=name, hint=hint)
    experiments = load_all(names)
    weights = weights_s(loads(experiments, results))
    longest_first = sorted(weights, key=lambda name: (-weights[name], name))
    return [Job(name, seed, len(experiments[name].cases)) for name in longest_first for seed in seeds]


def require_writable(folder: Path) -> None:
    """Raise LabError if results cannot be kept in ``folder``, which is made."""
    hint = "choose a folder of your own: -e wirelab_results=FOLDER"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".fleet-{os.getpid()}"
        probe.write_bytes(b"?")
        probe.unlink()
    except OSError as error:
        raise LabError(f"{folder}: cannot write results: {error.strerror}", hint=hint) from error


def main(argv: Sequence[str]) -> int:
    """Make the queue and say what is in it. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="wirelab.fleet.enqueue")
    parser.add_argument("--check", action="store_true", help="make nothing")
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--seeds", default=str(DEFAULT_SEED))
    parser.add_argument("names", nargs="*")
    args = parser.parse_args(argv)
    select()
    seeds = [DEFAULT_SEED] if args.seeds == str(DEFAULT_SEED) else read_seeds(args.seeds)
    jobs = jobs_of(args.names, seeds, args.results)
    queue = ""
    if not args.check:
        require_writable(args.results)
        queue = tempfile.mkdtemp(prefix="wirelab-matrix-")
        JobQueue.make(Path(queue), jobs)
    matrix = {
        "queue": queue,
        "results": str(args.results),
        "identity": Identity.here().facts(),
        "scenarios": list(dict.fromkeys(job.scenario for job in jobs)),
        "runs": [job.title for job in jobs],
    }
    sys.stdout.write(json.dumps(matrix) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(exit_code_of(lambda: main(sys.argv[1:])))
