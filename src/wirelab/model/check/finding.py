"""Something that is wrong with a wiring, and who is to blame for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wirelab.model.settings import Setting
    from wirelab.model.yamlfile import Loc


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong, the setting to blame for it, and the place in the topology if there is none.

    ``missing_part`` is the node that has no part: right in a topology, wrong in a scenario.
    """

    message: str
    setting: Setting | None
    loc: Loc
    missing_part: str | None = None
