"""A file from an address, taken only if it has the checksum that was known before."""

import contextlib
import hashlib
import tempfile
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final
from urllib.parse import unquote_to_bytes, urlsplit

from wirelab import __version__
from wirelab.errors import InputError, LabError
from wirelab.lab.recipe import BuildContext

SCHEMES: Final = ("http", "https")
LIMIT_BYTES: Final = 1 << 31

_CHUNK_BYTES: Final = 1 << 20
_SILENCE_S: Final = 60.0
_OFFLINE_HINT: Final = (
    "check the network, and https_proxy where there is one; or fetch it elsewhere and name the file"
)


def shown(url: str) -> str:
    """An address without what may be somebody's password."""
    return urlsplit(url)._replace(netloc=urlsplit(url).netloc.rpartition("@")[2]).geturl()


@contextlib.contextmanager
def fetched(context: BuildContext, url: str, sha256: str) -> Iterator[Path]:
    """What is at ``url``, in a file of the cache for as long as the context lasts.

    Raises LabError if it cannot be had or comes cut short, InputError if it has another checksum.
    """
    with (
        context.cache.building(),
        context.cache.os_errors(),
        tempfile.NamedTemporaryFile(dir=context.cache.folder("downloads"), prefix="fetched-") as file,
    ):
        digest = _fetch(context, url, file)
        if digest != sha256:
            message = f"{shown(url)}: has the checksum {digest} and not {sha256}"
            hint = (
                "it was damaged or replaced: nothing of it was used; compare the checksum with the release's"
            )
            raise InputError(message, hint=hint)
        file.flush()
        yield Path(file.name)


def _fetch(context: BuildContext, url: str, file: IO[bytes]) -> str:
    """Copy what is at ``url`` into ``file``. Returns its SHA-256."""
    # They bring TLS along, a tenth of what it takes to start wirelab, and next to nobody fetches anything.
    from http.client import HTTPException  # noqa: PLC0415
    from urllib.request import Request, urlopen  # noqa: PLC0415

    digest, size_bytes = hashlib.sha256(), 0
    # The scheme was looked at where the address was read. urllib takes a password for a part of the host.
    request = Request(shown(url), headers={"User-Agent": f"wirelab/{__version__}"})  # noqa: S310
    if known := _authorization(url):
        # Where the address leads to another, that one is not told.
        request.add_unredirected_header("Authorization", known)
    try:
        with urlopen(request, timeout=_SILENCE_S) as answer:  # noqa: S310
            whole_bytes = int(answer.headers.get("Content-Length") or 0)
            context.reporter.step(f"fetching {shown(url)}", (whole_bytes >> 20) or None)
            while chunk := answer.read(_CHUNK_BYTES):
                size_bytes += len(chunk)
                if size_bytes > LIMIT_BYTES:
                    raise LabError(f"{shown(url)}: does not end", hint="name the address of a lab archive")
                digest.update(chunk)
                # A disk that is full is no fault of the network's.
                with context.cache.os_errors():
                    file.write(chunk)
                context.reporter.advance(size_bytes >> 20)
    except (OSError, ValueError, HTTPException) as error:
        reason = getattr(error, "reason", None) or error
        raise LabError(f"{shown(url)}: cannot be fetched: {reason}", hint=_OFFLINE_HINT) from error
    if size_bytes < whole_bytes:
        message = f"{shown(url)}: came cut short, {size_bytes} of {whole_bytes} bytes"
        raise LabError(message, hint="fetch it again")
    return digest.hexdigest()


def _authorization(url: str) -> str:
    """What tells a server who asks, by the user and password in an address; empty without one."""
    known, mark, _ = urlsplit(url).netloc.rpartition("@")
    user, _, password = known.partition(":")
    pair = b":".join((unquote_to_bytes(user), unquote_to_bytes(password)))
    return f"Basic {b64encode(pair).decode()}" if mark else ""
