"""An entry of the cache: a finished build, what it says of itself, and whether it still is what was built."""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from pydantic import ValidationError

from wirelab.errors import LabError
from wirelab.lab import integrity, lock
from wirelab.lab.facts import FACTS, KeptFacts
from wirelab.lab.integrity import ENTRY

if TYPE_CHECKING:
    import contextlib
    from collections.abc import Callable, Mapping
    from pathlib import Path

_NAMED_FILES: Final = 5


class DamagedEntryError(LabError):
    """An entry that is not what was built."""

    def __init__(self, path: Path, reason: str, *, hint: str = "wirelab lab build") -> None:
        super().__init__(f"{path} is damaged: {reason}", hint=hint)


@dataclass(frozen=True)
class Entry:
    """A finished build: its folder, and what it says of itself."""

    kind: str
    key: str
    path: Path
    facts: Mapping[str, Any]
    """What it was made from and what came out; always ``title``, ``made_at_s``, ``size_bytes``."""
    watched: Mapping[str, tuple[int, int]] = field(default_factory=dict, repr=False)

    @property
    def id(self) -> str:
        """The name of exactly this build, for results to be kept with."""
        return f"{self.kind}-{self.key}"

    def in_use(self) -> contextlib.AbstractContextManager[None]:
        """Keep the entry from being pruned while the context lasts."""
        return lock.shared(self.path / ENTRY)

    def check(self) -> None:
        """Raise DamagedEntryError if its content changed, as far as `integrity.is_suspicious` can see."""
        if integrity.is_suspicious(self.path, self.watched):
            self._compare("wirelab lab build")

    def verify(self) -> bool:
        """Compare all content with what was built. Raises DamagedEntryError naming the files.

        Returns False where nothing is known of it: the entry is of a wirelab that kept no hashes.
        """
        if self.watched:
            # A build looks at sizes and times, and would take it for sound.
            self._compare(f"rm -r {self.path}; wirelab lab build")
        return bool(self.watched)

    def _compare(self, hint: str) -> None:
        if files := integrity.differences(self.path):
            more = [f"and {len(files) - _NAMED_FILES} more"] if len(files) > _NAMED_FILES else []
            raise DamagedEntryError(self.path, ", ".join([*files[:_NAMED_FILES], *more]), hint=hint)


def read_entry(path: Path, kind: str) -> Entry | None:
    """The entry in the folder ``path``, None if there is none.

    Raises DamagedEntryError if it cannot be understood, OSError if it is somebody else's secret.
    """
    file = path / ENTRY
    try:
        content = file.read_bytes()
        facts = FACTS[kind].model_validate_json(content).model_dump(exclude={"watched"})
        kept = KeptFacts.model_validate_json(content)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if error.errno == errno.EACCES and not (
            os.access(path, os.X_OK) and file.stat().st_uid == os.getuid()
        ):
            raise
        raise DamagedEntryError(file, error.strerror or str(error)) from error
    except ValidationError as error:
        problem = error.errors()[0]
        field_name = ".".join(map(str, problem["loc"]))
        raise DamagedEntryError(file, f"{field_name}: {problem['msg']}".removeprefix(": ")) from error
    return Entry(kind, path.name, path, facts, kept.watched)


def intact(find: Callable[[], Entry | None], say: Callable[[str], None] = lambda _: None) -> Entry | None:
    """What ``find`` finds, if it is as it was built; None if it is not, which ``say`` hears, or not there."""
    try:
        if entry := find():
            entry.check()
    except DamagedEntryError as error:
        say(f"{error.message}; it is made anew")
        return None
    return entry
