"""Which lab a run uses: the one built from this recipe, or the kernel and root folder the user names."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from wirelab.errors import InputError, LabError
from wirelab.lab import kernel as lab_kernel
from wirelab.lab import rootfs, tree
from wirelab.lab.context import BuildContext
from wirelab.lab.recipe import KEY_LENGTH

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from wirelab.lab.entry import Entry

INIT = Path("usr/sbin/wirelab-init")
BUILD_HINT = "wirelab lab build"


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


def select(
    kernel: Path | None = None,
    root: Path | None = None,
    series: str | None = None,
    *,
    environ: Mapping[str, str] = os.environ,
) -> Lab:
    """The lab to use: ``kernel`` and ``root`` where they are named, else what is built from this recipe.

    ``series`` chooses among the kernels that are built; None is the newest that apt could deliver. Builds
    nothing and asks nobody. Raises InputError if what is named is no lab, LabError if none is built.
    """
    entries = []
    if kernel is None:
        entry = built_kernel(BuildContext.of(environ), series)
        entries.append(entry)
        kernel, kernel_id = lab_kernel.path(entry), entry.id
    else:
        kernel = _named_kernel(kernel)
        kernel_id = f"file-{tree.file_digest(kernel).hex()[:KEY_LENGTH]}"
    if root is None:
        entry = built_root(BuildContext.of(environ))
        entries.append(entry)
        root, root_id = rootfs.path(entry), entry.id
    else:
        root = _named_root(root)
        root_id = f"folder-{tree.manifest(root)[:KEY_LENGTH]}"
    return Lab(kernel, root, kernel_id, root_id, tuple(entries))


def built_kernel(context: BuildContext, series: str | None = None) -> Entry:
    """The kernel that is built. Raises LabError, with the command that builds it, if none is."""
    entry = lab_kernel.find(context, series)
    if entry is None:
        command = BUILD_HINT if series is None else f"{BUILD_HINT} --series {series}"
        raise LabError(f"{context.cache.root} has no lab kernel built from these sources", hint=command)
    require_usable(entry, lab_kernel.path(entry))
    return entry


def built_root(context: BuildContext) -> Entry:
    """The root image that is built. Raises LabError, with the command that builds it, if none is."""
    entry = rootfs.find(context)
    if entry is None:
        raise LabError(f"{context.cache.root} has no root image built from these sources", hint=BUILD_HINT)
    require_usable(entry, rootfs.path(entry))
    return entry


def require_usable(entry: Entry, path: Path) -> None:
    """Raise LabError if ``entry`` was changed, or what it is about, at ``path`` in it, cannot be used."""
    entry.check()
    if not os.access(path, os.R_OK | os.X_OK):
        message = f"{path} cannot be used: it was removed, or it is somebody else's"
        raise LabError(message, hint=f"rm -r {entry.path}; {BUILD_HINT}")


def _named_kernel(path: Path) -> Path:
    if not path.is_file():
        raise InputError(
            "no such file", file=str(path), hint="--kernel takes the `linux` that a lab kernel's build makes"
        )
    if not os.access(path, os.R_OK | os.X_OK):
        raise InputError("not a program that you may run", file=str(path), hint=f"chmod +x {path}")
    return path.absolute()


def _named_root(path: Path) -> Path:
    if not path.is_dir():
        raise InputError(
            "no such folder", file=str(path), hint="--root takes the folder that is to be the lab's root"
        )
    if not (path / INIT).is_file():
        hint = "`wirelab lab path` shows the one that is built"
        raise InputError(f"not the root of a lab: it has no {INIT}", file=str(path), hint=hint)
    return path.absolute()
