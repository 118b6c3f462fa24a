"""Whether a kernel's configuration holds what was wanted: Kconfig drops in silence what it cannot have."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

SETTING = re.compile(r"^(CONFIG_\w+)=(.*)$", re.MULTILINE)
UNSET = re.compile(r"^# (CONFIG_\w+) is not set$", re.MULTILINE)


def settings(text: str) -> dict[str, str]:
    """The options of a configuration with their values; one that is not set is ``n``."""
    return dict.fromkeys(UNSET.findall(text), "n") | dict(SETTING.findall(text))


def missing(wanted: str, final: str, absent: Collection[str] = ()) -> list[str]:
    """The lines of ``wanted`` that ``final`` does not hold, but for the options known to be ``absent``."""
    options = settings(final)
    return [
        f"{option}={value}"
        for option, value in settings(wanted).items()
        if option not in absent and options.get(option, "n") != value
    ]
