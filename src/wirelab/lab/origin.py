"""Where a lab comes from that is not built here: a file or an address, the installed wheel, the release."""

import contextlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from wirelab import __version__
from wirelab.errors import InputError, WirelabError
from wirelab.lab import export, kernel, rootfs, tree, wheel
from wirelab.lab.entry import intact
from wirelab.lab.fetch import SCHEMES, fetched, shown
from wirelab.lab.recipe import BuildContext, lines

VARIABLE: Final = "WIRELAB_LAB"

_MARK: Final = "#sha256="
_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_SYNTAX: Final = f"{VARIABLE}=FILE, or {VARIABLE}=https://...{_MARK}<64 hexadecimal digits>"


@dataclass(frozen=True)
class Origin:
    """A lab archive: its title for messages, a file or an address, and the checksum if one is known."""

    title: str
    place: str
    sha256: str | None = None
    hint: str | None = None
    """What helps if it cannot be used, where that is not about the file alone."""

    @property
    def is_address(self) -> bool:
        """Whether it has to be fetched."""
        scheme, mark, _ = self.place.partition("://")
        return bool(mark) and scheme.lower() in SCHEMES

    def take(self, context: BuildContext) -> None:
        """Make it the lab that a run here uses.

        Raises InputError if it is no sound lab archive of this recipe with that checksum, LabError if it
        cannot be fetched or the cache cannot take it.
        """
        context.reporter.say(f"taking the lab from {self.title} into {context.cache.root}")
        try:
            title = shown(self.place) if self.is_address else None
            with self._file(context) as path, export.opened(path, context, title=title) as archive:
                export.unpack(context, archive)
        except InputError as error:
            raise InputError(error.message, hint=self.hint or error.hint) from error

    @contextlib.contextmanager
    def _file(self, context: BuildContext) -> Iterator[Path]:
        if self.is_address and self.sha256:
            with fetched(context, self.place, self.sha256) as path:
                yield path
            return
        path = Path(self.place)
        if self.sha256:
            try:
                digest = tree.file_digest(path).hex()
            except OSError as error:
                raise InputError(f"cannot be read: {error.strerror}", file=self.place) from error
            if digest != self.sha256:
                hint = "copy it again, and compare the checksum with that of where it comes from"
                message = f"has the checksum {digest} and not {self.sha256}"
                raise InputError(message, file=self.place, hint=hint)
        yield path


def named(environ: Mapping[str, str]) -> Origin | None:
    """What WIRELAB_LAB names, None if it names nothing. Raises InputError for none of its two forms."""
    text = environ.get(VARIABLE, "").strip()
    if not text:
        return None
    place, mark, sha256 = text.partition(_MARK)
    if mark and not _SHA256.fullmatch(sha256):
        raise InputError(f"{VARIABLE}: `{sha256}` is no SHA-256", hint=_SYNTAX)
    try:
        origin = Origin(shown(place) if "://" in place else place, place, sha256 or None)
    except ValueError:
        # Which may quote all of it, and there may be a password in it.
        raise InputError(f"{VARIABLE}: an address that cannot be read", hint=_SYNTAX) from None
    if "://" in place and not origin.is_address:
        raise InputError(f"{VARIABLE}: {shown(place)}: no address with http or https", hint=_SYNTAX)
    if origin.is_address and not sha256:
        raise InputError(f"{VARIABLE}: {shown(place)}: an address without a checksum", hint=_SYNTAX)
    return origin


def installed() -> Origin | None:
    """The wheel `wirelab-lab` of this environment, None if it is not installed."""
    lab_wheel = wheel.installed()
    if lab_wheel is None:
        return None
    hint = (
        f"install the one that fits, {wheel.NAME}=={__version__} (pipx: pipx install --force "
        f"'wirelab[lab]=={__version__}'); or build the lab here: wirelab lab build --from-source"
    )
    return Origin(f"{wheel.NAME} {lab_wheel.version}", str(lab_wheel.file), hint=hint)


def released(context: BuildContext, table: Path | None = None) -> Origin | None:
    """The lab of this recipe that a release has published, as ``table`` says; None if none has."""
    name = export.recipe_name(context)
    for line in lines(table or Path(__file__).with_name("released.txt")):
        recipe, place, sha256 = line.split()
        if recipe == name:
            return Origin(shown(place), place, sha256)
    return None


def is_lacking(context: BuildContext) -> bool:
    """Whether there is no kernel here, or no root image, that a run would use."""
    return intact(kernel.find, context) is None or intact(rootfs.find, context) is None


def take_at_hand(context: BuildContext) -> bool:
    """Take the lab that WIRELAB_LAB names, else that of the installed wheel; False if there is neither.

    Asks no network but for an address that the user has named. Raises what `Origin.take` does.
    """
    origin = named(context.environ) or installed()
    if origin is not None:
        origin.take(context)
    return origin is not None


def take_unless_unfit(context: BuildContext, table: Path | None = None) -> None:
    """Take a lab from wherever there is one, so that none has to be built; one of no use is only told of.

    ``table`` is that of `released`. Raises what `Origin.take` does, but only for what WIRELAB_LAB names.
    """
    if origin := named(context.environ):
        origin.take(context)
        return
    for choice in (installed(), released(context, table)):
        if choice is None:
            continue
        try:
            choice.take(context)
        except WirelabError as error:
            context.reporter.say(f"{error.message}; the lab is built instead")
        else:
            return
