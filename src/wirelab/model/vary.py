"""A case with other settings on top: one point of a sweep."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from wirelab.errors import InputError
from wirelab.model.check.wiring import wiring_conflicts
from wirelab.model.settings import SettingReader

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wirelab.model.cases import Case
    from wirelab.units import Quantity


def quantity_of(case: Case, key: str) -> Quantity | None:
    """What a setting of the case is measured in, None for words. Raises InputError if there is none."""
    try:
        return _reader(case).quantity(key)
    except ValueError as error:
        raise InputError(f"--vary {key}: {error}") from None


def varied(case: Case, settings: Mapping[str, str]) -> Case:
    """The case with ``settings`` on top, named after them. Raises InputError for what does not fit."""
    reader = _reader(case)
    merged = dict(case.wiring.settings)
    for key, text in settings.items():
        try:
            setting = reader.setting(key, text)
        except ValueError as error:
            raise InputError(f"--vary {key}={text}: {error}") from None
        merged[setting.target, setting.name] = setting
    wiring = replace(case.wiring, settings=merged)
    shown = ", ".join(f"{key} {text}" for key, text in settings.items())
    for conflict in wiring_conflicts(wiring):
        raise InputError(f"--vary {shown}: {conflict.message}")
    return replace(case, name=shown, wiring=wiring)


def _reader(case: Case) -> SettingReader:
    return SettingReader(case.wiring.topology, case.wiring.parts)
