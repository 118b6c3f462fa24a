"""A lab from the cache of one machine into that of another, in a file: no compiler, no apt, no network.

The kernel travels, and the Debian that the root image is made of. The image itself is made anew, by the same
steps, and must come out the same.
"""

import contextlib
import errno
import gzip
import io
import os
import shutil
import sys
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, Final

from wirelab import __version__
from wirelab.errors import InputError, LabError
from wirelab.lab import archive, debian, kbuild, kernel, rootfs, ustar
from wirelab.lab.archive import About, Archive, BuildAbout, FactsT, RootAbout
from wirelab.lab.entry import IMPORTED, DebianFacts, Entry, KeptFacts, KernelFacts, intact
from wirelab.lab.recipe import BuildContext, hash_of
from wirelab.lab.scratch import replacement
from wirelab.lab.select import built_kernel, built_root, require_usable

STANDARD_STREAM: Final = "-"

_KERNEL_LIMIT_BYTES: Final = 1 << 28
_FILE_LIMIT_BYTES: Final = 1 << 31
_WRITE_HINTS: Final = {
    errno.ENOSPC: "the disk is full: make room, or name a file on another",
    errno.EDQUOT: "your quota is used up: make room, or name a file on another disk",
    errno.EACCES: "name a file in a folder of yours",
    errno.EPERM: "name a file in a folder of yours",
    errno.EROFS: "name a file on a disk that can be written",
}


def recipe_name(context: BuildContext, series: str | None = None) -> str:
    """A name for the recipe of a lab archive: one of another name is of no use here. Asks nobody."""
    recipe = {
        "format": archive.FORMAT,
        "kernel": kernel.question(context, series),
        "debian": debian.question(context),
        "rootfs": rootfs.key_on(context, ""),
    }
    return f"wirelab-lab-{series or 'newest'}-{hash_of(recipe)}"


def pack(context: BuildContext, out: BinaryIO) -> tuple[Entry, Entry]:
    """Write the lab that a run here would use to ``out``. Returns its kernel and its root image.

    Raises LabError if none is built, or if its cache has not all of it as it was built.
    """
    kernel_entry, root_entry, base = built_kernel(context), built_root(context), debian.find(context)
    if base is None:
        message = f"{context.cache.root} has lost the Debian of {root_entry.id}"
        raise LabError(message, hint="wirelab lab build")
    with contextlib.ExitStack() as stack:
        for entry in (kernel_entry, base):
            stack.enter_context(entry.in_use())
        members = ((kernel_entry, kbuild.BINARY), (kernel_entry, kbuild.CONFIG), (base, debian.ARCHIVE))
        binary, config, packed_debian = (stack.enter_context(_member(*member)) for member in members)
        context.reporter.step("comparing it with what was built")
        for entry in (kernel_entry, base, root_entry):
            entry.verify()
        context.reporter.step("packing the kernel")
        about = About(
            kernel=_about(kernel_entry, kernel.question(context), KernelFacts),
            debian=_about(base, debian.question(context), DebianFacts),
            rootfs=RootAbout(key=root_entry.key, manifest=root_entry.facts["manifest"]),
        )
        contents: dict[str, archive.Content] = {
            archive.CONFIG: config,
            archive.KERNEL: _gzipped(binary),
            archive.DEBIAN: packed_debian,
        }
        context.reporter.step("writing it with its Debian")
        archive.write(out, about, contents)
    return kernel_entry, root_entry


def unpack(context: BuildContext, file: Archive) -> bool:
    """Make the lab of ``file`` the one that a run here uses. Returns False if it is that already.

    What interrupts it leaves the lab that was used before, if there was one. Raises InputError if the file
    is of another recipe, LabError if the cache cannot take it or the root image comes out as another.
    """
    about = file.about
    _require_recipe(context, file)
    current = [intact(find, context) for find in (kernel.find, debian.find, rootfs.find)]
    keys = [entry.key for entry in current if entry]
    is_current = keys == [about.kernel.key, about.debian.key, about.rootfs.key]

    def make_kernel(folder: Path) -> dict[str, Any]:
        context.reporter.step("unpacking the kernel")
        _gunzip(file, folder / kbuild.BINARY)
        (folder / kbuild.BINARY).chmod(0o755)
        _copy(file, archive.CONFIG, folder / kbuild.CONFIG)
        return {**about.kernel.facts.model_dump(), **IMPORTED}

    def make_debian(folder: Path) -> dict[str, Any]:
        _copy(file, archive.DEBIAN, folder / debian.ARCHIVE)
        return {**about.debian.facts.model_dump(), **IMPORTED}

    cache = context.cache
    with cache.os_errors(), contextlib.ExitStack() as stack:
        kernel_entry = cache.build(kernel.KIND, about.kernel.key, make_kernel, context.reporter)
        stack.enter_context(kernel_entry.in_use())
        base = cache.build(debian.KIND, about.debian.key, make_debian, context.reporter)
        stack.enter_context(base.in_use())
        root_entry = rootfs.build_on(context, base, about.rootfs.manifest)
        stack.enter_context(root_entry.in_use())
        require_usable(kernel_entry)
        require_usable(root_entry)
        if not is_current:
            kernel.take(context, kernel_entry)
            debian.take(context, base)
    return not is_current


