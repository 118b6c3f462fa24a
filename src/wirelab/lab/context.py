"""What every step of a build needs to know."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wirelab.lab.cache import Cache
from wirelab.lab.recipe import Recipe
from wirelab.lab.reporter import Reporter

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class BuildContext:
    """From which recipe, into which cache, in which environment, and who hears of it."""

    recipe: Recipe
    cache: Cache
    environ: Mapping[str, str]
    reporter: Reporter

    @classmethod
    def of(cls, environ: Mapping[str, str], reporter: Reporter | None = None) -> BuildContext:
        """That of this copy of wirelab and this user. Raises LabError if there is no recipe."""
        return cls(Recipe.find(), Cache.at(environ), environ, reporter or Reporter())
