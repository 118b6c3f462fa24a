"""The prompt of `wirelab shell` for a person: history, completion, the keys of an editor of lines."""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

import typer
from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory, History, InMemoryHistory

from wirelab.errors import InputError, WirelabError
from wirelab.lab.cache import Cache
from wirelab.shell.session import Session

_HISTORY: Final = "shell-history"


class Terminal:
    """Reads lines of a person, and tells them what made no sense."""

    def __init__(self) -> None:
        self._prompt: PromptSession[str] = PromptSession(history=_history(), complete_while_typing=False)

    def read(self, session: Session) -> str | None:
        """The next line, None for Ctrl-D. Raises KeyboardInterrupt for Ctrl-C."""
        try:
            return self._prompt.prompt(f"{session.now}> ", completer=_Words(session))
        except EOFError:
            return None

    def refuse(self, error: InputError) -> None:
        """Say what is wrong with a line."""
        for problem in error.problems:
            typer.echo(f"error: {problem}")
        if error.hint:
            typer.echo(f"hint: {error.hint}")


class _Words(Completer):
    """The words that may come next, by what has been typed."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:  # noqa: ARG002 - as prompt_toolkit calls it
        line = document.text_before_cursor
        begun = line.split(" ")[-1]
        for word in self._session.completions(line):
            yield Completion(word, start_position=-len(begun))


def _history() -> History:
    """What was typed before, also by other sessions; where it cannot be kept, that of this one."""
    with suppress(OSError, WirelabError):
        file = Path(Cache.at(os.environ).root) / _HISTORY
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch(mode=0o600, exist_ok=True)
        return FileHistory(str(file))
    return InMemoryHistory()
