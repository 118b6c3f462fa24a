"""Little labs in caches of their own, as builds and imports leave them."""

from __future__ import annotations

import io
import tarfile
from typing import TYPE_CHECKING, Any

from wirelab.lab import debian, kernel, rootfs, shipment
from wirelab.lab.cache import Cache
from wirelab.lab.labfile import LabFile
from wirelab.lab.recipe import Recipe
from wirelab.lab.workshop import Nobody, Workshop

if TYPE_CHECKING:
    from pathlib import Path

SHIPPED = Recipe.find()


def workshop(root: Path, recipe: Recipe = SHIPPED) -> Workshop:
    """A cache in a folder, for the shipped recipe unless another is named."""
    return Workshop(recipe, Cache(root), {}, Nobody())


def build(shop: Workshop, binary: bytes = b"#!/bin/sh\n") -> Workshop:
    """A little kernel and a little Debian, as a build leaves them in the cache."""

    def make_kernel(folder: Path) -> dict[str, Any]:
        (folder / "linux").write_bytes(binary)
        (folder / "linux").chmod(0o755)
        (folder / "config").write_text("CONFIG_UML=y\n")
        (folder / "build.log").write_text("made by me on my machine")
        return {"title": "Linux 7.2.12", "series": "7.2", "objects": 1}

    def make_debian(folder: Path) -> dict[str, Any]:
        with tarfile.open(folder / debian.ARCHIVE, "w:gz") as archive:
            for name in ("./etc/debian_version", "./dev/null", "./usr/bin/su"):
                member = tarfile.TarInfo(name)
                member.mode, member.uid, member.mtime = 0o4755, 0, 900_000_000
                archive.addfile(member)
        return {"title": "Debian", "suite": "trixie", "packages": {"bash": "5"}, "newest_s": 1_000_000_000}

    kernel.take(shop, shop.cache.build("kernel", "k" * 20, make_kernel, Nobody()))
    base = shop.cache.build("debian", "d" * 20, make_debian, Nobody())
    debian.take(shop, base)
    rootfs.build_on(shop, base)
    return shop


def exported(shop: Workshop) -> bytes:
    """The lab of a cache as a file."""
    out = io.BytesIO()
    shipment.pack(shop, out)
    return out.getvalue()


def imported(shop: Workshop, content: bytes) -> bool:
    """Whether anything was to be done."""
    return shipment.unpack(shop, LabFile(io.BytesIO(content), "lab.tar"))


def ids(shop: Workshop) -> list[str | None]:
    """What a run would use."""
    found = (kernel.find(shop), debian.find(shop), rootfs.find(shop))
    return [entry.id if entry else None for entry in found]
