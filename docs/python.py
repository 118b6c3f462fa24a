"""The reference of `wirelab` for Python, made from its docstrings and signatures."""

from __future__ import annotations

import inspect
from dataclasses import fields, is_dataclass
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from docs.markdown import code, table, words
from wirelab import api
from wirelab.api import Flow, Run
from wirelab.errors import WirelabError
from wirelab.results.ping import PingResult
from wirelab.results.port import PortResult
from wirelab.results.rtt import Rtt
from wirelab.verdict.checks import Check
from wirelab.verdict.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FUNCTIONS: Final = (api.run, api.sweep)
RECORDS: Final = (Flow, PortResult, PingResult, Rtt, Check)
"""What a run is asked for: frozen, and the same as in result.json."""

_NAMES: Final = {NoneType: "None", ...: "..."}


def reference() -> str:
    """The page below its introduction."""
    return "\n".join(
        [
            *(_function(f"wirelab.{function.__name__}", function, "##") for function in FUNCTIONS),
            f"## Run\n\n{_text(Run)}",
            *_members(Run),
            *(_record(record) for record in RECORDS),
            _errors(),
        ]
    )


def members(of: type) -> Iterator[tuple[str, Any]]:
    """What is public of a class, and its own: properties and methods."""
    for name, member in vars(of).items():
        is_made = isinstance(member, property) or inspect.isfunction(member)
        if is_made and not name.startswith("_"):
            yield name, member


def _members(of: type) -> Iterator[str]:
    made = list(members(of))
    properties = [(name, member) for name, member in made if isinstance(member, property)]
    if properties:
        rows = ((code(name), code(_type(_returned(it))), _first(it)) for name, it in properties)
        yield table(("property", "type", "what it is"), rows)
    for name, member in made:
        if not isinstance(member, property):
            yield _function(f"{of.__name__}.{name}", member, "###")


def _record(record: type) -> str:
    types = get_type_hints(record)
    rows = [(code(field.name), code(_type(types[field.name]))) for field in fields(record)]
    text = "".join(_text(of) for of in record.__mro__ if is_dataclass(of))
    return "\n".join([f"## {record.__name__}\n\n{text}", table(("field", "type"), rows), *_members(record)])


def _errors() -> str:
    rows = [
        (code(f"wirelab.{name}"), _first(error))
        for name in api.__all__
        if isinstance(error := getattr(api, name), type) and issubclass(error, (WirelabError, Verdict))
    ]
    return f"## Errors and verdicts\n\n{table(('name', 'what it is'), rows)}"


def _function(name: str, function: Callable[..., Any], level: str) -> str:
    signature = inspect.signature(function)
    parameters = [one for key, one in signature.parameters.items() if key != "self"]
    texts = list(map(_parameter, parameters))
    first_named = next((at for at, one in enumerate(parameters) if one.kind is one.KEYWORD_ONLY), None)
    if first_named is None:
        listed = f"({', '.join(texts)})"
    else:
        texts.insert(first_named, "*")
        listed = "\n".join(["(", *(f"    {text}," for text in texts), ")"])
    returned = _type(signature.return_annotation)
    return f"{level} {name}\n\n```python\n{name}{listed} -> {returned}\n```\n\n{_text(function)}"


def _parameter(one: inspect.Parameter) -> str:
    default = "" if one.default is one.empty else f" = {one.default!r}"
    return f"{one.name}: {_type(one.annotation)}{default}"


def _returned(of: property) -> object:
    return inspect.signature(of.fget).return_annotation if of.fget else ""


def _type(annotation: Any) -> str:  # noqa: ANN401 - any type
    """A type as a reader writes it."""
    if isinstance(annotation, str):
        return annotation.removeprefix("pd.")
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return " | ".join(map(repr, arguments))
    if origin in (Union, UnionType):
        return " | ".join(map(_type, arguments))
    if origin is not None:
        return f"{origin.__name__}[{', '.join(map(_type, arguments))}]"
    return _NAMES.get(annotation) or str(annotation.__name__)


def _text(of: object) -> str:
    paragraphs = (inspect.getdoc(of) or "").replace("``", "`").split("\n\n")
    return "".join(f"{words(paragraph)}\n\n" for paragraph in paragraphs)


def _first(of: object) -> str:
    return words((inspect.getdoc(of) or "").partition("\n\n")[0].replace("``", "`"))
