"""What User-Mode Linux asks of its host on x86-64: every system call of it, and with which arguments.

A lab's processes ask for these alone. Their numbers are those of arch/x86/entry/syscalls/syscall_64.tbl; what
is asked was read in arch/um, arch/x86/um and fs/hostfs of 7.2, and seen with strace in both of its modes, by
seccomp and by ptrace. Before 6.16 there is the latter alone.
"""

from dataclasses import dataclass
from typing import Final

ALL_BITS: Final = 0xFFFFFFFF
PR_SET_NO_NEW_PRIVS: Final = 38
SECCOMP_SET_MODE_FILTER: Final = 1


@dataclass(frozen=True, slots=True)
class OneOf:
    """The argument, of which the bits ``of`` are looked at, has one of these values.

    As at the host, only its low 32 bits count.
    """

    argument: int
    values: tuple[int, ...]
    of: int = ALL_BITS


@dataclass(frozen=True, slots=True)
class Without:
    """The argument has none of these bits, or argument ``given[0]`` has none of the bits ``given[1]``."""

    argument: int
    bits: int
    given: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class IsNot:
    """The argument has another value."""

    argument: int
    value: int


Test = OneOf | Without | IsNot

ALLOWED: Final[dict[str, int]] = {
    # Memory.
    "mmap": 9, "mprotect": 10, "munmap": 11, "brk": 12, "mremap": 25, "msync": 26,
    "memfd_create": 319, "rseq": 334,
    # Signals, timers and clocks.
    "rt_sigaction": 13, "rt_sigprocmask": 14, "rt_sigreturn": 15, "rt_sigpending": 127,
    "rt_sigtimedwait": 128, "rt_sigsuspend": 130, "sigaltstack": 131, "signalfd": 282, "signalfd4": 289,
    "tgkill": 234, "pause": 34,
    "nanosleep": 35, "setitimer": 38, "getitimer": 36, "timer_create": 222, "timer_settime": 223,
    "timer_gettime": 224, "timer_getoverrun": 225, "timer_delete": 226, "gettimeofday": 96, "time": 201,
    "clock_gettime": 228, "clock_getres": 229, "clock_nanosleep": 230, "restart_syscall": 219,
    # Processes, and what whoever starts a lab does first: vfork, setsid, chdir, execve.
    "fork": 57, "vfork": 58, "execve": 59, "execveat": 322, "exit": 60, "exit_group": 231, "wait4": 61,
    "waitid": 247, "getpid": 39, "getppid": 110, "gettid": 186, "getpgrp": 111, "getpgid": 121, "getsid": 124,
    "setsid": 112, "chdir": 80, "getcwd": 79, "uname": 63, "sysinfo": 99, "getrusage": 98, "getrlimit": 97,
    "getuid": 102, "getgid": 104, "geteuid": 107, "getegid": 108, "getrandom": 318,
    "arch_prctl": 158, "set_tid_address": 218, "set_robust_list": 273, "futex": 202, "sched_yield": 24,
    "sched_getaffinity": 204, "seccomp": 317, "modify_ldt": 154,
    # Descriptors, and what the processes of a lab hand each other.
    "read": 0, "write": 1, "readv": 19, "writev": 20, "pread64": 17, "pwrite64": 18, "preadv": 295,
    "pwritev": 296, "lseek": 8, "close": 3, "close_range": 436, "dup": 32, "dup2": 33, "dup3": 292,
    "pipe": 22, "pipe2": 293, "poll": 7, "ppoll": 271, "select": 23, "pselect6": 270, "epoll_create": 213,
    "epoll_create1": 291, "epoll_ctl": 233, "epoll_wait": 232, "epoll_pwait": 281, "eventfd2": 290,
    "sendmsg": 46, "recvmsg": 47,
    # Files. Landlock says which; truncate, by name, it knows from its third version on only.
    "stat": 4, "fstat": 5, "lstat": 6, "newfstatat": 262, "statx": 332, "statfs": 137, "fstatfs": 138,
    "access": 21, "faccessat": 269, "faccessat2": 439, "readlink": 89, "readlinkat": 267, "getdents": 78,
    "getdents64": 217, "ftruncate": 77, "fallocate": 285, "fsync": 74, "fdatasync": 75, "rmdir": 84,
    "unlink": 87, "unlinkat": 263, "rename": 82, "renameat": 264, "link": 86, "linkat": 265, "symlink": 88,
    "symlinkat": 266,
}  # fmt: skip

QUIET: Final[dict[str, int]] = {
    "chmod": 90, "fchmod": 91, "fchmodat": 268, "fchmodat2": 452, "chown": 92, "fchown": 93, "lchown": 94,
    "fchownat": 260, "utime": 132, "utimes": 235, "futimesat": 261, "utimensat": 280,
}  # fmt: skip
"""What is answered as done and not done, as vfat's mount option ``quiet`` has it.

Landlock lets everybody set mode, owner and times of any file. Nothing of a lab needs that, but cp -p, tar and
Python's shutil.copy() would complain.
"""

