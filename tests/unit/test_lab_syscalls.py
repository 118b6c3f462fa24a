"""Which system calls the filter of a lab lets pass, and with which arguments."""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path

import pytest

from wirelab.lab import seccomp
from wirelab.lab.syscalls import ALLOWED, QUIET, TESTED

NUMBERS = Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h")
X86_64, I386 = 0xC000003E, 0x40000003
ALLOW = 0x7FFF0000
EPERM, ENOSYS = 0x50000 | errno.EPERM, 0x50000 | errno.ENOSYS


def fate(number: int, *arguments: int, architecture: int = X86_64) -> int:
    """What the filter says to a system call: an interpreter of its language, as far as it speaks it."""
    words = {0: number, 4: architecture}
    words |= {16 + 8 * index: argument & 0xFFFFFFFF for index, argument in enumerate(arguments)}
    steps, place, held = seccomp.program(), 0, 0
    while True:
        code, yes, no, constant = steps[place]
        place += 1
        if code == 0x06:
            return constant
        if code == 0x20:
            held = words.get(constant, 0)
        elif code == 0x54:
            held &= constant
        elif code == 0x05:
            place += constant
        else:
            is_so = {0x15: held == constant, 0x35: held >= constant, 0x45: held & constant != 0}[code]
            place += yes if is_so else no


def test_every_call_that_is_not_named_is_refused() -> None:
    """And no other: those of today, of x32, of 32-bit programs and of kernels to come."""
    named = {*ALLOWED.values(), *QUIET.values(), *(number for number, _ in TESTED.values())}
    assert {number: fate(number) for number in ALLOWED.values()} == dict.fromkeys(ALLOWED.values(), ALLOW)
    for number in {*range(600), 0x40000000, 0x40000027, 0x7FFFFFFF, 0xFFFFFFFF} - named:
        assert fate(number) == (EPERM if number < 424 else ENOSYS), number
    assert fate(39, architecture=I386) == ENOSYS


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("open", (0, os.O_RDONLY, 0o4000), ALLOW),
        ("open", (0, os.O_CREAT, 0o644), ALLOW),
        ("open", (0, os.O_CREAT, 0o4755), EPERM),
        ("openat", (0, 0, os.O_CREAT, 0o2755), EPERM),
        ("openat", (0, 0, os.O_TMPFILE, 0o4755), EPERM),
        ("openat", (0, 0, os.O_TMPFILE, 0o700), ALLOW),
        ("openat", (0, 0, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644), ALLOW),
        ("openat", (0, 0, os.O_RDWR | os.O_TRUNC), ALLOW),
        ("openat", (0, 0, os.O_RDONLY | os.O_TRUNC), EPERM),
        ("openat", (0, 0, os.O_ACCMODE), EPERM),
        ("open", (0, os.O_ACCMODE | os.O_TRUNC), EPERM),
        ("open", (0, os.O_RDONLY | os.O_TRUNC), EPERM),
        ("mkdir", (0, 0o2755), EPERM),
        ("mkdir", (0, 0o755), ALLOW),
        ("mknod", (0, 0o010644), ALLOW),
        ("mknod", (0, 0o020644), EPERM),
        ("mknodat", (0, 0, 0o060644), EPERM),
        ("mknodat", (0, 0, 0o140755), ALLOW),
        ("ioctl", (0, 0x5401), ALLOW),
        ("ioctl", (0, 0x40086602), EPERM),
        ("ioctl", (0, 0x5412), EPERM),
        ("fcntl", (0, 4), ALLOW),
        ("fcntl", (0, 6), EPERM),
        ("fcntl", (0, 8), ALLOW),
        ("fcntl", (0, 1024), EPERM),
        ("clone", (0x4111,), ALLOW),
        ("clone", (0x10000011,), EPERM),
        ("clone", (0x8011,), EPERM),
        ("renameat2", (0, 0, 0, 0, 2), ALLOW),
        ("renameat2", (0, 0, 0, 0, 4), EPERM),
        ("madvise", (0, 0, 9), ALLOW),
        ("madvise", (0, 0, 100), EPERM),
        ("madvise", (0, 0, 101), EPERM),
        ("kill", (1234,), ALLOW),
        ("kill", (-1,), EPERM),
        ("prlimit64", (0,), ALLOW),
        ("prlimit64", (1,), EPERM),
        ("prlimit64", (0, 1), EPERM),
        ("setrlimit", (3,), ALLOW),
        ("setrlimit", (1,), EPERM),
        ("socketpair", (1, 0o2000001), ALLOW),
        ("socketpair", (1, 2), EPERM),
        ("socketpair", (2, 1), EPERM),
        ("prctl", (1,), ALLOW),
        ("prctl", (4,), EPERM),
        ("ptrace", (0,), ALLOW),
        ("ptrace", (16,), EPERM),
        ("ptrace", (0x4206,), EPERM),
        ("ptrace", (4,), EPERM),
        ("personality", (0x0040000,), ALLOW),
        ("personality", (0,), EPERM),
    ],
)
def test_what_a_call_asks_for_is_looked_at(name: str, arguments: tuple[int, ...], expected: int) -> None:
    """No program that is another user's, no device, no namespace, no datagram, no process but its own.

    Nor is a file opened for nothing, which Landlock lets pass; and whoever may not write empties none.
    """
    assert fate(TESTED[name][0], *arguments) == expected


def test_a_change_of_mode_owner_or_time_is_not_carried_out() -> None:
    """And nobody is told, or cp -p and Python's shutil.copy() would fail in a writable folder."""
    assert {fate(number) for number in QUIET.values()} == {0x50000}


@pytest.mark.skipif(not NUMBERS.is_file(), reason="no headers of the kernel are installed")
def test_numbers_are_those_of_the_host() -> None:
    """A call is allowed by its name, and the filter knows numbers."""
    known = dict(re.findall(r"#define __NR_(\w+) (\d+)", NUMBERS.read_text()))
    ours = {**ALLOWED, **QUIET, **{name: number for name, (number, _) in TESTED.items()}}
    # Added in Linux 6.6.
    assert {name for name in ours if name not in known} <= {"fchmodat2"}
    assert {name: int(known[name]) for name in ours if name in known} == {
        name: number for name, number in ours.items() if name in known
    }
