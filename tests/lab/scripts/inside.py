"""What scripts in a lab need: programs, programs in a namespace, the counters of a port."""

from __future__ import annotations

import subprocess


def run(*argv: str) -> str:
    """Run a command and return what it says."""
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout


def inside(node: str, *argv: str) -> str:
    """Run a command in a network namespace."""
    return run("ip", "netns", "exec", node, *argv)


def stats(node: str, port: str) -> dict[str, int]:
    """What `ethtool -S` counts."""
    lines = inside(node, "ethtool", "-S", port).splitlines()[1:]
    return {name.strip(): int(value) for name, _, value in (line.partition(":") for line in lines)}
