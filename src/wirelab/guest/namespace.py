"""Entering a node's network namespace without a process of its own."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def inside(pid: int | None) -> Iterator[None]:
    """Be in the network namespace of process ``pid``; None stays where it is.

    A socket opened inside stays there for good.
    """
    if pid is None:
        yield
        return
    home = os.open("/proc/self/ns/net", os.O_RDONLY)
    there = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY)
    try:
        _enter(there)
        yield
    finally:
        _enter(home)
        os.close(there)
        os.close(home)


def _enter(namespace: int) -> None:
    os.setns(namespace, os.CLONE_NEWNET)  # type: ignore[attr-defined] # of Python 3.12, as the lab has it


def sysfs(pid: int | None) -> Path:
    """The node's own /sys: Mininet mounts one in each node, and it shows that node's ports only."""
    return Path("/sys") if pid is None else Path(f"/proc/{pid}/root/sys")
