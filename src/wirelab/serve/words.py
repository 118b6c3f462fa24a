"""All that pages say, in one catalogue: a TOML file for each language, English for what another one lacks.

A table, and not gettext: a text has a name, so that a better wording in English loses no translation; a
language is one file that an editor opens, and nothing has to be compiled.
"""

import functools
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from wirelab.errors import InputError

ENGLISH: Final = "en"
_SHIPPED: Final = Path(__file__).with_name("texts")
_TAG: Final = re.compile(
    r"([a-z]{2,3})(?:-[a-z0-9]+)*(?:;q=(0(?:\.\d{1,3})?|1(?:\.0{1,3})?))?", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Words:
    """The texts of one language, by name."""

    language: str
    texts: Mapping[str, str]

    def __call__(self, text: str, /, **figures: object) -> str:
        """A text with its figures filled in."""
        return self.texts[text].format_map(figures)

    def __contains__(self, name: str) -> bool:
        """Whether there is a text of that name."""
        return name in self.texts


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The languages that there are, English among them."""

    languages: Mapping[str, Words]

    @classmethod
    def of(cls, folder: Path | None = None) -> Self:
        """What is shipped, and the files of ``folder`` in front of it. Raises InputError naming a bad one."""
        shipped = _read_all(_SHIPPED)
        own = _read_all(folder) if folder and folder.is_dir() else {}
        english = {**shipped[ENGLISH], **own.get(ENGLISH, {})}
        languages = {
            name: Words(name, {**english, **shipped.get(name, {}), **own.get(name, {})})
            for name in {**shipped, **own}
        }
        return cls(languages)

    def for_reader(self, accepted: str) -> Words:
        """The language that a browser would like best of those that there are (`Accept-Language`)."""
        wishes = []
        for place, wish in enumerate(accepted[:200].split(",")):
            match = _TAG.fullmatch(wish.strip().replace(" ", ""))
            if match and match[1].lower() in self.languages:
                wishes.append((-float(match[2] or 1), place, match[1].lower()))
        return self.languages[min(wishes)[2] if wishes else ENGLISH]


def _read_all(folder: Path) -> dict[str, dict[str, str]]:
    return {path.stem: _read(path) for path in sorted(folder.glob("*.toml"))}


@functools.cache
def _read(path: Path) -> dict[str, str]:
    """The texts of a file, those of a table under its name: ``join.title``."""
    try:
        return dict(_flat(tomllib.loads(path.read_text(encoding="utf-8"))))
    except (OSError, ValueError) as error:
        raise InputError(str(error), file=str(path)) from error


def _flat(tree: Mapping[str, Any], before: str = "") -> list[tuple[str, str]]:
    found = []
    for name, value in tree.items():
        if isinstance(value, dict):
            found += _flat(value, f"{before}{name}.")
        elif isinstance(value, str):
            found.append((before + name, value))
        else:
            raise ValueError(f"{before}{name}: expected a text")  # noqa: TRY004 - the file is wrong, not a type
    return found
