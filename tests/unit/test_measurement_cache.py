"""What a measurement depends on is part of its name in the cache."""

from __future__ import annotations

import ast
from pathlib import Path

from wirelab.runner import measurement_cache

SOURCE = Path(measurement_cache.__file__).parents[1]


def imported(path: Path) -> set[str]:
    """The modules of wirelab that a file imports, by their files in the package."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module}
    places = [name.removeprefix("wirelab.").replace(".", "/") for name in names]
    files = [f"{place}{ending}" for place in places for ending in (".py", "/__init__.py")]
    return {name for name in files if (SOURCE / name).is_file()}


def test_all_that_runs_inside_a_lab_is_named() -> None:
    """Whatever the guest imports, directly or not, a change of it makes what was measured before unknown."""
    covered = {
        path.relative_to(SOURCE).as_posix()
        for pattern in measurement_cache._CODE  # noqa: SLF001 - the point of the test
        for path in SOURCE.glob(pattern)
    }
    reached: set[str] = set()
    waiting = {path.relative_to(SOURCE).as_posix() for path in SOURCE.glob("guest/*.py")}
    while waiting:
        name = waiting.pop()
        reached.add(name)
        waiting |= imported(SOURCE / name) - reached
    assert "plan/traffic/iperf3.py" in reached
    assert reached <= covered
