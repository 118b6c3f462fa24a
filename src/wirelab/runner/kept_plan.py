"""The Plans that lie beside a ``result.json``: what its runs were, to compare or to run again."""

import functools
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

from pydantic import TypeAdapter, ValidationError

from wirelab.errors import LabError, refusals
from wirelab.plan.types import Plan
from wirelab.results.values import printable
from wirelab.runner.store import PLAN

T = TypeVar("T")

LIMIT_BYTES: Final = 64 << 20
"""What a ``plan.json`` may hold."""
_MOST_DEEP: Final = 20
_UNPHYSICAL: Final = ("scenario", "variant", "seed", "drawing", "wall_limit_s", "what", "part")
"""What nothing that is measured depends on, but for the seed: that is told apart."""


def plan_values(folder: Path, variant: str) -> dict[str, Any] | None:
    """The plan.json of a variant in a result's folder as it stands there; None where there is none.

    Raises LabError where it is no Plan's.
    """
    path = folder / variant / PLAN
    with refusals(path):
        if not path.is_file():
            return None
        if path.stat().st_size > LIMIT_BYTES:
            raise LabError(f"{path}: has more than {LIMIT_BYTES >> 20} MiB")
        content = path.read_bytes()
    try:
        values = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise _broken(path, str(error)) from None
    if not isinstance(values, dict):
        raise _broken(path, "expected an object")
    return values


def read_plan(folder: Path, variant: str) -> Plan:
    """The Plan of a variant, whole. Raises LabError where there is none, or not one of this wirelab."""
    path = folder / variant / PLAN
    values = plan_values(folder, variant)
    if values is None:
        raise LabError(f"{path}: there is none", hint="it says what was run: keep the whole folder")
    try:
        plan = Plan.from_json(json.dumps(values))
        # A lab will set what this says: each figure is of its type.
        _adapter(Plan).validate_json(json.dumps({**values, "traffic": []}), strict=True)
        for item, raw in zip(plan.traffic, values["traffic"], strict=True):
            _adapter(type(item)).validate_json(json.dumps(raw), strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise _broken(path, f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    except (ValueError, TypeError, KeyError, AttributeError, IndexError) as error:
        raise _broken(path, f"{error}" or type(error).__name__) from None
    return plan


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[tuple[str, str, str], ...]:
    """What two Plans set otherwise: where, and both values as JSON, empty where one has it at its default."""
    ours, theirs = (dict(_leaves("", values, 0)) for values in (before, after))
    return tuple(
        (where, ours.get(where, ""), theirs.get(where, ""))
        for where in dict.fromkeys((*ours, *theirs))
        if ours.get(where) != theirs.get(where)
    )


def _leaves(where: str, value: Any, depth: int) -> Iterator[tuple[str, str]]:  # noqa: ANN401 - JSON values
    """Each figure by its way through names: ``ports.module-line.queue.limit_bytes``."""
    if isinstance(value, dict) and depth < _MOST_DEEP:
        for key, inner in value.items():
            if key not in _UNPHYSICAL:
                yield from _leaves(f"{where}.{key}" if where else str(key), inner, depth + 1)
    elif isinstance(value, list) and depth < _MOST_DEEP:
        for number, inner in enumerate(value):
            name = inner.get("name", number) if isinstance(inner, dict) else number
            yield from _leaves(f"{where}.{name}", inner, depth + 1)
    else:
        yield printable(where), printable(json.dumps(value, sort_keys=True))


@functools.cache
def _adapter(kind: type[T]) -> TypeAdapter[T]:
    return TypeAdapter(kind)


def _broken(path: Path, why: str) -> LabError:
    return LabError(printable(f"{path}: not a whole Plan: {why}"))
