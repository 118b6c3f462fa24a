"""What GitHub's runner is told, where there is one: outputs, the job's page, annotations.

Files named by variables take outputs and the page; a line of the log that begins with `::` is a command.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from wirelab.verdict.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

ANNOTATIONS_MAX: Final = 10
"""So many of a kind are shown of one step; the rest would be dropped without a word."""

_KINDS: Final = {Verdict.FAIL: "error", Verdict.ERROR: "error", Verdict.SKIP: "notice"}


@dataclass
class Runner:
    """The program that carries out this step, by the environment it has made for it; or nobody."""

    environ: Mapping[str, str]
    _token: str | None = None

    @property
    def is_here(self) -> bool:
        """Whether there is one."""
        return self.environ.get("GITHUB_ACTIONS") == "true"

    @contextlib.contextmanager
    def deaf(self) -> Iterator[None]:
        """Have it take nothing for a command but what ``tell`` says: scenarios are strangers' text."""
        if not self.is_here:
            yield
            return
        # It reads the two side by side: what is said on one would be heard before the other tells it not to.
        os.dup2(1, 2)
        self._stop()
        try:
            yield
        finally:
            self._go_on()

    def tell(self, commands: Sequence[str]) -> None:
        """Give it commands."""
        if self.is_here and commands:
            self._go_on()
            print("\n".join(commands), flush=True)
            self._stop()

    def output(self, **values: str) -> None:
        """Set outputs of the step. No value may have a line break: the rest would be another output."""
        lines = [f"{name.replace('_', '-')}={value}\n" for name, value in values.items()]
        if any(line.count("\n") > 1 for line in lines):
            msg = f"an output with a line break: {values}"
            raise ValueError(msg)
        self._append("GITHUB_OUTPUT", "".join(lines))

    def show(self, markdown: Path) -> None:
        """Show a file on the job's page, if there is that file."""
        if markdown.is_file():
            self._append("GITHUB_STEP_SUMMARY", markdown.read_text(encoding="utf-8"))

    def _stop(self) -> None:
        # Nobody can guess it, so nobody can end it.
        self._token = secrets.token_hex(16)
        print(f"::stop-commands::{self._token}", flush=True)

    def _go_on(self) -> None:
        print(f"::{self._token}::", flush=True)

    def _append(self, variable: str, text: str) -> None:
        if name := self.environ.get(variable):
            with Path(name).open("a", encoding="utf-8") as file:
                file.write(text)


def annotated(documents: Sequence[Mapping[str, Any]], files: Mapping[str, str]) -> list[str]:
    """Commands that show each check that does not hold, beside the scenario's file, which ``files`` has."""
    lines: dict[str, list[str]] = {}
    for document in documents:
        for variant in document["variants"]:
            for check in variant["checks"]:
                if check["verdict"] in _KINDS:
                    kind = _KINDS[Verdict(check["verdict"])]
                    lines.setdefault(kind, []).append(_annotation(kind, document, variant, check, files))
    shown: list[str] = []
    for kind, commands in lines.items():
        count = len(commands) if len(commands) <= ANNOTATIONS_MAX else ANNOTATIONS_MAX - 1
        shown += commands[:count]
        if more := len(commands) - count:
            shown.append(f"::{kind} title=wirelab::{more} more: the summary has them")
    return shown


def _annotation(
    kind: str,
    document: Mapping[str, Any],
    variant: Mapping[str, Any],
    check: Mapping[str, Any],
    files: Mapping[str, str],
) -> str:
    title = f"{document['scenario']}: {variant['name']}: {check['name']}"
    file = files.get(document["scenario"])
    where = f"file={_property(file)},line=1," if file else ""
    text = check.get("explanation") or check.get("measured") or ""
    return f"::{kind} {where}title={_property(title)}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
