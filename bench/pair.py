"""The wirelab of this tree against another revision: figures of `bench.py` as ratios, measured in turns.

A machine is not as fast in one hour as in the next. So both are measured alternately, and what is printed is
the median of the ratios of neighbours, with their spread. Below 1 this one takes less; only of the matrix,
which is in virtual seconds a core, more is better. A bench reaches into the code that it measures, so each
tree has its own, and the figures that both have are compared: one that comes to mean something else needs
another name.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).resolve().parents[1]


@contextmanager
def worktree(revision: str) -> Iterator[Path]:
    """The files of a revision, in a folder of their own."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "wirelab"
        run("git", "worktree", "add", "--quiet", "--detach", str(tree), revision, tree=HERE)
        try:
            yield tree
        finally:
            run("git", "worktree", "remove", "--force", str(tree), tree=HERE)


def run(*argv: str, tree: Path) -> None:
    """Run a program in a tree, with the wirelab of that tree. Ends with its exit code if it fails."""
    done = subprocess.run(argv, check=False, cwd=tree, env={**os.environ, "PYTHONPATH": str(tree / "src")})
    if done.returncode != 0:
        sys.exit(done.returncode)


def figures(tree: Path, folder: Path, only: str) -> dict[str, float]:
    """The figures of a tree, measured once; only those that are asked for, if its bench can be asked."""
    file = folder / "bench.json"
    bench = tree / "bench" / "bench.py"
    asked = ("--only", only) if only and "--only" in bench.read_text(encoding="utf-8") else ()
    run(sys.executable, str(bench), "--runs", "1", *asked, "--json", str(file), tree=tree)
    return {figure["name"]: figure["median"] for figure in json.loads(file.read_text())["figures"]}


def main() -> None:
    """Measure in turns and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("revision", help="the other one; its lab is built if it is not there")
    parser.add_argument("--runs", type=int, default=5, help="how often each is measured")
    parser.add_argument("--only", default="", help="measure the figures whose names hold this")
    options = parser.parse_args()
    pairs: list[tuple[dict[str, float], dict[str, float]]] = []
    with worktree(options.revision) as other, tempfile.TemporaryDirectory() as folder:
        for tree in (HERE, other):
            run(sys.executable, "-m", "wirelab", "lab", "build", tree=tree)
        for _ in range(options.runs):
            theirs = figures(other, Path(folder), options.only)
            pairs.append((figures(HERE, Path(folder), options.only), theirs))
    print(f"\nthis one / {options.revision}, medians of {options.runs} pairs")
    for name in [name for name in pairs[0][0] if name in pairs[0][1]]:
        ratios = sorted(ours[name] / theirs[name] for ours, theirs in pairs)
        print(f"{name:<56} {statistics.median(ratios):.2f}  ({ratios[0]:.2f}..{ratios[-1]:.2f})")


if __name__ == "__main__":
    main()
