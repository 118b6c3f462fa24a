"""What is around a session: where scenarios go, what may be said, and what is kept."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from wirelab.shell.command import Command
from wirelab.shell.save import save

RECORD_BYTES: Final = 4_000_000_000
"""The most that is kept of what has become of frames."""


@dataclass(frozen=True, slots=True)
class Around:
    """What a session is in: ``keep`` writes a scenario, ``permit`` raises InputError for what is forbidden.

    ``on_look`` is called ten times a second while nothing comes from the lab; what it raises ends that.
    ``record_bytes`` is the most that is kept of frames, ``niceness`` (0 to 19) is that of the lab.
    ``is_fixed``: no setting may be changed, so that what changes one is not offered either.
    """

    keep: Callable[[Path, str], None] = save
    permit: Callable[[Command], None] = lambda _: None
    on_look: Callable[[], None] = lambda: None
    record_bytes: int = RECORD_BYTES
    niceness: int = 0
    is_fixed: bool = False


ALONE: Final = Around()
"""A session at a terminal: all may be said, and files are written."""
