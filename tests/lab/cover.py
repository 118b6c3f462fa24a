"""A few scenarios that together have all that the catalogue has, for tests that cannot run them all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wirelab.plan.types import Plan

NOT_SET: tuple[object, ...] = (None, False, 0, "", (), {})
KINDS = ("congestion", "duplex", "kind", "mode", "protocol", "role", "rx_adaptive", "rx_moderation")
"""Fields whose value says what is used, and not how much of it or what it is called."""


def features(part: object, name: str = "") -> Iterator[str]:
    """What a Plan, or a part of it, makes use of: each field that is set, each of KINDS, each sysctl."""
    if isinstance(part, tuple):
        for one in part:
            yield from features(one, name)
    elif isinstance(part, Mapping):
        for key, value in part.items():
            yield from features(value, f"{name}[{key}]")
    elif is_dataclass(part):
        for field in fields(part):
            value = getattr(part, field.name)
            if value not in NOT_SET:
                kind = f"={value}" if field.name in KINDS else ""
                yield from features(value, f"{type(part).__name__}.{field.name}{kind}")
    else:
        yield name


def covering(plans: Mapping[str, Plan]) -> list[str]:
    """Names of Plans that have between them each feature that any of ``plans`` has.

    Each adds one at least. Greedy: the one that adds most comes first, of equals the first by name.
    """
    of_each = {name: set(features(plan)) for name, plan in sorted(plans.items())}
    missing: set[str] = set().union(*of_each.values())
    names = []
    while missing:
        names.append(max(of_each, key=lambda name: len(of_each[name] & missing)))
        missing -= of_each[names[-1]]
    return names
