"""What this machine lacks to build and run a lab, each with the line that helps."""

from __future__ import annotations

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
from wirelab.lab.recipe import Recipe
from wirelab.lab.scratch import temporary_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

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
    looks: tuple[Callable[[], list[Finding]], ...] = (
        _python,
        _processor,
        lambda: _packages(environ),
        _tracing,
        _seccomp,
        _memory_folder,
        lambda: _cache(environ),
        lambda: _entry(environ, "lab kernel", kernel.find, verify=verify),
        lambda: _entry(environ, "root image", rootfs.find, verify=verify),
    )
    findings = []
    for look in looks:
        try:
            findings += look()
        except WirelabError as error:
            findings.append(Finding("wirelab", ok=False, detail=error.message, fix=error.hint))
    # Several looks may end at the same trouble.
    return list(dict.fromkeys(findings))


def _python() -> list[Finding]:
    version = platform.python_version()
    ok = sys.version_info >= (3, 11)
    return [Finding("python", ok, version, None if ok else "install Python 3.11 or newer")]


def _processor() -> list[Finding]:
    name, cpus = platform.machine(), len(os.sched_getaffinity(0))
    ok = name == "x86_64"
    return [Finding("processor", ok, f"{name}, {cpus} CPUs", None if ok else "use an x86-64 machine")]


def _packages(environ: Mapping[str, str]) -> list[Finding]:
    findings = []
    context = BuildContext.of(environ)
    # A lab that came in a file, or in a container's image, needs nothing that builds one.
    groups = [
        ("kernel", "kernel build", intact(lambda: kernel.find(context)) is not None),
        ("root", "root image", intact(lambda: rootfs.find(context)) is not None),
    ]
    # An installed wirelab is in its environment already; the Makefile of a checkout makes one.
    if (Recipe.find().home / "Makefile").is_file():
        groups.append(("venv", "virtual environment", False))
    for group, purpose, built in groups:
        lacking = [need.package for need in packages.missing(group)]
        fix = packages.install_command(lacking) if lacking and not built else None
        detail = f"missing: {', '.join(lacking)}" if lacking else "nothing is missing"
        if lacking and built:
            detail += "; not needed, for it is there"
        findings.append(Finding(f"packages for the {purpose}", built or not lacking, detail, fix))
    return findings


def _tracing() -> list[Finding]:
    """Kernels before 6.16 run the lab's processes by ptrace(2)."""
    error = _in_child(lambda: _ptrace_error(PTRACE_TRACEME))
    if error == 0:
        return [Finding("ptrace", ok=True, detail="allowed")]
    fix = "sudo sysctl kernel.yama.ptrace_scope=1; in a container: --cap-add SYS_PTRACE"
    return [Finding("ptrace", ok=False, detail=os.strerror(error), fix=fix)]


def _seccomp() -> list[Finding]:
    """Newer ones catch their system calls with a seccomp filter, which is faster."""
    try:
        actions = SECCOMP_ACTIONS.read_text(encoding="ascii").split()
    except OSError:
        actions = []
    if "trap" in actions:
        return [Finding("seccomp", ok=True, detail="filters can trap system calls")]
    detail = "the kernel has no seccomp filters: labs run slower, by ptrace"
    return [Finding("seccomp", ok=True, detail=detail)]


def _memory_folder() -> list[Finding]:
    try:
        folder = machine.memory_folder(temporary_folder())
    except LabError as error:
        return [Finding("memory folder", ok=False, detail=error.message, fix=error.hint)]
    free = shutil.disk_usage(folder).free
    if free < RUN_BYTES:
        detail = f"{folder} has {free >> 20} MiB free, a run may take {RUN_BYTES >> 20} MiB"
        return [Finding("memory folder", ok=False, detail=detail, fix=f"make room in {folder}")]
    return [Finding("memory folder", ok=True, detail=str(folder))]


def _cache(environ: Mapping[str, str]) -> list[Finding]:
    context = BuildContext.of(environ)
    root = context.cache.root
    # Not Path.exists(), which raises where it may not look.
    place = next(path for path in (root, *root.parents) if os.access(path, os.F_OK))
    if not os.access(place, os.W_OK | os.X_OK):
        built = intact(lambda: kernel.find(context)) and intact(lambda: rootfs.find(context))
        fix = f'set WIRELAB_CACHE to a folder of yours, or: sudo chown -R "$(id -u)" {place}'
        detail = f"{place} is not yours to write" + ("; what is built there can be used" if built else "")
        return [Finding("cache", bool(built), detail, None if built else fix)]
    free = shutil.disk_usage(place).free
    if free < SPACE_BYTES and not intact(lambda: kernel.find(context)):
        detail = f"{place} has {free / 2**30:.1f} GiB free, a kernel build takes {SPACE_BYTES >> 30} GiB"
        return [
            Finding("cache", ok=False, detail=detail, fix="make room, or set WIRELAB_CACHE to a larger disk")
        ]
    return [Finding("cache", ok=True, detail=f"{root}, {free / 2**30:.0f} GiB free")]


def _entry(
    environ: Mapping[str, str], name: str, find: Callable[[BuildContext], Entry | None], *, verify: bool
) -> list[Finding]:
    try:
        entry = find(BuildContext.of(environ))
        if entry is None:
            fix = "wirelab lab build"
            return [Finding(name, ok=False, detail="not built from these sources", fix=fix)]
        entry.check()
        note = "" if not verify or entry.verify() else "; not verified: it was built without hashes"
    except DamagedEntryError as error:
        return [Finding(name, ok=False, detail=error.message, fix=error.hint)]
    return [Finding(name, ok=True, detail=f"{entry.facts['title']} ({entry.path}){note}")]


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
