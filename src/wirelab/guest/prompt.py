"""The device by which the lab hears who has stopped its clock, and answers (kernel/driver/prompt.c)."""

import fcntl
import json
import os
from typing import Any

_DEVICE = "/dev/wirelab-prompt"
# include/uapi/asm-generic/ioctl.h: _IO('w', 0)
_STAND = ord("w") << 8
# The kernel's own word, of somebody at the host who does not want to wait.
_STOP = b"stop"
_MOST_BYTES = 1 << 16
_PART_BYTES = 1 << 14


class Prompt:
    """Lines of JSON both ways, and the word that this is the end of a command: then time stands still."""

    def __init__(self) -> None:
        """Raises RuntimeError where the kernel has no such device."""
        try:
            self._device = os.open(_DEVICE, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:
            raise RuntimeError("the kernel of this lab cannot stop its clock: it is an older one") from None
        self._begun = b""

    def fileno(self) -> int:
        """The descriptor that can be read when something was said."""
        return self._device

    def say(self, **what: Any) -> None:  # noqa: ANN401 - JSON of any kind
        """Say something to the host. It takes no virtual time."""
        line = json.dumps(what).encode() + b"\n"
        while line:
            line = line[os.write(self._device, line) :]

    def print(self, text: bytes) -> None:
        """Say what a program has printed, whatever it is."""
        for start in range(0, len(text), _PART_BYTES):
            self.say(out=text[start : start + _PART_BYTES].decode("latin-1"))

    def heard(self) -> list[dict[str, Any]]:
        """What the host has said since the last time, oldest first."""
        try:
            self._begun += os.read(self._device, _MOST_BYTES)
        except BlockingIOError:
            return []
        *lines, self._begun = self._begun.split(b"\n")
        return [{"do": "stop"} if line == _STOP else json.loads(line) for line in lines]

    def stand(self) -> None:
        """Have time stand still until the host says otherwise."""
        fcntl.ioctl(self._device, _STAND)
