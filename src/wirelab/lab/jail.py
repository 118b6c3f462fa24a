"""What confines a lab: the host's kernel, told before the lab's first instruction what that may ask of it.

It takes no root, no set-uid program and no namespace, and nothing undoes it. What breaks out of the lab's own
kernel is where that is: behind the same rules.
"""

import ctypes
import errno
import os
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path
from typing import Final

from wirelab.errors import LabError
from wirelab.lab import host, landlock, seccomp
from wirelab.lab.host import Lack
from wirelab.lab.syscalls import PR_SET_NO_NEW_PRIVS

# What the lab's kernel reads of its host at its start, and where its idle consoles lead.
_HOST: Final = ((Path("/proc/cpuinfo"), landlock.READ), (Path(os.devnull), landlock.DEVICE))
# What a host says that has no such thing, or a container's profile that forbids it.
_NOT_HERE: Final = (errno.ENOSYS, errno.EOPNOTSUPP, errno.EPERM, errno.EINVAL)


class Confinement(Enum):
    """How far a lab is to be confined."""

    WHOLE = auto()
    AS_FAR_AS_THE_HOST_CAN = auto()
    NONE = auto()


@dataclass(frozen=True, slots=True)
class Jail:
    """The files of the host that a lab may reach, folders with all that is in them.

    Paths are followed to where they lead. ``results`` is what the host reads again: no link, FIFO or socket
    can be made there. ``memory`` is the lab's own, and gone with it.
    """

    kernel: Path
    results: Path
    memory: Path
    readable: Sequence[Path]
    writable: Sequence[Path] = ()

    def enter(self, confinement: Confinement) -> None:
        """Confine the calling thread, and all that it starts, for good.

        Raises LabError where it cannot be done ``WHOLE`` and was to be.
        """
        for half in (_give_up_privileges, self._restrict_files, seccomp.install):
            try:
                half()
            except OSError as error:
                if confinement is Confinement.WHOLE or error.errno not in _NOT_HERE:
                    msg = f"the lab could not be confined: {error.strerror}"
                    raise LabError(msg, hint="wirelab doctor tells what this host can") from error

    def _restrict_files(self) -> None:
        landlock.restrict(
            [
                (self.kernel, landlock.RUN),
                (self.results, landlock.KEEP),
                (self.memory, landlock.OWN | landlock.RUN),
                *((path, landlock.READ) for path in self.readable),
                *((path, landlock.OWN) for path in self.writable),
                *_HOST,
            ]
        )


def _give_up_privileges() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def lack() -> Lack | None:
    """What keeps this host from confining a lab whole, None if nothing does."""
    if not host.landlock_abi():
        message = "this host cannot keep a lab from your files: it has no Landlock"
        fix = "Linux 5.13 and newer have it, if landlock is among their `lsm=`; in a container: a profile"
        return Lack(message, f"{fix} for seccomp that allows it, as Docker's own does")
    if refusal := host.filter_error():
        message = f"this host cannot filter a lab's system calls: {refusal}"
        return Lack(message, "in a container: a seccomp profile that allows seccomp(2), as Docker's own does")
    return None


def described() -> str:
    """What confines the labs of this host, in a line."""
    lacking = lack()
    return lacking.message if lacking else "files by Landlock, system calls by seccomp"
