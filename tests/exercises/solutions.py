"""What a student who has understood an exercise predicts, answers and repairs; and one who has not.

Formulas are those of exercises, over the student's figures; the run is not asked. What is read off a run, a
number, is taken from the run.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

from wirelab.model.yamlfile import read

_FILE: Final = Path(__file__).with_suffix(".yaml")


@dataclass(frozen=True, slots=True)
class Solution:
    """Formulas for the predictions of who has understood it and of who has not, answers, and a repair."""

    predictions: Mapping[str, str]
    naive: Mapping[str, str]
    answers: Mapping[str, str] = field(default_factory=dict)
    repair: Mapping[str, str] = field(default_factory=dict)


@cache
def solutions() -> Mapping[str, Solution]:
    """Those of all exercises, by their names."""
    return {name: Solution(**_texts(parts)) for name, parts in read(_FILE).tree.items()}


def _texts(parts: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, str]]:
    return {part: {name: str(text) for name, text in entries.items()} for part, entries in parts.items()}
