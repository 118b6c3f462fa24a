"""The events of traffic at a prompt: its process knows when they are due, and the prompt's carries them out.

So there is one process that knows what the network is by now, whoever changed it: an event, or `set`.
"""

import json
import socket
from collections.abc import Callable, Sequence
from pathlib import Path

from wirelab.plan.types import Event

_MOST_BYTES = 1 << 16


class Relay:
    """The end of the traffic's process: what a schedule takes for events."""

    def __init__(self, line: socket.socket, events: Sequence[Event]) -> None:
        self._line = line
        self._instants_ns = [event.at_ns for event in events]
        self._next = 0

    @property
    def next_ns(self) -> int | None:
        """When the next one is due, None after the last."""
        return self._instants_ns[self._next] if self._next < len(self._instants_ns) else None

    def carry_out(self, _ready_ns: int) -> None:
        """Have the next one carried out, now. Raises RuntimeError with what has gone wrong."""
        self._line.send(json.dumps(self._next).encode())
        self._next += 1
        if wrong := json.loads(self._line.recv(_MOST_BYTES)):
            raise RuntimeError(wrong)

    def write(self, folder: Path) -> None:
        """Leave nothing: nobody judges what is done at a prompt."""


class Relayed:
    """The end of the prompt's process."""

    def __init__(self, line: socket.socket) -> None:
        self._line = line

    def fileno(self) -> int:
        """The descriptor that can be read when an event is due."""
        return self._line.fileno()

    def carry_out(self, do: Callable[[int], None]) -> None:
        """Have ``do`` carry out the one that is due, by its number; say what went wrong."""
        asked = self._line.recv(_MOST_BYTES)
        if not asked:
            return  # the traffic is over
        wrong = ""
        try:
            do(json.loads(asked))
        except Exception as error:  # noqa: BLE001 - whatever it is, it must reach the host as a message
            wrong = f"{error}" or type(error).__name__
        self._line.send(json.dumps(wrong).encode())

    def close(self) -> None:
        """Let go of it."""
        self._line.close()
