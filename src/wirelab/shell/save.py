"""The network as it is set by now, as the file of a scenario."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from wirelab.errors import InputError
from wirelab.model.cases import Case, is_replaced
from wirelab.model.files import check_file

_ENDINGS: Final = (".yaml", ".yml")
_SHORT: Final = 100
# With a dot it is no word that YAML takes for something else, as `on` and `null`.
_PLAIN: Final = re.compile(r"[a-z][\w-]*\.[\w.-]+", re.ASCII)


def scenario_text(
    written: Mapping[str, Any], name: str, case: Case, settings: Sequence[tuple[str, str]]
) -> str:
    """A case of a scenario, as that was ``written``, with ``settings`` on top: a scenario of its own.

    It has the traffic, the expectations and the events of the case; no variants, no controls, nothing that
    was published of another network.
    """
    own = _own(written, case)
    source = {key: value for key, value in (written.get("source") or {}).items() if key != "measured"}
    tree: dict[str, Any] = {
        "name": name,
        "story": f"{written.get('name')}, {case.name}, as it was set at the prompt.",
        "source": source,
        "topology": written.get("topology"),
        "with": _with(case, [_flat(_mapping(written, "with")), _flat(_mapping(own, "with")), dict(settings)]),
        "traffic": written.get("traffic"),
        "events": own.get("events", written.get("events")),
        "expect": {**_mapping(written, "expect"), **_mapping(own, "expect")},
    }
    return "".join(_lines(key, value) for key, value in tree.items() if value)


def save(file: Path, text: str) -> None:
    """Write a scenario, unless the file is there.

    Raises InputError if it may not be, cannot be written, or is no scenario: nothing is left of it then.
    """
    if file.suffix not in _ENDINGS:
        raise InputError(f"{file}: a scenario ends in .yaml", hint=f"save {file}.yaml")
    is_ours = False
    try:
        with file.open("x", encoding="utf-8") as out:
            is_ours = True
            out.write(text)
    except FileExistsError:
        raise InputError(f"{file} is there already", hint="save it under another name") from None
    except (OSError, ValueError) as error:
        if is_ours:
            file.unlink()
        # No LabError: whoever is at the prompt says another name, and the lab goes on.
        why = getattr(error, "strerror", None) or error
        raise InputError(f"{file}: cannot be written: {why}", hint="save it under another name") from error
    try:
        check_file(file)
    except InputError:
        file.unlink()
        raise


def _own(written: Mapping[str, Any], case: Case) -> Mapping[str, Any]:
    """What the scenario says of the case alone: as a variant, or as a control on top of one."""
    for variant in written.get("variants") or ():
        if isinstance(variant, dict) and variant.get("name") == case.name:
            return variant
    for number, control in enumerate(written.get("controls") or (), start=1):
        if isinstance(control, dict) and control.get("name", f"control-{number}") == case.name:
            variants = [each for each in written.get("variants") or () if isinstance(each, dict)]
            of = next((each for each in variants if each.get("name") == control.get("variant")), None)
            base = of or (variants[0] if variants else {})
            both = {**_mapping(base, "with"), **_mapping(control, "with")}
            return {**base, **control, "with": both, "expect": _mapping(base, "expect")}
    return {}


def _with(case: Case, layers: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What is set in all, the last word of each setting in whatever words it was said."""
    said: dict[str, Any] = {}
    for layer in layers:
        for key, value in layer.items():
            said = {other: text for other, text in said.items() if not is_replaced(case, other, key)}
            said[key] = value
    return said


def _flat(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Each setting line by line, also where several of one thing were written in one piece."""
    lines: dict[str, Any] = {}
    for key, value in settings.items():
        if isinstance(value, dict):
            lines |= {f"{key}.{name}": text for name, text in _flat(value).items()}
        else:
            lines[key] = value
    return lines


def _mapping(tree: Mapping[str, Any], key: str) -> dict[str, Any]:
    value = tree.get(key)
    return dict(value) if isinstance(value, dict) else {}


def _lines(key: str, value: object) -> str:
    """A key of a scenario: JSON, which is YAML, with what is long item by item."""
    whole = _json(value)
    if len(whole) <= _SHORT or isinstance(value, str):
        return f"{key}: {whole}\n"
    if isinstance(value, dict):
        rows = [
            f"  {name if _PLAIN.fullmatch(name) else _json(name)}: {_json(value[name])}\n" for name in value
        ]
    else:
        rows = [f"  - {_json(item)}\n" for item in (value if isinstance(value, list) else [value])]
    return f"{key}:\n" + "".join(rows)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
