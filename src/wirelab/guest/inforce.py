"""A setting as it was asked for and as it is in force."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting of one port (or host): what was asked for and what is in force."""

    port: str
    setting: str
    asked: int | str | bool
    actual: int | str | bool
