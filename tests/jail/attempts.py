"""What is tried, and what is answered where the jail holds."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

# A folder of the host, what is looked for in it, and what is done.
Attempt: TypeAlias = "tuple[Path | str, str, str]"

DENIED = frozenset({errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOENT})
"""What an attempt on a file is answered, by the host or because a path leads nowhere."""

# What is asked of the host's kernel directly, as in taken.c.
_REFUSED = (
    "socket-inet", "socket-unix", "socket-netlink", "pair-of-datagrams", "connect", "bind", "sendto",
    "bpf", "keyctl", "add_key", "userfaultfd", "perf_event_open", "mount", "umount2", "chroot",
    "pivot_root", "unshare", "setns", "clone-namespace", "open_by_handle_at", "init_module",
    "kexec_load", "reboot", "sethostname", "setxattr", "setuid", "capset", "shmget", "mq_open",
    "inotify_init1", "fanotify_init", "iopl", "personality", "dumpable", "chattr", "lease",
    "kill-everybody", "attach", "seize", "process_vm_readv", "process_vm_writev", "kcmp",
    "prlimit-parent", "setpriority", "sched_setaffinity", "setpgid", "clone-parent", "prlimit-file-size",
    "setrlimit-file-size", "memory-failure",
)  # fmt: skip
_ABSENT = ("io_uring_setup", "fsopen", "clone3", "pidfd_open", "x32", "ia32")
_OF_ITS_PARENT = ("memory-of-parent", "root-of-parent")
_LET = ("getpid", "pair-of-streams", "kill-child")
ANSWERS = {
    **dict.fromkeys(_REFUSED, errno.EPERM),
    **dict.fromkeys(_ABSENT, errno.ENOSYS),
    **dict.fromkeys(_OF_ITS_PARENT, errno.EACCES),
    **dict.fromkeys(_LET, 0),
}
"""What each of that is answered, as an errno."""


def of_the_host(home: Path, secret: Path, kernel: Path) -> list[Attempt]:
    """To reach what nobody named; ``secret`` is a file of the user's, and ``kernel`` the lab's."""
    places = (
        "/",
        "/etc",
        "/proc",
        "/proc/1/root",
        "/proc/self/root",
        "/proc/self/cwd/..",
        "/proc/self/cwd/root/../../..",
        "/dev",
        "/dev/shm",  # noqa: S108 - where labs have their memory
        home,
        secret.parent,
        f"/proc/self/cwd/lib/../../../../../../../../..{secret.parent}",
        kernel.parent,
    )
    listed: list[Attempt] = [(place, "", "list") for place in places]
    made: list[Attempt] = [(place, "made-in-a-lab", "make") for place in places]
    reached: list[Attempt] = [(secret.parent, secret.name, how) for how in ("read", "change", "rename")]
    named: list[Attempt] = [("/", str(secret)[1:], "read"), ("/", "etc/passwd", "read")]
    return [*listed, *made, *reached, *named, ("/etc", "passwd", "read")]


def of_another_run(result: Path) -> list[Attempt]:
    """To reach a file among another run's results, and what is around it."""
    folder = result.parent
    looked: list[Attempt] = [(folder.parent, "", "list"), (folder, "", "list"), (folder, "new", "make")]
    return looked + [(folder, result.name, how) for how in ("read", "change", "rename")]


def of_what_a_lab_is(kernel: Path) -> list[Attempt]:
    """To make the next lab another one."""
    tried: list[Attempt] = [("/proc/self/cwd/root", "etc/fstab", how) for how in ("change", "rename")]
    tried += [("/proc/self/cwd/root", "etc/made-in-a-lab", "make"), ("/proc/self/cwd/lib", "new.py", "make")]
    tried += [("/proc/self/cwd/lib", "__init__.py", "change"), ("/proc/self/cwd/plan", "new", "make")]
    return [*tried, (kernel.parent, kernel.name, "rename")]


def words(attempts: Iterable[Attempt]) -> list[str]:
    """The attempts as the attackers take them."""
    return [f"{folder}:{name}:{how}" for folder, name, how in attempts]
