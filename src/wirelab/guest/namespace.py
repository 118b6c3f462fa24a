"""A network namespace of the lab: made, entered, and looked at by its own /sys."""

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_NEW_NETWORK = 0x40000000  # CLONE_NEWNET
_OWN = Path("/proc/self/ns/net")
_MOUNTS = Path("/run/sys")


class NetworkNamespace:
    """A new one, which lasts as long as this does: no process has to live in it."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._libc = ctypes.CDLL(None, use_errno=True)
        with _OWN.open("rb") as home:
            os.unshare(_NEW_NETWORK)  # type: ignore[attr-defined] # of Python 3.12, as the lab has it
            self._file = _OWN.open("rb")
            _enter(home.fileno())

    @property
    def path(self) -> str:
        """What `ip link set ... netns` takes."""
        return f"/proc/{os.getpid()}/fd/{self._file.fileno()}"

    @contextmanager
    def inside(self) -> Iterator[None]:
        """Be in it. A socket opened inside stays there for good, and so does a program."""
        with _OWN.open("rb") as home:
            try:
                _enter(self._file.fileno())
                yield
            finally:
                _enter(home.fileno())

    def sys(self) -> Path:
        """The /sys that shows its devices. Raises OSError if that cannot be mounted."""
        folder = _MOUNTS / self._name
        if not folder.exists():
            folder.mkdir(parents=True)
            with self.inside():
                if self._libc.mount(b"sysfs", bytes(folder), b"sysfs", 0, None) != 0:
                    raise OSError(ctypes.get_errno(), f"{folder} cannot be mounted")
        return folder


def _enter(namespace: int) -> None:
    os.setns(namespace, _NEW_NETWORK)  # type: ignore[attr-defined] # of Python 3.12, as the lab has it
