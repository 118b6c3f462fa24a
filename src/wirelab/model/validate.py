"""A Document as a model, and everything that is wrong with it as problems with their lines."""

import re
import types
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Annotated, Any, Final, Generic, NamedTuple, TypeVar, Union, get_args, get_origin

from pydantic import ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from wirelab.errors import InputError, Problem, nearest, unknown
from wirelab.model.expected import kind_of
from wirelab.model.metric import NETWORK
from wirelab.model.types import Model
from wirelab.model.yamlfile import Document, Loc, Tree

M = TypeVar("M", bound=Model)


_NO_VALUE: Final = "has no value"


class Checked(NamedTuple, Generic[M]):
    """What is sound of a file, as a model with its document, and the problems with the rest.

    Where there are problems the model is for finding more of them, not for use.
    """

    model: M
    document: Document
    problems: tuple[Problem, ...]


def validate(kind: type[M], document: Document) -> Checked[M]:
    """``document`` as a ``kind``. Raises InputError only if its top level is not a mapping."""
    if not isinstance(document.root, dict):
        message = f"expected keys{_such_as(kind, ())}, found {kind_of(document.root)}"
        raise InputError.of([document.problem((), message)])
    try:
        model = kind.model_validate(document.root)
    except ValidationError as error:
        errors = error.errors(include_url=False)
    else:
        return Checked(model, document, (*document.problems, *_empty(document, ())))
    told = {_loc(error) for error in errors}
    problems = (*document.problems, *_problems(errors, kind, document), *_empty(document, told))
    cut: set[Loc] = set()
    for depth in (2, 1):  # an item of what stands at the top, else that as a whole
        cut |= {_cut(error, depth) for error in errors}
        pruned, moved = _without(document.root, cut)
        kept = replace(document, moved=moved)
        try:
            return Checked(kind.model_validate({**kind.stub, **pruned}), kept, problems)
        except ValidationError as error:
            errors = error.errors(include_url=False)
            errors = [{**entry, "loc": kept.written(_loc(entry))} for entry in errors]
    return Checked(kind.model_validate(dict(kind.stub)), document, problems)


def _empty(document: Document, told: Collection[Loc]) -> Iterator[Problem]:
    """The keys without a value, though they may be left out, but for those of which something is told."""
    for loc in _without_value(document.root, ()):
        if not any(loc[:end] in told for end in range(1, len(loc) + 1)):
            yield document.problem(loc, _NO_VALUE)


def _without_value(tree: Tree, loc: Loc) -> Iterator[Loc]:
    if isinstance(tree, dict):
        yield from ((*loc, key) for key, value in tree.items() if value is None)
    steps = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for step, value in steps:
        yield from _without_value(value, (*loc, step))


def _cut(error: ErrorDetails, depth: int) -> Loc:
    """What to leave out for an error: an unknown key alone, else the whole item, ``depth`` steps down.

    What is left of a broken item would only cause errors that its author did not make.
    """
    return _loc(error) if error["type"] == "extra_forbidden" else _loc(error)[:depth]


def _without(tree: dict[str, Any], cut: set[Loc]) -> tuple[dict[str, Any], dict[Loc, int]]:
    """The tree without what is cut, and the old index of each item of a top-level list."""
    moved: dict[Loc, int] = {}
    for key, value in tree.items():
        if isinstance(value, list) and (key,) not in cut:
            kept = [index for index in range(len(value)) if (key, index) not in cut]
            moved.update({(key, now): before for now, before in enumerate(kept)})
    return _pruned(tree, (), cut), moved


def _pruned(value: Any, loc: Loc, cut: set[Loc]) -> Any:  # noqa: ANN401 - a tree of YAML
    if isinstance(value, dict):
        return {key: _pruned(item, (*loc, key), cut) for key, item in value.items() if (*loc, key) not in cut}
    if isinstance(value, list):
        return [
            _pruned(item, (*loc, index), cut) for index, item in enumerate(value) if (*loc, index) not in cut
        ]
    return value


def _problems(errors: list[ErrorDetails], kind: type[Model], document: Document) -> list[Problem]:
    """Each error but that of a missing key which stands there misspelt."""
    extra = [_loc(error) for error in errors if error["type"] == "extra_forbidden"]
    meant = {(*loc[:-1], _meant(kind, loc, document)) for loc in extra}
    problems = []
    for error in errors:
        loc, missing = _loc(error), error["type"] == "missing"
        if not missing or loc not in meant:
            named = loc if missing else document.known(loc)
            problems.append(document.problem(loc, _message(error, kind, document), named=named))
    return problems


