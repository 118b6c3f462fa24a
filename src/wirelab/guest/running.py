"""The programs of one item of traffic, while they run."""

import contextlib
import json
import signal
from pathlib import Path

from wirelab.guest.network import Network
from wirelab.guest.shell import Program
from wirelab.plan.traffic import Item

_LAST_LINES = 3
# An exit code above it is the number of a signal that ended the program.
_BY_SIGNAL = 128


class TrafficError(Exception):
    """A program that makes traffic failed; the text has its own words."""


class Running:
    """The receiving end of an item from now on, the sending one from ``start`` on.

    What the two say goes to the files that the item names.
    """

    def __init__(self, item: Item, network: Network, results: Path) -> None:
        self.item = item
        self._network = network
        self._results = results
        self._sender: Program | None = None
        argv = item.receiver_argv()
        self._receiver = self._program(item.receiver, argv, item.receiver_file) if argv else None

    def _program(self, node: str, argv: list[str], file: str) -> Program:
        output = self._results / file
        return Program(self._network.argv(node, *argv), output, output.with_suffix(".log"))

    def start(self) -> None:
        """Start the sending end: from now on there is traffic."""
        plan, item = self._network.plan, self.item
        argv = item.sender_argv(plan.address_of(item.receiver), filtered=bool(plan.firewalls))
        self._sender = self._program(item.sender, argv, item.sender_file)

    @property
    def done(self) -> bool:
        """Whether the sending end has ended."""
        return self._sender is not None and self._sender.code is not None

    def interrupt(self) -> None:
        """End both ends as Ctrl-C does, so that they say how far they came."""
        for program in (self._sender, self._receiver):
            if program is not None and program.code is None:
                program.send(signal.SIGINT)
                program.wait()

    def finish(self) -> None:
        """Wait for the receiving end. Raises TrafficError when either failed by itself."""
        assert self._sender is not None  # noqa: S101 - whoever finishes has started
        code = self._sender.code
        assert code is not None  # noqa: S101 - and has looked whether it is done
        if code == 0:
            if self._receiver is not None:
                self._receiver.wait()
            return
        crashed = self._receiver is not None and (self._receiver.code or 0) > _BY_SIGNAL
        self.kill()
        words = self._words()
        if crashed or not self.item.is_measurement(code, words):
            told = words or "it said nothing"
            raise TrafficError(f"{self.item.tool} {self.item.name} ended with {code}: {told}")

    def kill(self) -> None:
        """End both ends at once."""
        for program in (self._sender, self._receiver):
            if program is not None and program.code is None:
                program.kill()

    def _words(self) -> str:
        """What the sending end says went wrong: its JSON's ``error``, else the end of what it printed."""
        output = self._results / self.item.sender_file
        for path in (output, output.with_suffix(".log")):
            text = path.read_text(errors="replace").strip() if path.exists() else ""
            with contextlib.suppress(ValueError, AttributeError):
                text = str(json.loads(text).get("error", ""))
            if text:
                return " / ".join(text.splitlines()[-_LAST_LINES:])
        return ""
