"""The same run under other circumstances: whatever of the host could matter, changed at once."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

import wirelab
from tests.apart import apart
from tests.lab.rig import NS_PER_S, Rig
from wirelab.lab.recording import Recording
from wirelab.results.result import read_result

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wirelab.lab.select import Lab
    from wirelab.plan.types import Plan

NOBODY = 65534
# All the while, until the file is full: a recorder changes nothing.
SOME = Recording(((0, 10_000 * NS_PER_S),), 32 << 20)


@contextlib.contextmanager
def other_folder() -> Iterator[Path]:
    """A folder that every user of this machine can enter, and its content deleted afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="wirelab-elsewhere-"))
    folder.chmod(0o777)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def copied(lab: Lab, folder: Path) -> Lab:
    """The same kernel and root in another place: other inodes, other times, in an order of its own."""
    kernel, root = folder / "kernel-copy", folder / "root-copy"
    shutil.copyfile(lab.kernel, kernel)
    kernel.chmod(0o755)
    shutil.copytree(lab.root, root, symlinks=True, copy_function=shutil.copy)
    return replace(lab, kernel=kernel, root=root, entries=())


# What wakes is served first: it cuts into a run more often than what is always busy, for less of its time.
OTHER_WORK = """
import time
while True:
    until = time.monotonic() + 0.002
    while time.monotonic() < until:
        pass
    time.sleep(0.005)
"""


@contextlib.contextmanager
def busy_cpus() -> Iterator[None]:
    """Every CPU has something else to do, for two milliseconds of each seven."""
    argv = [sys.executable, "-c", OTHER_WORK]
    hogs = [subprocess.Popen(["taskset", "--cpu-list", str(cpu), *argv]) for cpu in os.sched_getaffinity(0)]
    try:
        yield
    finally:
        for hog in hogs:
            hog.kill()
            hog.wait()


class Elsewhere:
    """A lab and a wirelab copied to a folder of their own, until it is left."""

    def __init__(self, lab: Lab) -> None:
        self._original = lab

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as stack:
            self._folder = stack.enter_context(other_folder())
            self._lab = copied(self._original, self._folder)
            self._package = self._folder / "wirelab"
            shutil.copytree(Path(wirelab.__file__).parent, self._package)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def digest(self, plan: Plan, cpu: int) -> str:
        """The digest of ``plan`` there, as another user where possible.

        With other environment variables, another current folder, another file mask, every CPU busy, and a
        recorder.
        """
        work = Path(tempfile.mkdtemp(dir=self._folder))
        with busy_cpus():
            return str(apart(_digest, plan, self._lab, work, self._package, cpu))


def become_another(folder: Path) -> None:
    """Make this process one of another user, where it may, in ``folder``, with another file mask."""
    os.umask(0o077)
    os.chdir(folder)
    if os.getuid() == 0:
        folder.chmod(0o777)
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)


def _digest(plan: Plan, lab: Lab, work: Path, package: Path, cpu: int) -> str:
    """The digest of a run in the world of another process."""
    become_another(work)
    os.environ.update(LANG="tr_TR.UTF-8", TZ="Asia/Tokyo", HOME="/nowhere", WIRELAB_TEST_MARK="x" * 1000)
    # Where the machine takes the guest's code from.
    wirelab.__file__ = str(package / "__init__.py")
    return read_result(plan, Rig(lab, work, cpu=cpu).run(plan, recording=SOME)).digest