def _message(error: ErrorDetails, kind: type[Model], document: Document) -> str:  # noqa: PLR0911 - one return a type of error
    loc, value = _loc(error), error.get("input")
    match error["type"]:
        case "value_error":
            return str(error["ctx"]["error"])
        case "missing":
            return f"is missing{_told_of(kind, loc)}"
        case "extra_forbidden" if value is None and " " in str(loc[-1]):
            return "is no key; inside {...} a comma ends a value: put text that has commas in quotes"
        case "extra_forbidden":
            return _unknown_key(kind, loc, document)
        case "literal_error" if isinstance(value, str):
            return unknown("word", value, re.findall(r"'([^']*)'", error["ctx"]["expected"]))
        case _ if value is None:
            return _NO_VALUE
        case "model_type" | "dict_type" | "model_attributes_type":
            return f"expected keys{_such_as(kind, loc)}, found {kind_of(value)}"
        case "tuple_type" | "list_type":
            return f"expected a list, found {kind_of(value)}"
        case "literal_error" | "string_type":
            return f"expected a word, found {kind_of(value)}"
        case _:
            return error["msg"][0].lower() + error["msg"][1:]


def _loc(error: ErrorDetails) -> Loc:
    """Where it is, without pydantic's word for a key of a mapping."""
    return tuple(step for step in error["loc"] if step != "[key]")


def _unknown_key(kind: type[Model], loc: Loc, document: Document) -> str:
    word, guess = str(loc[-1]), _meant(kind, loc, document)
    if guess is not None:
        return f"unknown key `{word}`; did you mean `{guess}`?"
    return unknown("key", word, _keys_at(kind, loc[:-1]))


def _meant(kind: type[Model], loc: Loc, document: Document) -> str | None:
    """The key that an unknown one at ``loc`` most likely stands for.

    It is that of a known mistake, else the nearest, else that of the nearest mistake.
    """
    here, word = _at(kind, loc[:-1]), str(loc[-1])
    mistakes: Mapping[str, str] = {}
    if isinstance(here, type) and issubclass(here, Model):
        is_port = here.port_mistakes and not {NETWORK, *_names(document.tree.get("traffic"))} & set(loc)
        mistakes = here.port_mistakes if is_port else here.mistakes
    near = nearest(word, _keys_at(kind, loc[:-1]))
    return mistakes.get(word.casefold()) or near or mistakes.get(nearest(word, mistakes) or "")


def _names(tree: object) -> set[object]:
    """The names of the items of a list, each below its kind, as the traffic is written."""
    items = [item for item in tree if isinstance(item, dict)] if isinstance(tree, list) else []
    below = [of for item in items for of in item.values() if isinstance(of, dict)]
    return {name for of in below if isinstance(name := of.get("name"), str)}


def _such_as(kind: type[Model], loc: Loc) -> str:
    keys = _keys_at(kind, loc)
    return f" such as {', '.join(keys[:3])}" if keys else ""


def _told_of(kind: type[Model], loc: Loc) -> str:
    """What is said of the key at ``loc`` where it is described, as the rest of a sentence."""
    here = _at(kind, loc[:-1])
    fields = _fields(here) if isinstance(here, type) and issubclass(here, Model) else {}
    field = fields.get(str(loc[-1]))
    if field is None or not field.description:
        return ""
    text = field.description.removesuffix(".")
    # An abbreviation stays as it is.
    told = text if text[1:2].isupper() else text[0].lower() + text[1:]
    keys = _such_as(kind, loc)
    return f": {told}" + (f"; keys{keys}" if keys else "")


def _keys_at(kind: type[Model], loc: Loc) -> tuple[str, ...]:
    """The keys that may stand in the mapping at ``loc``, none if any may."""
    here = _at(kind, loc)
    return tuple(_fields(here)) if isinstance(here, type) and issubclass(here, Model) else ()


def _at(kind: type[Model], loc: Loc) -> Any:  # noqa: ANN401 - whatever an annotation may be
    """What stands at ``loc``: a model, or another annotation; None where there is no such key."""
    here: Any = kind
    for step in loc:
        if isinstance(here, type) and issubclass(here, Model):
            fields = _fields(here)
            if step not in fields:
                return None
            here = _bare(fields[str(step)].annotation)
        else:
            here = _bare(get_args(here)[0] if isinstance(step, int) else get_args(here)[-1])
    return here


def _fields(kind: type[Model]) -> dict[str, FieldInfo]:
    return {field.alias or name: field for name, field in kind.model_fields.items()}


def _bare(annotation: Any) -> Any:  # noqa: ANN401 - whatever an annotation may be
    """An annotation without Annotated and without None."""
    origin = get_origin(annotation)
    if origin in (Annotated, Union, types.UnionType):
        return _bare(next(member for member in get_args(annotation) if member is not type(None)))
    return annotation