@contextlib.contextmanager
def written(path: Path) -> Iterator[BinaryIO]:
    """A file that gets its name when the context ends in peace, and of which otherwise nothing is left.

    Raises InputError for what is there and no file, LabError naming the path if it cannot be written.
    """
    try:
        target = path.resolve()
        if target.exists() and not target.is_file():
            raise InputError("is there and is no file", file=str(path), hint="- is the standard output")
        target.parent.mkdir(parents=True, exist_ok=True)
        with replacement(target) as fresh, fresh.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        hint = _WRITE_HINTS.get(error.errno or 0)
        raise LabError(f"{path}: cannot be written: {error.strerror or error}", hint=hint) from error


@contextlib.contextmanager
def opened(path: Path, context: BuildContext, *, title: str | None = None) -> Iterator[Archive]:
    """The lab archive at ``path``, or on the standard input for ``-``. ``title`` is for messages.

    What cannot be sought in, as a pipe, is kept in the cache for as long as the context lasts. Raises
    InputError if it cannot be read or is no whole lab archive.
    """
    with contextlib.ExitStack() as stack:
        if str(path) == STANDARD_STREAM:
            name, file = "standard input", sys.stdin.buffer
        else:
            name = title or str(path)
            try:
                file = stack.enter_context(path.open("rb"))
            except OSError as error:
                raise InputError(f"cannot be read: {error.strerror}", file=name) from error
        if not file.seekable():
            with context.cache.os_errors():
                kept = stack.enter_context(tempfile.TemporaryFile(dir=context.cache.folder()))
                if not _copy_bounded(file, kept, _FILE_LIMIT_BYTES):
                    raise InputError("not a lab archive: it does not end", file=name)
            kept.seek(0)
            file = kept
        yield Archive(file, name)


def _copy_bounded(source: BinaryIO | gzip.GzipFile, target: BinaryIO, limit_bytes: int) -> bool:
    """Copy all of ``source`` unless it has more than ``limit_bytes``: False then."""
    while chunk := source.read(ustar.CHUNK_BYTES):
        limit_bytes -= len(chunk)
        if limit_bytes < 0:
            return False
        target.write(chunk)
    return True


def _require_recipe(context: BuildContext, file: Archive) -> None:
    about = file.about
    other = []
    if about.kernel.recipe != kernel.question(context):
        other.append("kernel/")
    packages_differ = about.debian.recipe != debian.question(context)
    if packages_differ or about.rootfs.key != rootfs.key_on(context, about.debian.key):
        other.append("rootfs/")
    if other:
        message = (
            f"a lab of wirelab {about.wirelab}, whose {' and '.join(other)} differs from that of this "
            f"wirelab {__version__}"
        )
        hint = "export it again with the wirelab that imports it, or install here the one that made it"
        raise InputError(message, file=file.name, hint=hint)


def _about(entry: Entry, recipe: str, facts: type[FactsT]) -> BuildAbout[FactsT]:
    """What a build says of itself, but for what is about its place in this cache, and about this machine."""
    left_out = {*KeptFacts.model_fields, kbuild.DURATION}
    own = {name: fact for name, fact in entry.facts.items() if name not in left_out}
    return BuildAbout(key=entry.key, recipe=recipe, facts=facts.model_validate(own))


def _member(entry: Entry, name: str) -> io.BufferedReader:
    path = entry.path / name
    try:
        return path.open("rb")
    except OSError as error:
        message = f"{path}: {error.strerror}: there is not all of the lab in this cache"
        hint = f"export it where it was built; or build it here: rm -r {entry.path}; wirelab lab build"
        raise LabError(message, hint=hint) from error


def _gzipped(content: BinaryIO) -> io.BytesIO:
    packed = io.BytesIO()
    # Of its 12 MB remain 5. xz would save one more, and take ten times as long.
    with gzip.GzipFile(filename="", mode="wb", fileobj=packed, mtime=0, compresslevel=6) as gz:
        shutil.copyfileobj(content, gz, ustar.CHUNK_BYTES)
    return packed


def _gunzip(file: Archive, target: Path) -> None:
    packed = io.BytesIO(b"".join(file.chunks(archive.KERNEL)))
    try:
        with gzip.GzipFile(fileobj=packed) as binary, target.open("xb") as out:
            whole = _copy_bounded(binary, out, _KERNEL_LIMIT_BYTES)
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise InputError(f"its kernel cannot be unpacked: {error}", file=file.name) from error
    if not whole:
        raise InputError("its kernel is too large", file=file.name)


def _copy(file: Archive, name: str, target: Path) -> None:
    with target.open("xb") as out:
        out.writelines(file.chunks(name))
    target.chmod(0o644)
