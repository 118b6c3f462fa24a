"""What a lab was made of, and its source: for whoever gets the lab as a file, as the licences have it."""

import contextlib
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from wirelab import __version__
from wirelab.errors import InputError, LabError, refusals
from wirelab.lab import apt, debian, kbuild, kernel, mirror, packages, tree
from wirelab.lab.entry import Entry
from wirelab.lab.recipe import BuildContext, Recipe
from wirelab.lab.scratch import discard
from wirelab.lab.select import built_kernel, built_root

LIST: Final = "SOURCES"

_GONE_HINT: Final = (
    "Debian's snapshot archive keeps every version, and a release of wirelab the one of its lab"
)


def described(context: BuildContext) -> str:
    """What the lab that a run here would use was made of, a text of lines."""
    kernel_entry, root_entry = built_kernel(context), built_root(context)
    facts = kernel_entry.facts
    origin = [str(facts[name]) for name in ("package", "version", "suite") if name in facts]
    lines = [
        f"The lab of wirelab {__version__}: {facts['title']} and {root_entry.facts['title']}.",
        "",
        "The kernel, GPL-2.0-only, is Debian's source package",
        f"  {' '.join(origin) or 'of which nothing is known'}",
        "with these files of wirelab's source; `wirelab lab source DIR` fetches both:",
        *_checksums(context.recipe, str(facts["series"])),
        "",
        f"The root image is Debian {root_entry.facts['suite']}, with rootfs/ of wirelab laid over it. Of",
        "each package /usr/share/doc/PACKAGE/copyright says the licence. They are of the source packages",
        *(f"  {name} {known}" for name, known in source_packages(_status(root_entry))),
    ]
    return "\n".join(lines) + "\n"


def fetch(context: BuildContext, folder: Path, *, with_packages: bool = False) -> None:
    """Lay the source of the lab that a run here would use out in the new folder ``folder``.

    The kernel's comes from Debian, the driver, the patches and the configuration are those of here. With
    ``with_packages`` also the source packages of the root image. What goes wrong leaves nothing of it.
    Raises InputError for a folder that is not empty, LabError if Debian has something no longer, or cannot
    be reached, or the folder cannot be filled.
    """
    kernel_entry, root_entry = built_kernel(context), built_root(context)
    packages.require("source")
    _require_free(folder)
    with _filled(folder) as fresh:
        (fresh / LIST).write_text(described(context), encoding="utf-8")
        shutil.copyfile(kernel_entry.path / kbuild.CONFIG, fresh / kbuild.CONFIG)
        for name in ("kernel", "rootfs"):
            shutil.copytree(context.recipe.home / name, fresh / name, symlinks=True)
        _fetch_kernel(context, kernel_entry, fresh)
        if with_packages:
            wanted = [f"{name}={version}" for name, version in source_packages(_status(root_entry))]
            suite = str(root_entry.facts["suite"])
            (fresh / "packages").mkdir()
            with apt.querying(context, mirror.find(context.environ), [suite], kind="deb-src") as query:
                context.reporter.step(f"fetching {len(wanted)} source packages of {suite}")
                query.download_sources(wanted, fresh / "packages", hint=_GONE_HINT)


def _require_free(folder: Path) -> None:
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        is_free = not os.path.lexists(folder) or not any(folder.iterdir())
    except OSError as error:
        raise InputError(f"cannot be a folder: {error.strerror}", file=str(folder)) from error
    if not is_free:
        raise InputError("is not empty", file=str(folder), hint="name a new folder")


@contextlib.contextmanager
def _filled(folder: Path) -> Iterator[Path]:
    """A folder beside ``folder``, all of which is in that if the context ends in peace, and none if not.

    It does not take the place of ``folder``: a shell may be in it.
    """
    place = folder.absolute()
    fresh = place.with_name(f".{place.name}.{secrets.token_hex(4)}")
    try:
        with refusals(folder, "cannot be filled: "):
            fresh.mkdir()
            yield fresh
            place.mkdir(exist_ok=True)
            for path in sorted(fresh.iterdir()):
                shutil.move(path, place)
    finally:
        discard(fresh)


def source_packages(status: str) -> list[tuple[str, str]]:
    """The source packages, with their versions, that the packages in dpkg's file STATUS were built from."""
    sources = set()
    for paragraph in status.split("\n\n"):
        fields: dict[str, str] = dict(
            re.findall(r"^(Package|Version|Source): (.+)$", paragraph, re.MULTILINE)
        )
        if {"Package", "Version"} <= fields.keys():
            name, _, version = fields.get("Source", fields["Package"]).partition(" ")
            sources.add((name, version.strip("()") or fields["Version"]))
    return sorted(sources)


def _status(root_entry: Entry) -> str:
    path = root_entry.product / debian.STATUS
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        hint = f"rm -r {root_entry.path}; wirelab lab build"
        raise LabError(f"{path}: {error.strerror}", hint=hint) from error


def _checksums(recipe: Recipe, series: str) -> Iterator[str]:
    """A line for each file of ours that the kernel was made of, as sha256sum(1) writes it."""
    for path in kernel.made_from(recipe, *recipe.choices(series)):
        yield f"  {tree.file_digest(path).hex()}  {path.relative_to(recipe.home)}"


def _fetch_kernel(context: BuildContext, kernel_entry: Entry, folder: Path) -> None:
    try:
        package, version, suite = (str(kernel_entry.facts[name]) for name in ("package", "version", "suite"))
    except KeyError as error:
        message = f"{kernel_entry.path} does not say of which source it was made"
        raise LabError(message, hint=f"rm -r {kernel_entry.path}; wirelab lab build --from-source") from error
    with apt.querying(context, mirror.find(context.environ), [suite]) as query:
        there = query.version(package)
        if there != version:
            message = f"{suite} has {package} {there} and no longer {version}"
            raise LabError(message, hint=_GONE_HINT)
        context.reporter.step(f"fetching {package} {version}")
        query.download(package, version, folder)
