"""What ssh says when it does not get through, as a line with the fix."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wirelab.fleet.reasons import explained

if TYPE_CHECKING:
    from collections.abc import Callable


class FilterModule:
    """``told | wirelab_explained(address)``."""

    def filters(self) -> dict[str, Callable[[str, str], str]]:
        """The filters of this file."""
        return {"wirelab_explained": explained}
