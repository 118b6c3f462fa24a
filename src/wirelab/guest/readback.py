"""A setting as it was asked for and as it was read back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

Value = int | str | bool


@dataclass(frozen=True, slots=True)
class Readback:
    """One setting of one port or host: what was asked for and what is in force."""

    port: str
    setting: str
    asked: Value
    actual: Value


def readbacks(owner: str, pairs: Mapping[str, tuple[Value, Value]]) -> list[Readback]:
    """Several of one port or host: the name of each setting to what was asked for and what is in force."""
    return [Readback(owner, setting, asked, actual) for setting, (asked, actual) in pairs.items()]
