"""A lab whose clock is stopped, as the host sees it: what it is told, and what it answers.

The other ends are its kernel (kernel/driver/prompt.c) and the process that does what it is told in there
(guest/session.py).
"""

import json
import os
import select
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from wirelab.errors import LabError

_PART_BYTES: Final = 1 << 16
_LOOK_S: Final = 0.1
# What root of a lab can make us keep.
_MOST_BYTES: Final = 1 << 27


@dataclass(frozen=True, slots=True)
class Stands:
    """The lab stands still at ``at_ns`` of its kernel's clock, for ``why``: time, seen, stopped or done."""

    at_ns: int
    why: str


@dataclass(frozen=True, slots=True)
class Says:
    """The process in the lab says ``what``."""

    what: dict[str, Any]


class Prompt:
    """Two pipes, and who is at which end. ``on_look`` is called while nothing comes, ten times a second."""

    def __init__(self) -> None:
        self._theirs_in, self._out = os.pipe()
        self._in, self._theirs_out = os.pipe()
        self._heard = bytearray()
        self._said = b""
        self.on_look: Callable[[], None] = lambda: None

    @property
    def of_the_lab(self) -> tuple[int, int]:
        """The descriptors that the lab's kernel inherits."""
        return self._theirs_in, self._theirs_out

    def options(self) -> tuple[str, ...]:
        """The words of the command line."""
        return (f"prompt={self._theirs_in},{self._theirs_out}",)

    def started(self) -> None:
        """Leave the lab's ends to the lab."""
        for descriptor in self.of_the_lab:
            os.close(descriptor)

    def close(self) -> None:
        """Say nothing any more: a lab that still asks ends."""
        for descriptor in (self._out, self._in):
            with suppress(OSError):
                os.close(descriptor)

    def run(self, until_ns: int, condition: str) -> Iterator[Says | Stands]:
        """Let time pass until an instant, 0 for none, or a condition; what happens, `Stands` at last."""
        self._send(f"run {until_ns} {condition}\n".encode())
        return self.until_it_stands()

    def tell(self, what: dict[str, Any]) -> Iterator[Says | Stands]:
        """Have the process in the lab do something, and let time pass until it is done."""
        line = json.dumps(what).encode() + b"\n"
        self._send(f"tell {len(line)}\n".encode() + line)
        return self.until_it_stands()

    def interrupt(self) -> None:
        """End what is being done. It still stands when it is done; of no effect where it does already."""
        self._send(b"stop\n")

    def show(self) -> str:
        """Where each frame is, as kernel/driver/show.c tells it. The lab stands."""
        self._send(b"show\n")
        shown = b""
        while (head := self._line().split())[0] != b"shown":
            shown += self._bytes(_number(head[-1]))
        return shown.decode("ascii", errors="replace")

    def until_it_stands(self) -> Iterator[Says | Stands]:
        """What the lab says until it stands, and where that is."""
        while True:
            match self._line().split():
                case [b"stands", at_ns, why]:
                    yield Stands(_number(at_ns), why.decode(errors="replace"))
                    return
                case [b"says", length]:
                    for said in self._lines(self._bytes(_number(length))):
                        yield Says(said)
                case other:
                    raise _damaged(b" ".join(other))

    def _send(self, data: bytes) -> None:
        try:
            while data:
                data = data[os.write(self._out, data) :]
        except BrokenPipeError:
            self.on_look()
            raise LabError("the lab has ended") from None

    def _lines(self, part: bytes) -> Iterator[dict[str, Any]]:
        """The lines that are whole with one more part of what the process says."""
        *lines, self._said = (self._said + part).split(b"\n")
        for line in lines:
            try:
                said = json.loads(line)
            except (ValueError, RecursionError):
                raise _damaged(line) from None
            if not isinstance(said, dict):
                raise _damaged(line)
            yield said

    def _line(self) -> bytes:
        while (end := self._heard.find(b"\n")) < 0:
            self._hear()
        line = bytes(self._heard[:end])
        del self._heard[: end + 1]
        return line

    def _bytes(self, count: int) -> bytes:
        while len(self._heard) < count:
            self._hear()
        part = bytes(self._heard[:count])
        del self._heard[:count]
        return part

    def _hear(self) -> None:
        if len(self._heard) > _MOST_BYTES:
            raise LabError("the lab says more than anybody can hear")
        while not select.select([self._in], [], [], _LOOK_S)[0]:
            self.on_look()
        part = os.read(self._in, _PART_BYTES)
        if not part:
            self.on_look()
            raise LabError("the lab has ended")
        self._heard += part


def _number(text: bytes) -> int:
    try:
        return int(text)
    except ValueError:
        raise _damaged(text) from None


def _damaged(said: bytes) -> LabError:
    return LabError(f"nobody understands what the lab says: {said[:60]!r}")
