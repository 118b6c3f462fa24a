"""What this machine lacks to build and run a lab, each with the line that helps."""

import os
import platform
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from wirelab.errors import WirelabError
from wirelab.lab import host, jail, kbuild, kernel, memory, packages, rootfs, wheel
from wirelab.lab.entry import DamagedEntryError, Entry, intact
from wirelab.lab.recipe import BuildContext
from wirelab.lab.scratch import temporary_folder

RUN_BYTES = 1 << 30


@dataclass(frozen=True)
class Finding:
    """One thing looked at: how it is, and where it is not well the line that helps, if one is known."""

    name: str
    detail: str
    fix: str | None = None
    is_error: bool = False

    @property
    def ok(self) -> bool:
        """Whether it is well."""
        return self.fix is None and not self.is_error


def examine(environ: Mapping[str, str] = os.environ, *, verify: bool = False) -> list[Finding]:
    """Look at everything a lab needs of this machine. Changes nothing and raises nothing.

    ``verify`` reads all of the kernel and the root image, and compares it with what was built.
    """
    context = partial(BuildContext.of, environ)
    looks: tuple[tuple[str, Callable[[], Iterable[Finding]]], ...] = (
        ("wirelab", _machine),
        ("wirelab", lambda: _packages(context())),
        ("wirelab", _tracing),
        ("wirelab", _jail),
        ("memory folder", _memory_folder),
        ("wirelab", lambda: _cache(context())),
        ("wirelab", lambda: _entry("lab kernel", kernel.find(context()), verify=verify)),
        ("wirelab", lambda: _entry("root image", rootfs.find(context()), verify=verify)),
    )
    findings: list[Finding] = []
    for subject, look in looks:
        try:
            findings += look()
        except WirelabError as error:
            name = "lab" if isinstance(error, DamagedEntryError) else subject
            findings.append(Finding(name, error.message, error.hint, is_error=True))
    # Several looks may end at the same trouble.
    return list(dict.fromkeys(findings))


def _machine() -> Iterator[Finding]:
    yield Finding("python", platform.python_version())
    name, cpus = platform.machine(), len(os.sched_getaffinity(0))
    lack = host.processor_lack()
    yield Finding("processor", f"{name}, {cpus} CPUs", lack.fix if lack else None)


def _packages(context: BuildContext) -> Iterator[Finding]:
    # A lab that came in a file, a wheel, or a container's image, needs nothing that builds one.
    at_hand = wheel.installed()
    groups = [
        ("kernel", "kernel build", at_hand or intact(kernel.find, context)),
        ("root", "root image", at_hand or intact(rootfs.find, context)),
    ]
    # An installed wirelab is in its environment already; the Makefile of a checkout makes one.
    if (context.recipe.home / "Makefile").is_file():
        groups.append(("venv", "virtual environment", None))
    for group, purpose, built in groups:
        lacking = [need.package for need in packages.missing(group)]
        detail = f"missing: {', '.join(lacking)}" if lacking else "nothing is missing"
        if lacking and built:
            detail, lacking = f"{detail}; not needed, for it is there", []
        fix = packages.install_command(lacking) if lacking else None
        yield Finding(f"packages for the {purpose}", detail, fix)


def _tracing() -> Iterator[Finding]:
    # Kernels before 6.16 run the lab's processes by ptrace(2). Newer ones catch their system calls with a
    # seccomp filter, and do as the older ones where they may not.
    ptrace, filters, lack = host.ptrace_error(), host.filter_error(), host.tracing_lack()
    fix = lack.fix if lack else None
    without = "" if lack else ": only the kernels 6.1 and 6.12 need it"
    yield Finding("ptrace", f"{ptrace}{without}" if ptrace else "allowed", fix)
    without = "" if lack else ": labs run slower, by ptrace"
    yield Finding("seccomp", f"{filters}{without}" if filters else "filters are allowed", fix)


def _jail() -> Iterator[Finding]:
    # Scenarios are data, and run with what there is.
    lack = jail.lack()
    without = f": `wirelab exec` needs --without-jail. {lack.fix}" if lack else ""
    version = f" (version {host.landlock_abi()} of Landlock)" if host.landlock_abi() else ""
    yield Finding("jail", f"{jail.described()}{without}{version}")


def _memory_folder() -> Iterator[Finding]:
    folder = memory.memory_folder(temporary_folder())
    free = shutil.disk_usage(folder).free
    if free < RUN_BYTES:
        detail = f"{folder} has {free >> 20} MiB free, a run may take {RUN_BYTES >> 20} MiB"
        yield Finding("memory folder", detail, f"make room in {folder}")
    else:
        yield Finding("memory folder", str(folder))


def _cache(context: BuildContext) -> Iterator[Finding]:
    root = context.cache.root
    has_kernel = intact(kernel.find, context)
    # Not Path.exists(), which raises where it may not look.
    place = next(path for path in (root, *root.parents) if os.access(path, os.F_OK))
    if host.is_noexec(place):
        detail = f"{host.disk_of(place)} does not let programs be executed, and a lab's kernel is one"
        yield Finding("cache", detail, "set WIRELAB_CACHE to a folder that is not mounted noexec")
    elif not os.access(place, os.W_OK | os.X_OK):
        is_read_only = os.statvfs(place).f_flag & os.ST_RDONLY
        detail = f"{place} is {'read-only' if is_read_only else 'not yours to write'}"
        own = f', or: sudo chown -R "$(id -u)" {place}'
        fix = f"set WIRELAB_CACHE to a folder of yours{'' if is_read_only else own}"
        if has_kernel and intact(rootfs.find, context):
            yield Finding("cache", f"{detail}; what is built there can be used")
        else:
            yield Finding("cache", detail, fix)
    elif (lack := kbuild.space_lacking(place)) and not (has_kernel or wheel.installed()):
        yield Finding("cache", lack, "make room, or set WIRELAB_CACHE to a larger disk")
    else:
        yield Finding("cache", f"{root}, {shutil.disk_usage(place).free / 2**30:.0f} GiB free")


def _entry(name: str, entry: Entry | None, *, verify: bool) -> Iterator[Finding]:
    if entry is None:
        if lab_wheel := wheel.installed():
            yield Finding(name, f"in {wheel.NAME} {lab_wheel.version}: the first run takes it")
        else:
            yield Finding(name, "not built from these sources", "wirelab lab build")
        return
    entry.check()
    note = "" if not verify or entry.verify() else "; not verified: it was built without hashes"
    yield Finding(name, f"{entry.facts['title']} ({entry.path}){note}")
