"""Tars that were made to hurt: sound ones with fields that nobody writes, and forged members."""

from __future__ import annotations

import io
import tarfile
from typing import TYPE_CHECKING

from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Callable

# Where a header's fields are, see tar(5).
FIELDS = {
    "name": (0, 100),
    "mode": (100, 8),
    "uid": (108, 8),
    "size": (124, 12),
    "mtime": (136, 12),
    "type": (156, 1),
    "linkname": (157, 100),
    "magic": (257, 8),
    "devmajor": (329, 8),
    "prefix": (345, 155),
}
TYPES = [*(bytes([code]) for code in b"01234567LKSxgXDNVM\0"), b"A", b"\xff"]
# Octal, base 256 as GNU has it (negative, huge), and none at all.
NUMBERS = st.sampled_from(
    [
        b"\xff" * 12,
        b"\x80" + b"\xff" * 11,
        b"77777777777\0",
        b"-1\0",
        b"+7\0",
        b" 1_0 \0",
        b"\0" * 12,
        b"9" * 12,
    ]
)
NAMES = st.sampled_from(
    [b"", b"/", b"..", b"../x", b"/etc/x", b"a\0b", b"\xff\xfe", b"\x1b[2J", b"a//b", b"./a"]
)
TEXTS = st.text(st.characters(codec=None), max_size=12)  # also lone surrogates and NUL
PAX = st.dictionaries(
    st.sampled_from(["path", "size", "mtime", "uid", "mode", "linkpath", "GNU.sparse.major"])
    | st.sampled_from(["GNU.sparse.minor", "GNU.sparse.map", "GNU.sparse.realsize", "hdrcharset"])
    | TEXTS,
    st.sampled_from(["-1", "nan", "inf", "1e999", "9" * 30, "0,1,2", "a\0b", "..", "/x"]) | TEXTS,
    max_size=4,
)

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.just(10**400)
    | st.just("\ud800"),
    lambda values: st.lists(values, max_size=3) | st.dictionaries(st.text(max_size=6), values, max_size=3),
    max_leaves=6,
)


@st.composite
def headers(draw: Callable[..., object], whole: bytes) -> bytes:
    """A sound tar whose first header has other fields, and the checksum that goes with them."""
    header = bytearray(whole[:512])
    for field in draw(st.lists(st.sampled_from(sorted(FIELDS)), min_size=1, max_size=3)):  # type: ignore[attr-defined]
        start, length = FIELDS[field]
        value = draw(
            st.sampled_from(TYPES) if field == "type" else NUMBERS | NAMES | st.binary(max_size=length)
        )
        header[start : start + length] = value[:length].ljust(length, b"\0")  # type: ignore[index]
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    return bytes(header) + whole[512:]


@st.composite
def members(draw: Callable[..., object]) -> bytes:
    """A tar of members of any kind with PAX records, as far as tarfile writes them."""
    buffer = io.BytesIO()
    kind = draw(st.sampled_from([tarfile.PAX_FORMAT, tarfile.GNU_FORMAT]))
    with tarfile.open(fileobj=buffer, mode="w", format=kind, errors="surrogatepass") as tar:  # type: ignore[call-overload]
        for _ in range(draw(st.integers(1, 3))):  # type: ignore[call-overload]
            member = tarfile.TarInfo(draw(TEXTS | st.sampled_from(["result.json", "result.json/x", "main"])))  # type: ignore[arg-type]
            member.type = draw(st.sampled_from(TYPES))  # type: ignore[assignment]
            member.mtime = draw(st.integers(-(2**70), 2**70))  # type: ignore[assignment]
            member.mode = draw(st.integers(-(2**40), 2**40))  # type: ignore[assignment]
            member.linkname = draw(TEXTS)  # type: ignore[assignment]
            member.pax_headers = draw(PAX)  # type: ignore[assignment]
            try:
                tar.addfile(member)
            except (ValueError, OverflowError):
                continue
    return buffer.getvalue()
