"""What this machine lacks to build and run a lab, each with the line that helps."""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from wirelab.errors import LabError, WirelabError
from wirelab.lab import kernel, machine, packages, rootfs
from wirelab.lab.context import BuildContext
from wirelab.lab.entry import DamagedEntryError, intact
from wirelab.lab.kbuild import SPACE_BYTES
from wirelab.lab.scratch import temporary_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from wirelab.lab.entry import Entry

PTRACE_TRACEME = 0
RUN_BYTES = 1 << 30
SECCOMP_ACTIONS = Path("/proc/sys/kernel/seccomp/actions_avail")


@dataclass(frozen=True)
class Finding:
    """One thing looked at: how it is, and where it is not well the line that helps."""

    name: str
    ok: bool
    detail: str
    fix: str | None = None


def examine(environ: Mapping[str, str] = os.environ, *, verify: bool = False) -> list[Finding]:
    """Look at everything a lab needs of this machine. Changes nothing and raises nothing.

    ``verify`` reads all of the kernel and the root image, and compares it with what was built.
    """
    looks: tuple[Callable[[], Iterable[Finding]], ...] = (
        _machine,
        lambda: _packages(BuildContext.of(environ)),
        _tracing,
        _memory_folder,
        lambda: _cache(BuildContext.of(environ)),
        lambda: _entry("lab kernel", kernel.find(BuildContext.of(environ)), verify=verify),
        lambda: _entry("root image", rootfs.find(BuildContext.of(environ)), verify=verify),
    )
    findings: list[Finding] = []
    for look in looks:
        try:
            findings += look()
        except WirelabError as error:
            name = "lab" if isinstance(error, DamagedEntryError) else "wirelab"
            findings.append(Finding(name, ok=False, detail=error.message, fix=error.hint))
    # Several looks may end at the same trouble.
    return list(dict.fromkeys(findings))


def _machine() -> Iterator[Finding]:
    ok = sys.version_info >= (3, 11)
    yield Finding("python", ok, platform.python_version(), None if ok else "install Python 3.11 or newer")
    name, cpus = platform.machine(), len(os.sched_getaffinity(0))
    ok = name == "x86_64"
    yield Finding("processor", ok, f"{name}, {cpus} CPUs", None if ok else "use an x86-64 machine")


def _packages(context: BuildContext) -> Iterator[Finding]:
    # A lab that came in a file, or in a container's image, needs nothing that builds one.
    groups = [
        ("kernel", "kernel build", _is_built(context, kernel.find)),
        ("root", "root image", _is_built(context, rootfs.find)),
    ]
    # An installed wirelab is in its environment already; the Makefile of a checkout makes one.
    if (context.recipe.home / "Makefile").is_file():
        groups.append(("venv", "virtual environment", False))
    for group, purpose, built in groups:
        lacking = [need.package for need in packages.missing(group)]
        fix = packages.install_command(lacking) if lacking and not built else None
        detail = f"missing: {', '.join(lacking)}" if lacking else "nothing is missing"
        if lacking and built:
            detail += "; not needed, for it is there"
        yield Finding(f"packages for the {purpose}", built or not lacking, detail, fix)


def _is_built(context: BuildContext, find: Callable[[BuildContext], Entry | None]) -> bool:
    return intact(lambda: find(context)) is not None


def _tracing() -> Iterator[Finding]:
    # Kernels before 6.16 run the lab's processes by ptrace(2).
    if error := _in_child(lambda: _ptrace_error(PTRACE_TRACEME)):
        fix = "sudo sysctl kernel.yama.ptrace_scope=1; in a container: --cap-add SYS_PTRACE"
        yield Finding("ptrace", ok=False, detail=os.strerror(error), fix=fix)
    else:
        yield Finding("ptrace", ok=True, detail="allowed")
    # Newer ones catch their system calls with a seccomp filter, which is faster.
    actions: list[str] = []
    with contextlib.suppress(OSError):
        actions = SECCOMP_ACTIONS.read_text(encoding="ascii").split()
    detail = "the kernel has no seccomp filters: labs run slower, by ptrace"
    if "trap" in actions:
        detail = "filters can trap system calls"
    yield Finding("seccomp", ok=True, detail=detail)


def _memory_folder() -> Iterator[Finding]:
    name = "memory folder"
    try:
        folder = machine.memory_folder(temporary_folder())
    except LabError as error:
        yield Finding(name, ok=False, detail=error.message, fix=error.hint)
        return
    free = shutil.disk_usage(folder).free
    if free < RUN_BYTES:
        detail = f"{folder} has {free >> 20} MiB free, a run may take {RUN_BYTES >> 20} MiB"
        yield Finding(name, ok=False, detail=detail, fix=f"make room in {folder}")
    else:
        yield Finding(name, ok=True, detail=str(folder))


def _cache(context: BuildContext) -> Iterator[Finding]:
    root = context.cache.root
    has_kernel = _is_built(context, kernel.find)
    # Not Path.exists(), which raises where it may not look.
    place = next(path for path in (root, *root.parents) if os.access(path, os.F_OK))
    free = shutil.disk_usage(place).free
    if not os.access(place, os.W_OK | os.X_OK):
        built = has_kernel and _is_built(context, rootfs.find)
        fix = f'set WIRELAB_CACHE to a folder of yours, or: sudo chown -R "$(id -u)" {place}'
        detail = f"{place} is not yours to write" + ("; what is built there can be used" if built else "")
        yield Finding("cache", built, detail, None if built else fix)
    elif free < SPACE_BYTES and not has_kernel:
        detail = f"{place} has {free / 2**30:.1f} GiB free, a kernel build takes {SPACE_BYTES >> 30} GiB"
        yield Finding(
            "cache", ok=False, detail=detail, fix="make room, or set WIRELAB_CACHE to a larger disk"
        )
    else:
        yield Finding("cache", ok=True, detail=f"{root}, {free / 2**30:.0f} GiB free")


def _entry(name: str, entry: Entry | None, *, verify: bool) -> Iterator[Finding]:
    if entry is None:
        yield Finding(name, ok=False, detail="not built from these sources", fix="wirelab lab build")
        return
    entry.check()
    note = "" if not verify or entry.verify() else "; not verified: it was built without hashes"
    yield Finding(name, ok=True, detail=f"{entry.facts['title']} ({entry.path}){note}")


def _ptrace_error(request: int) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    return ctypes.get_errno() if libc.ptrace(request, 0, 0, 0) != 0 else 0


def _in_child(answer: Callable[[], int]) -> int:
    """What ``answer``, a number up to 255, is in a process of its own."""
    child = os.fork()
    if child == 0:
        os._exit(answer())
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)