# clone(2): what would be another namespace, where a user is root of the host's kernel; and CLONE_PARENT, by
# which a process would be a child of who started the lab, and not the lab's.
_NOT_A_LABS: Final = 0x7E020000 | 0x8000
_SET_ID: Final = 0o6000
# Of character and block devices, not of files, FIFOs and sockets.
_DEVICE: Final = 0o020000
_MAKING: Final = 0o100 | 0o20000000  # O_CREAT, __O_TMPFILE
# How open(2) is to use a file, O_TRUNC included. Landlock asks what the descriptor is good for: for nothing
# where both O_WRONLY and O_RDWR are set, so it lets that pass for every file and device. Nor does it ask,
# before its third version, about O_TRUNC, which needs neither of them to empty a file.
_USE: Final = 0o1003
_READ, _WRITE, _BOTH, _EMPTY = 0, 1, 2, 0o1000
_USES: Final = (_READ, _WRITE, _BOTH, _WRITE | _EMPTY, _BOTH | _EMPTY)
_RENAME_WHITEOUT: Final = 4
# By these root, of the host, takes pages of its memory out of service.
_MADV_HWPOISON, _MADV_SOFT_OFFLINE = 100, 101
_RLIMIT_FSIZE: Final = 1
_ADDR_NO_RANDOMIZE: Final = 0x0040000
_AF_UNIX: Final = 1
# SOCK_STREAM, plain and with SOCK_NONBLOCK and SOCK_CLOEXEC.
_STREAMS: Final = (1, 0o4001, 0o2000001, 0o2004001)
_PR_SET_PDEATHSIG, _PR_SET_NAME = 1, 15
_DUP_CLOEXEC_AND_SEALS: Final = (1030, 1033, 1034)
# PTRACE_TRACEME, PEEKUSER, POKEUSER to SINGLESTEP, GETREGS to SETFPREGS, GETFPXREGS, SETFPXREGS,
# OLDSETOPTIONS, SYSCALL, ARCH_PRCTL to SYSEMU_SINGLESTEP; SETOPTIONS, GETSIGINFO, GETREGSET, SETREGSET.
_OF_A_TRACED_CHILD: Final = (
    *(0, 3, *range(6, 10), *range(12, 16), 18, 19, 21, 24, *range(30, 33)),
    *(0x4200, 0x4202, 0x4204, 0x4205),
)

TESTED: Final[dict[str, tuple[int, tuple[Test, ...]]]] = {
    "open": (2, (OneOf(1, _USES, of=_USE), Without(2, _SET_ID, given=(1, _MAKING)))),
    "openat": (257, (OneOf(2, _USES, of=_USE), Without(3, _SET_ID, given=(2, _MAKING)))),
    "creat": (85, (Without(1, _SET_ID),)),
    "mkdir": (83, (Without(1, _SET_ID),)),
    "mkdirat": (258, (Without(2, _SET_ID),)),
    "mknod": (133, (Without(1, _SET_ID | _DEVICE),)),
    "mknodat": (259, (Without(2, _SET_ID | _DEVICE),)),
    # Of terminals TCGETS, TCSETS, TCSETSW, TCSETSF, TIOCGWINSZ; of any file FIOCLEX and FIONCLEX, by which
    # Python hands on a descriptor. FS_IOC_SETFLAGS would be metadata.
    "ioctl": (16, (OneOf(1, (0x5401, 0x5402, 0x5403, 0x5404, 0x5413, 0x5450, 0x5451)),)),
    # It would leave a device in the place of what it moves.
    "renameat2": (316, (Without(4, _RENAME_WHITEOUT),)),
    # F_DUPFD to F_SETFL, F_SETOWN to F_SETSIG, F_SETOWN_EX, F_GETOWN_EX, F_DUPFD_CLOEXEC and seals; no
    # leases, and no locks: whoever may read a file could keep others from writing to it.
    "fcntl": (72, (OneOf(1, (*range(5), *range(8, 11), 15, 16, *_DUP_CLOEXEC_AND_SEALS)),)),
    "clone": (56, (Without(0, _NOT_A_LABS),)),
    "madvise": (28, (IsNot(2, _MADV_HWPOISON), IsNot(2, _MADV_SOFT_OFFLINE))),
    # Everybody's process at once; one by one, Landlock says which.
    "kill": (62, (IsNot(0, 0xFFFFFFFF),)),
    # How long a file may get is set from outside; root could set it anew.
    "prlimit64": (302, (OneOf(0, (0,)), IsNot(1, _RLIMIT_FSIZE))),
    "setrlimit": (160, (IsNot(0, _RLIMIT_FSIZE),)),
    "personality": (135, (OneOf(0, (_ADDR_NO_RANDOMIZE,)),)),
    # A datagram could be sent to any socket of the host's that has a name.
    "socketpair": (53, (OneOf(0, (_AF_UNIX,)), OneOf(1, _STREAMS))),
    "prctl": (157, (OneOf(0, (_PR_SET_PDEATHSIG, _PR_SET_NAME, PR_SET_NO_NEW_PRIVS)),)),
    # Labs before 6.16 live by it: TRACEME, and what may be asked of a child that has said so; neither ATTACH
    # nor SEIZE, nor a look into memory.
    "ptrace": (101, (OneOf(0, _OF_A_TRACED_CHILD),)),
}
