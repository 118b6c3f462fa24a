"""What scripts expect of a machine, and a lab for a scenario needs not: made where commands are a user's."""

import os
from pathlib import Path

from wirelab.guest import cgroups, substitutes
from wirelab.guest.shell import run

_HOSTNAME = Path("/proc/sys/kernel/hostname")
_CHANGES = Path("/run/wirelab/etc")
_SSHD = Path("/usr/sbin/sshd")
_KEY = Path("/etc/ssh/ssh_host_ed25519_key")
# Where the ssh server locks in what speaks to strangers.
_EMPTY = Path("/run/sshd")
# As udev makes them: what a shell calls `<(...)` is below the first.
_LINKS = {
    "/dev/fd": "/proc/self/fd",
    "/dev/stdin": "/proc/self/fd/0",
    "/dev/stdout": "/proc/self/fd/1",
    "/dev/stderr": "/proc/self/fd/2",
}
# Where a kernel wants them that has them.
_OF_THE_KERNEL = {"debugfs": Path("/sys/kernel/debug"), "tracefs": Path("/sys/kernel/tracing")}
# Where the C library keeps memory and semaphores that have a name, and Python's multiprocessing its locks.
_SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 not a temporary name
# What /var/lock is a link to.
_LOCKS = Path("/run/lock")
# Where the service of Open vSwitch says what it does.
_SWITCH_LOGS = Path("/var/log/openvswitch")
# Whoever reads these gives up where they are missing, as `mn --nat` does.
_ETC = {"hostname": "localhost\n", "resolv.conf": "# There is no name server: no way leads out of a lab.\n"}


def environment(path: str) -> dict[str, str]:
    """That of a program of a user's, who is root on a terminal that can do nothing."""
    return {
        "PATH": path,
        "HOME": os.environ["HOME"],
        # Sorts as C does, and has letters of more than a byte.
        "LC_ALL": "C.UTF-8",
        "LOGNAME": "root",
        "USER": "root",
        # Mininet's popen(shell=True) starts this one.
        "SHELL": "/bin/bash",
        "TERM": "dumb",
        # Debian's ip and tc colour what they tell a terminal, and Mininet's cmd() is one.
        "NO_COLOR": "1",
    }


def furnish() -> None:
    """Make what a program expects of any machine, for commands at a prompt, too. Raises CommandError."""
    for name, leads_to in _LINKS.items():
        Path(name).symlink_to(leads_to)
    _SHARED_MEMORY.mkdir()
    run(["mount", "-t", "tmpfs", "-o", "mode=1777", "tmpfs", str(_SHARED_MEMORY)])
    _LOCKS.mkdir()
    _LOCKS.chmod(0o1777)
    substitutes.make()


def prepare() -> None:
    """Give the machine a name, a loopback device, an /etc that can be written, cgroups, a host key and more.

    Open vSwitch has not begun yet: its database is below /etc. Raises CommandError where something of that
    cannot be had.
    """
    # The one name that /etc/hosts has: sudo and others look their machine's up.
    _HOSTNAME.write_text("localhost\n")
    run(["ip", "link", "set", "lo", "up"])
    # With 127.0.0.1 alone the C library takes a machine for one without IPv4, and who asks for addresses that
    # are of use (AI_ADDRCONFIG, as getent does) is told of none, not even localhost's.
    run(["ip", "address", "add", "127.0.1.1/8", "dev", "lo"])
    furnish()
    for kind, place in _OF_THE_KERNEL.items():
        if place.is_dir():
            run(["mount", "-t", kind, kind, str(place)])
    _let_etc_be_written()
    for name, content in _ETC.items():
        Path("/etc", name).write_text(content)
    _SWITCH_LOGS.mkdir(exist_ok=True)
    cgroups.mount()
    substitutes.lay_over()
    if _SSHD.exists():
        _prepare_ssh()


def _let_etc_be_written() -> None:
    """Mininet's NAT writes to /etc/network/interfaces, for example; what is written stays in memory."""
    upper, work = _CHANGES / "upper", _CHANGES / "work"
    for folder in (upper, work):
        folder.mkdir(parents=True)
    options = f"lowerdir=/etc,upperdir={upper},workdir={work}"
    run(["mount", "-t", "overlay", "-o", options, "overlay", "/etc"])


def _prepare_ssh() -> None:
    """Give the ssh server a key of this lab's own, from its seed; a root folder may have brought one."""
    if not _KEY.exists():
        run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(_KEY)])
    _EMPTY.mkdir(mode=0o755)
