"""What a host has to let a lab do, found out by trying it in a process that ends with it."""

import ctypes
import os
import platform
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from wirelab.lab import landlock
from wirelab.lab.syscalls import ALLOWED, PR_SET_NO_NEW_PRIVS, SECCOMP_SET_MODE_FILTER

PROCESSOR: Final = "x86_64"

_PTRACE_TRACEME: Final = 0
# A filter of one instruction, which lets every system call pass: BPF_RET with SECCOMP_RET_ALLOW.
_ALLOW_ALL: Final = struct.pack("HBBI", 0x06, 0, 0, 0x7FFF0000)

_TRACING_FIX: Final = (
    "sudo sysctl kernel.yama.ptrace_scope=1; in a container: --cap-add SYS_PTRACE, or a seccomp profile that "
    "allows seccomp(2), as Docker's own does"
)


@dataclass(frozen=True)
class Lack:
    """Something that a lab cannot do without, and the line that helps."""

    message: str
    fix: str


def lack() -> Lack | None:
    """What keeps any lab from running here, None if nothing does."""
    return processor_lack() or tracing_lack()


def processor_lack(machine: str | None = None) -> Lack | None:
    """What to say where the processor is none that runs a lab; ``machine`` as uname(2) says it."""
    name = platform.machine() if machine is None else machine
    if name == PROCESSOR:
        return None
    return Lack(f"a lab is an x86-64 program, and this processor is {name}", "use an x86-64 machine")


def tracing_lack() -> Lack | None:
    """What to say where a lab could not catch the system calls of its processes in any way."""
    filters, ptrace = filter_error(), ptrace_error()
    if not (filters and ptrace):
        return None
    both = f"seccomp filters ({filters}) and ptrace ({ptrace})"
    return Lack(f"this host forbids both {both}: a lab needs one of them", _TRACING_FIX)


def ptrace_error() -> str | None:
    """What ptrace(2) says to a process of ours, None if it is allowed. Labs before Linux 6.16 live by it."""
    return _refusal(lambda libc: libc.ptrace(_PTRACE_TRACEME, 0, 0, 0))


def filter_error() -> str | None:
    """What seccomp(2) says to a filter of ours, None if it is allowed. Newer labs prefer it: it is fast."""
    return _refusal(_filter)


def landlock_abi() -> int:
    """The version of landlock(7) that this host has, 0 where it has none or forbids it."""
    try:
        return landlock.abi()
    except OSError:
        return 0


def executes(folder: Path) -> bool:
    """Whether a file that we make there can be executed."""
    try:
        return os.access(folder, os.W_OK) and not is_noexec(folder)
    except OSError:
        return False


def is_noexec(path: Path) -> bool:
    """Whether the disk of ``path`` lets nothing be executed."""
    return bool(os.statvfs(path).f_flag & os.ST_NOEXEC)


def disk_of(folder: Path) -> Path:
    """The mount point above a folder, which people know where they may not know the folder."""
    return next(place for place in (folder, *folder.parents) if place.is_mount())


def _filter(libc: ctypes.CDLL) -> int:
    instruction = ctypes.create_string_buffer(_ALLOW_ALL)
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", 1, ctypes.addressof(instruction)))
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    return int(libc.syscall(ALLOWED["seccomp"], SECCOMP_SET_MODE_FILTER, 0, program))


def _refusal(call: Callable[[ctypes.CDLL], int]) -> str | None:
    """What the kernel says to a call of a process of ours, None if it does it."""
    libc = ctypes.CDLL(None, use_errno=True)
    child = os.fork()
    if child == 0:
        os._exit(ctypes.get_errno() if call(libc) != 0 else 0)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return "the process is killed for it"
    code = os.waitstatus_to_exitcode(status)
    return os.strerror(code) if code else None
