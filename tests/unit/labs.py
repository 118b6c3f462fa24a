"""Little labs in caches of their own, as builds and imports leave them."""

from __future__ import annotations

import io
import tarfile
from typing import TYPE_CHECKING, Any

from wirelab.lab import debian, export, kernel, rootfs
from wirelab.lab.archive import Archive
from wirelab.lab.cache import Cache
from wirelab.lab.recipe import BuildContext, Recipe
from wirelab.lab.reporter import Reporter

if TYPE_CHECKING:
    from pathlib import Path

SHIPPED = Recipe.find()


def build_context(root: Path, recipe: Recipe = SHIPPED) -> BuildContext:
    """A cache in a folder, for the shipped recipe unless another is named."""
    return BuildContext(recipe, Cache(root), {}, Reporter())


def pack_debian(folder: Path, recipe: Recipe, *names: str) -> None:
    """A Debian of empty files, and of those that are mended, as a build leaves it."""
    texts = dict.fromkeys(names, "") | {mend.file: mend.old for mend in recipe.mends}
    with tarfile.open(folder / debian.ARCHIVE, "w:gz") as archive:
        for name, text in texts.items():
            member = tarfile.TarInfo(f"./{name}")
            member.mode, member.uid, member.mtime, member.size = 0o4755, 0, 900_000_000, len(text)
            archive.addfile(member, io.BytesIO(text.encode()))


def build(context: BuildContext, binary: bytes = b"#!/bin/sh\n") -> BuildContext:
    """A little kernel and a little Debian, as a build leaves them in the cache."""

    def make_kernel(folder: Path) -> dict[str, Any]:
        (folder / "linux").write_bytes(binary)
        (folder / "linux").chmod(0o755)
        (folder / "config").write_text("CONFIG_UML=y\n")
        (folder / "build.log").write_text("made by me on my machine")
        return {"title": "Linux 7.2.12", "series": "7.2", "objects": 1, "build_s": 482}

    def make_debian(folder: Path) -> dict[str, Any]:
        pack_debian(folder, context.recipe, "etc/debian_version", "dev/null", "usr/bin/su")
        return {"title": "Debian", "suite": "trixie", "packages": {"bash": "5"}, "newest_s": 1_000_000_000}

    kernel.take(context, context.cache.build("kernel", "k" * 20, make_kernel, Reporter()))
    base = context.cache.build("debian", "d" * 20, make_debian, Reporter())
    debian.take(context, base)
    rootfs.build_on(context, base)
    return context


def exported(context: BuildContext) -> bytes:
    """The lab of a cache as a file."""
    out = io.BytesIO()
    export.pack(context, out)
    return out.getvalue()


def imported(context: BuildContext, content: bytes) -> bool:
    """Whether anything was to be done."""
    return export.unpack(context, Archive(io.BytesIO(content), "lab.tar"))


def ids(context: BuildContext) -> list[str | None]:
    """What a run would use."""
    entries = (kernel.find(context), debian.find(context), rootfs.find(context))
    return [entry.id if entry else None for entry in entries]
