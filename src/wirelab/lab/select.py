"""Which lab a run uses: the one built from this recipe, or the kernel and root folder the user names."""

import contextlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from wirelab.errors import InputError, LabError
from wirelab.lab import debian, host, rootfs, tree
from wirelab.lab import kernel as lab_kernel
from wirelab.lab.entry import Entry
from wirelab.lab.recipe import KEY_LENGTH, BuildContext, Recipe

INIT = Path("usr/sbin/wirelab-init")
BUILD_HINT = "wirelab lab build"

TOOLS: Final = ("iperf3", "openvswitch-switch", "mininet", "iproute2", "ethtool")
"""The packages whose versions decide what a run measures."""


@dataclass(frozen=True)
class Lab:
    """A kernel and the root it starts in, with a name for exactly this kernel and exactly this root."""

    kernel: Path
    root: Path
    kernel_id: str
    root_id: str
    entries: tuple[Entry, ...] = ()
    """Those of the cache that it is made of."""

    @contextlib.contextmanager
    def in_use(self) -> Iterator[None]:
        """Keep what the lab is made of from being pruned while the context lasts."""
        with contextlib.ExitStack() as stack:
            for entry in self.entries:
                stack.enter_context(entry.in_use())
            yield

    def kernel_title(self) -> str:
        """The kernel's version. One that was named and not built is told by its path."""
        built = (str(entry.facts["title"]) for entry in self.entries if entry.kind == lab_kernel.KIND)
        return next(built, str(self.kernel))

    def tool_versions(self) -> dict[str, str]:
        """The version of each package of TOOLS that the root image has, as its own files tell."""
        installed: dict[str, str] = {}
        with contextlib.suppress(OSError):
            status = (self.root / debian.STATUS).read_text(encoding="utf-8", errors="replace")
            installed = debian.installed(status)
        return {name: installed[name] for name in TOOLS if name in installed}


def select(
    kernel: Path | None = None,
    root: Path | None = None,
    series: str | None = None,
    *,
    environ: Mapping[str, str] = os.environ,
) -> Lab:
    """The lab to use: ``kernel`` and ``root`` where they are named, else what is built from this recipe.

    ``kernel`` is a file, or the name of a series of the recipe where no file is called so, and ``root`` a
    folder or the name of a larger image. ``series`` chooses among the kernels that are built where none is
    named; None is the newest that apt could deliver. Builds nothing and asks nobody. Raises InputError if
    what is named is no lab, LabError if none is built.
    """
    entries = []
    if kernel is not None and not kernel.exists() and str(kernel) in Recipe.find().series_names:
        kernel, series = None, str(kernel)
    if kernel is None:
        entries.append(entry := built_kernel(BuildContext.of(environ), series))
        kernel, kernel_id = entry.product, entry.id
    else:
        kernel, kernel_id = _named_kernel(kernel)
    if root is None or (not root.is_dir() and str(root) in Recipe.find().images):
        context = BuildContext.of(environ).of_image(str(root or ""))
        entries.append(entry := built_root(context))
        root, root_id = entry.product, entry.id
    else:
        root, root_id = _named_root(root)
    return Lab(kernel, root, kernel_id, root_id, tuple(entries))


def built_kernel(context: BuildContext, series: str | None = None) -> Entry:
    """The kernel that is built. Raises LabError, with the command that builds it, if none is."""
    command = BUILD_HINT if series is None else f"{BUILD_HINT} --series {series}"
    return _built(context, lab_kernel.find(context, series), "lab kernel", command)


def built_root(context: BuildContext) -> Entry:
    """The root image that is built. Raises LabError, with the command that builds it, if none is."""
    image = context.recipe.image
    command = f"{BUILD_HINT} --with {image}" if image else BUILD_HINT
    return _built(context, rootfs.find(context), f"root image {image}".rstrip(), command)


def _built(context: BuildContext, entry: Entry | None, what: str, command: str) -> Entry:
    if entry is None:
        raise LabError(f"{context.cache.root} has no {what} built from these sources", hint=command)
    require_usable(entry)
    return entry


def require_usable(entry: Entry) -> None:
    """Raise LabError if ``entry`` was changed, or its product cannot be used."""
    entry.check()
    if not os.access(entry.product, os.R_OK | os.X_OK):
        if os.access(entry.product, os.R_OK) and host.is_noexec(entry.product):
            message = f"{entry.product} cannot run: {host.disk_of(entry.path)} is mounted noexec"
            raise LabError(message, hint="set WIRELAB_CACHE to a folder that is not mounted noexec")
        message = f"{entry.product} cannot be used: it was removed, or it is somebody else's"
        raise LabError(message, hint=f"rm -r {entry.path}; {BUILD_HINT}")


def _named_kernel(path: Path) -> tuple[Path, str]:
    if not path.is_file():
        names = ", ".join(Recipe.find().series_names)
        hint = f"a kernel is the `linux` that a lab kernel's build makes, or the name of a series: {names}"
        raise InputError("no such file", file=str(path), hint=hint)
    if not os.access(path, os.R_OK | os.X_OK):
        raise InputError("not a program that you may run", file=str(path), hint=f"chmod +x {path}")
    return path.absolute(), f"file-{tree.file_digest(path).hex()[:KEY_LENGTH]}"


def _named_root(path: Path) -> tuple[Path, str]:
    if not path.is_dir():
        images = ", ".join(Recipe.find().images)
        hint = f"a root is the folder that is to be the lab's root, or the name of an image: {images}"
        raise InputError("no such folder", file=str(path), hint=hint)
    if not (path / INIT).is_file():
        hint = "`wirelab lab path` shows the one that is built"
        raise InputError(f"not the root of a lab: it has no {INIT}", file=str(path), hint=hint)
    return path.absolute(), f"folder-{tree.manifest(path)[:KEY_LENGTH]}"
