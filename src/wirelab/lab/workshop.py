"""Where a lab is built: from which recipe, into which cache, for whom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from wirelab.lab.cache import Cache
from wirelab.lab.recipe import Recipe

if TYPE_CHECKING:
    from collections.abc import Mapping


class Listener(Protocol):
    """Somebody to tell. A job is a sequence of steps; a step may know how much there is to do."""

    def say(self, text: str) -> None:
        """A remark worth a line of its own, such as what is being waited for."""

    def step(self, title: str, total: int | None = None) -> None:
        """A new step begins; the one before is done. ``total`` is None where nobody can know."""

    def advance(self, done: int) -> None:
        """So much of the current step is done, in the unit of its ``total``."""


class Nobody:
    """A Listener that does not listen."""

    def say(self, text: str) -> None:
        """Say nothing."""

    def step(self, title: str, total: int | None = None) -> None:
        """Show nothing."""

    def advance(self, done: int) -> None:
        """Count nothing."""


@dataclass(frozen=True)
class Workshop:
    """What every step of a build needs to know of the others."""

    recipe: Recipe
    cache: Cache
    environ: Mapping[str, str]
    tell: Listener

    @classmethod
    def of(cls, environ: Mapping[str, str], tell: Listener | None = None) -> Workshop:
        """The workshop of this copy of wirelab and this user. Raises LabError if there is no recipe."""
        return cls(Recipe.find(), Cache.at(environ), environ, tell or Nobody())
