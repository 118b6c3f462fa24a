"""A filter of system calls, as seccomp(2) takes it: what is not allowed is refused, and nobody is killed.

User-Mode Linux has filters of its own, whose SECCOMP_RET_TRAP comes before a refusal, and catches the system
calls of its processes by ptrace(2) before any filter sees them: this one meets the lab's kernel alone.
"""

import ctypes
import errno
import os
import struct
from functools import cache
from typing import Final

from wirelab.lab.syscalls import (
    ALL_BITS,
    ALLOWED,
    QUIET,
    SECCOMP_SET_MODE_FILTER,
    TESTED,
    IsNot,
    OneOf,
    Test,
    Without,
)

# Else hosts before Linux 5.16 slow down all that a lab computes, to keep from it what is in its own memory.
_SECCOMP_FILTER_FLAG_SPEC_ALLOW: Final = 4
_AUDIT_ARCH_X86_64: Final = 0xC000003E
# struct seccomp_data: nr, arch, instruction_pointer, args[6].
_NR, _ARCH, _ARGS = 0, 4, 16
# linux/bpf_common.h
_LOAD, _RETURN, _JUMP, _IF_EQUAL, _IF_AT_LEAST, _IF_ANY = 0x20, 0x06, 0x05, 0x15, 0x35, 0x45
_AND: Final = 0x54
_ALLOW: Final = 0x7FFF0000
_ERRNO: Final = 0x00050000
_DONE = _ERRNO
_REFUSED: Final = _ERRNO | errno.EPERM
_ABSENT: Final = _ERRNO | errno.ENOSYS
# From pidfd_send_signal on, C libraries know what to do where a call is not there; before, they need not.
_RECENT: Final = 424
_CLONE3: Final = 435
# What each of a lab's processes asks for at every system call of the lab. Its own filter looks at the address
# that a call comes from, so that the host cannot remember what is always allowed, and asks every time.
_FIRST: Final = (ALLOWED["futex"], ALLOWED["rt_sigreturn"])

Instruction = tuple[int, int, int, int]
"""Code, where to jump if true and if false (that many instructions are left out), and a constant."""


def install() -> None:
    """Filter the calling thread's system calls, and those of all that it starts, for good.

    It must not be able to gain privileges any more (PR_SET_NO_NEW_PRIVS). Raises OSError.
    """
    code = _code()
    instructions = ctypes.create_string_buffer(code, len(code))
    filters = struct.pack("HxxxxxxQ", len(code) // 8, ctypes.addressof(instructions))
    libc = ctypes.CDLL(None, use_errno=True)
    flags = ctypes.c_long(_SECCOMP_FILTER_FLAG_SPEC_ALLOW)
    if libc.syscall(ALLOWED["seccomp"], SECCOMP_SET_MODE_FILTER, flags, filters) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


@cache
def _code() -> bytes:
    return b"".join(struct.pack("HBBI", *instruction) for instruction in program())


def program() -> list[Instruction]:
    """The filter: the architecture, the most frequent calls, a search by halves for others, their tests."""
    head: list[Instruction] = [
        (_LOAD, 0, 0, _ARCH),
        (_IF_EQUAL, 1, 0, _AUDIT_ARCH_X86_64),
        (_RETURN, 0, 0, _ABSENT),
        (_LOAD, 0, 0, _NR),
        *((_IF_EQUAL, len(_FIRST) - index, 0, number) for index, number in enumerate(_FIRST)),
        (_JUMP, 0, 0, 1),
        (_RETURN, 0, 0, _ALLOW),
    ]
    tests = {number: _checks(tests) for number, tests in TESTED.values()}
    spans = _spans()
    search = _search(spans)
    # A test stands behind the search, in the order of the numbers: its place is known now.
    place, places = len(search), {}
    for number in sorted(tests):
        places[number] = place
        place += len(tests[number])
    for index, (code, yes, no, constant) in enumerate(search):
        if code == _JUMP:
            search[index] = (code, yes, no, places[constant] - index - 1)
    return head + search + [step for number in sorted(tests) for step in tests[number]]


def _spans() -> list[tuple[int, Instruction]]:
    """What to do from which number of a call on, in ascending order."""
    fates: dict[int, Instruction] = dict.fromkeys(ALLOWED.values(), (_RETURN, 0, 0, _ALLOW))
    fates |= dict.fromkeys(QUIET.values(), (_RETURN, 0, 0, _DONE))
    fates |= {number: (_JUMP, 0, 0, number) for number, _ in TESTED.values()}
    spans: list[tuple[int, Instruction]] = []
    for number in range(max(*fates, _CLONE3) + 2):
        otherwise = (_RETURN, 0, 0, _ABSENT if number >= _RECENT else _REFUSED)
        fate = fates.get(number, otherwise)
        if not spans or spans[-1][1] != fate:
            spans.append((number, fate))
    # The calls of x32 begin far above, where nothing is.
    return spans


def _search(spans: list[tuple[int, Instruction]]) -> list[Instruction]:
    """Jumps that lead from a number to its span, seven or eight for each: it is on the way of every call."""
    if len(spans) == 1:
        return [spans[0][1]]
    middle = len(spans) // 2
    below, above = _search(spans[:middle]), _search(spans[middle:])
    return [(_IF_AT_LEAST, len(below), 0, spans[middle][0]), *below, *above]


def _checks(tests: tuple[Test, ...]) -> list[Instruction]:
    """Whether all of ``tests`` hold."""
    refuse: Instruction = (_RETURN, 0, 0, _REFUSED)
    allow: Instruction = (_RETURN, 0, 0, _ALLOW)
    steps: list[Instruction] = []
    for test in tests:
        load: Instruction = (_LOAD, 0, 0, _ARGS + 8 * test.argument)
        match test:
            case OneOf(_, values, of):
                last = len(values)
                compare = [(_IF_EQUAL, last - index, 0, value) for index, value in enumerate(values)]
                masked = [] if of == ALL_BITS else [(_AND, 0, 0, of)]
                steps += [load, *masked, *compare, refuse]
            case Without(_, bits, given):
                if given is not None:
                    steps += [(_LOAD, 0, 0, _ARGS + 8 * given[0]), (_IF_ANY, 1, 0, given[1]), allow]
                steps += [load, (_IF_ANY, 0, 1, bits), refuse]
            case IsNot(_, value):
                steps += [load, (_IF_EQUAL, 0, 1, value), refuse]
    return [*steps, allow]
