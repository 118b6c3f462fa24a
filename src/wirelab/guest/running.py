"""The programs of one item of traffic, while they run."""

import contextlib
import json
import signal
from pathlib import Path
from typing import TYPE_CHECKING

from wirelab.guest.shell import Program
from wirelab.guest.shortcuts import Shortcuts
from wirelab.plan.traffic import Item

if TYPE_CHECKING:  # Mininet is in the lab alone, and this is tested without it
    from wirelab.guest.network import Network

_LAST_LINES = 3


class TrafficError(Exception):
    """A program that makes traffic failed; the text has its own words."""


class Running:
    """The receiving end of an item from now on, the sending one from ``start`` on.

    What the two say goes to the files that the item names.
    """

    def __init__(self, item: Item, network: "Network", results: Path, shortcuts: Shortcuts) -> None:
        self.item = item
        self._network = network
        self._results = results
        self._sender: Program | None = None
        self._interrupted = False
        argv = item.receiver_argv()
        with shortcuts.read_whole(item.received_block_bytes):
            self._receiver = self._program(item.receiver, argv, item.receiver_file) if argv else None

    def _program(self, node: str, argv: list[str], file: str) -> Program:
        output = self._results / file
        with self._network.inside(node):
            return Program(argv, output, output.with_suffix(".log"))

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
        self._interrupted = True
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
        # Another code than 0 is its own doing, unless it was told to end.
        failed = None if self._receiver is None or self._interrupted else self._receiver.code
        self.kill()
        words = self._words(self.item.receiver_file if failed else self.item.sender_file)
        if failed or not self.item.is_measurement(code, words):
            told = words or "it said nothing"
            raise TrafficError(f"{self.item.tool} {self.item.name} ended with {failed or code}: {told}")

    def kill(self) -> None:
        """End both ends at once."""
        for program in (self._sender, self._receiver):
            if program is not None and program.code is None:
                program.kill()

    def _words(self, file: str) -> str:
        """What an end says went wrong: its JSON's ``error``, else the end of what it printed."""
        output = self._results / file
        for path in (output, output.with_suffix(".log")):
            text = path.read_text(errors="replace").strip() if path.exists() else ""
            with contextlib.suppress(ValueError, AttributeError):
                text = str(json.loads(text).get("error", ""))
            if text:
                return " / ".join(text.splitlines()[-_LAST_LINES:])
        return ""
