"""Which files a thread may reach from now on, by landlock(7): its first version, and what later ones add."""

import ctypes
import errno
import os
import stat
import struct
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

# linux/landlock.h
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REMOVE_DIR, _REMOVE_FILE, _MAKE_DIR, _MAKE_REG = 1 << 4, 1 << 5, 1 << 7, 1 << 8
_MAKE_SOCK, _MAKE_FIFO, _MAKE_SYM = 1 << 9, 1 << 10, 1 << 12
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_OF_THE_FIRST: Final = (1 << 13) - 1
_ADDED_BY: Final = {2: _REFER, 3: _TRUNCATE, 5: _IOCTL_DEV}
_OF_FILES: Final = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV

READ: Final = _READ_FILE | _READ_DIR
RUN: Final = _READ_FILE | _EXECUTE
DEVICE: Final = _READ_FILE | _WRITE_FILE | _IOCTL_DEV
KEEP: Final = READ | _WRITE_FILE | _TRUNCATE | _REMOVE_DIR | _REMOVE_FILE | _MAKE_DIR | _MAKE_REG
"""To make and change files and folders; no link or FIFO, for whoever reads them is not shut in.

Nor is anything moved there from another folder: with one that is moved came what is in it.
"""
OWN: Final = KEEP | _REFER | _MAKE_SYM | _MAKE_FIFO | _MAKE_SOCK
"""Also links, FIFOs and sockets, and what is moved there; a device never."""

# Bind and connect by TCP; reach abstract sockets, and send signals, beyond those of the same ruleset.
_TCP: Final = 0b11
_SCOPES: Final = 0b11
_NETWORK_SINCE, _SCOPES_SINCE = 4, 6

_SYS_CREATE_RULESET, _SYS_ADD_RULE, _SYS_RESTRICT_SELF = 444, 445, 446
_CREATE_RULESET_VERSION: Final = 1
_RULE_PATH_BENEATH: Final = 1


def abi() -> int:
    """The version of Landlock that this host has. Raises OSError where it has none."""
    return _call(_SYS_CREATE_RULESET, None, 0, _CREATE_RULESET_VERSION)


def restrict(rights: Iterable[tuple[Path, int]]) -> None:
    """Let the calling thread, and all that it starts, reach the files of ``rights`` and no other, for good.

    A rule holds for what a path leads to, and all below it. What is not there is left out. The thread must
    not be able to gain privileges any more (PR_SET_NO_NEW_PRIVS). Raises OSError.
    """
    version = abi()
    ruleset = _ruleset(version, handled := handled_rights(version))
    try:
        for path, right in _joined(rights).items():
            _add(ruleset, path, right & handled)
        _call(_SYS_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def handled_rights(version: int) -> int:
    """All that a version of Landlock may forbid."""
    return _OF_THE_FIRST | sum(right for since, right in _ADDED_BY.items() if version >= since)


def _joined(rights: Iterable[tuple[Path, int]]) -> Mapping[Path, int]:
    joined: dict[Path, int] = {}
    for path, right in rights:
        joined[path] = joined.get(path, 0) | right
    return joined


def _ruleset(version: int, handled: int) -> int:
    words = [handled]
    if version >= _NETWORK_SINCE:
        words.append(_TCP)
    if version >= _SCOPES_SINCE:
        words.append(_SCOPES)
    attributes = struct.pack(f"{len(words)}Q", *words)
    return _call(_SYS_CREATE_RULESET, attributes, len(attributes), 0)


def _add(ruleset: int, path: Path, right: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(place).st_mode):
            right &= _OF_FILES
        _call(_SYS_ADD_RULE, ruleset, _RULE_PATH_BENEATH, struct.pack("<Qi", right, place), 0)
    finally:
        os.close(place)


def _call(number: int, *arguments: int | bytes | None) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    words = [ctypes.c_long(word) if isinstance(word, int) else word for word in arguments]
    answer = int(libc.syscall(ctypes.c_long(number), *words))
    if answer < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code) if code else errno.errorcode[errno.EINVAL])
    return answer
