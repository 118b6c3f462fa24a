"""A matrix ends: ``python -m wirelab.fleet.outcome --queue DIR``: who was lost, and one verdict on all of it.

The exit code is that of `wirelab summary`: a worker that was lost does not change it, a missing result does.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from wirelab.cli.errors import exit_code_of
from wirelab.cli.files import Files
from wirelab.cli.options import DEFAULT_SEED
from wirelab.cli.summary import summarize
from wirelab.fleet.queue import JobQueue

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(argv: Sequence[str]) -> int:
    """Say how the matrix ended, and remove its queue. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="wirelab.fleet.outcome")
    parser.add_argument("--queue", type=Path, required=True)
    parser.add_argument("--seeds", default=str(DEFAULT_SEED))
    parser.add_argument("--junit", type=Path)
    parser.add_argument("--json-file", type=Path)
    parser.add_argument("--markdown", type=Path)
    parser.add_argument("scenarios", nargs="+")
    args = parser.parse_args(argv)
    queue = JobQueue(args.queue)
    for host, why in sorted(queue.lost().items()):
        sys.stdout.write(f"lost: {host}: {why}\n")
    for title, why in queue.dropped().items():
        sys.stdout.write(f"no result: {title}: {why}\n")
    counts: dict[str, int] = {}
    for result in queue.results():
        counts[result.host] = counts.get(result.host, 0) + 1
    for host, count in sorted(counts.items()):
        sys.stdout.write(f"{host}: {count} {'result' if count == 1 else 'results'}\n")
    sys.stdout.write("\n")
    sys.stdout.flush()
    folders = [Path(result.folder) for result in queue.results()]
    shutil.rmtree(queue.folder, ignore_errors=True)
    seeds = None if args.seeds == str(DEFAULT_SEED) else args.seeds
    files = Files(args.junit, args.json_file, args.markdown)
    return summarize(folders, args.scenarios, seeds, files).exit_code


if __name__ == "__main__":
    sys.exit(exit_code_of(lambda: main(sys.argv[1:])))
