"""Figures of a wiring that exclude each other, and the setting that is to blame."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wirelab.model.settings import Setting
    from wirelab.model.yamlfile import Loc

Blame = tuple[str, tuple[str, ...]]
"""A message, and the names of the settings that may be to blame."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """Something impossible, the setting to blame for it, and the place in the topology if there is none.

    ``missing_part`` is the node that has no part: right in a topology, wrong in a scenario.
    """

    message: str
    setting: Setting | None
    loc: Loc
    missing_part: str | None = None
