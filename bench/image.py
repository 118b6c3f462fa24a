"""What a container costs: the first verdict inside against outside, each measured anew on this machine.

``python bench/image.py [--rounds N]``: base and image are built for it, and removed.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.image.box import Box
from tests.image.conftest import HERE, forget, make
from tests.image.engine import NoEngineError, any_engine

if TYPE_CHECKING:
    from collections.abc import Callable

SCENARIO = "sfp-mismatch"
NAME = "wirelab-bench"
GOAL_S = 5.0


def seconds(work: Callable[[], None]) -> float:
    """Wall seconds that it takes."""
    begun_s = time.monotonic()
    work()
    return time.monotonic() - begun_s


def outside(out: Path) -> None:
    """A verdict by the program itself, from its start to its exit code."""
    argv = [sys.executable, "-m", "wirelab", "run", SCENARIO, "--no-cache", "--quiet", "--out", str(out)]
    subprocess.run(argv, cwd=HERE, capture_output=True, check=True)


def inside(box: Box, results: Path) -> None:
    """The same in a new container, from `docker run` to its exit code."""
    caller = f"{os.getuid()}:{os.getgid()}"
    done = box.run("run", SCENARIO, "--no-cache", "--quiet", results=results, user=caller)
    if done.returncode != 0:
        raise SystemExit(done.stdout + done.stderr)


def main() -> None:
    """Measure both in turn, and print medians and their difference."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    base = f"{NAME}-base"
    walls_s: dict[str, list[float]] = {"outside": [], "inside": []}
    try:
        with any_engine() as engine, tempfile.TemporaryDirectory(prefix="wirelab-bench-") as name:
            try:
                make(engine, "image-base", f"BASE_IMAGE={base}")
                make(engine, "image", f"BASE_IMAGE={base}", f"BASE={base}", f"IMAGE={NAME}")
                results = Path(name, "results")
                results.mkdir()
                for number in range(rounds):
                    walls_s["outside"].append(seconds(lambda: outside(Path(name, "outside"))))
                    walls_s["inside"].append(seconds(lambda: inside(Box(engine, NAME), results)))
                    shown = {where: round(walls[-1], 1) for where, walls in walls_s.items()}
                    print(f"round {number + 1}:", shown, flush=True)
            finally:
                forget(engine, NAME, base)
    except NoEngineError as error:
        raise SystemExit(f"error: {error}") from error
    outside_s, inside_s = (statistics.median(walls) for walls in walls_s.values())
    print(f"{SCENARIO}: outside {outside_s:.1f} s, in a container {inside_s:.1f} s")
    print(f"difference {inside_s - outside_s:+.1f} s, goal at most {GOAL_S:g}")


if __name__ == "__main__":
    main()
