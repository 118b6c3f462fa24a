"""Settings as they were asked for and as they were read back: what is read back is the proof.

A tool that does not know a rate may shape nothing and say nothing; a lab that trusts its settings
measures something else than it says.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass

from wirelab.plan.port_settings import Value


class SettingsMismatchError(Exception):
    """The lab did not take a setting."""


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


def verify(settings: Iterable[Readback]) -> None:
    """Raise SettingsMismatchError, naming every setting that is not in force."""
    wrong = "; ".join(
        f"{setting.port}: {setting.setting} is {setting.actual}, asked for {setting.asked}"
        for setting in settings
        if setting.asked != setting.actual
    )
    if wrong:
        raise SettingsMismatchError(wrong)


def to_json(settings: Iterable[Readback]) -> str:
    """``settings.json``: one object a line."""
    return "[\n" + ",\n".join(json.dumps(asdict(setting)) for setting in settings) + "\n]\n"
