"""Series: ``pc1..pc24`` stands for 24 names, and what they stand in is written once for all of them.

A key that is a series stands for as many keys. An item of a list at the top (a cable, a flow) stands for as
many items as the series in it have members: the first of each, the second of each...
"""

import itertools
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from wirelab.errors import InputError, Problem
from wirelab.model.yamlfile import MOST_VALUES, Document, Loc, Place, Tree

LONGEST: Final = 254
"""Members of a series: as many hosts as a lab has addresses for."""

_SERIES: Final = re.compile(
    r"(?P<head>(?:[a-z][a-z0-9-]*\.)?(?P<word>[a-z](?:[a-z0-9-]*[a-z-])?))(?P<first>[0-9]{1,9})"
    r"\.\.(?P=word)(?P<last>[0-9]{1,9})(?P<tail>(?:\.[a-z0-9_.]+)?)",
    re.ASCII,
)


def written_out(document: Document) -> Document:
    """``document`` with each series written out; every copy has the place of what it is made from.

    A series that counts down or is too long and series of one item that differ in length are among its
    problems. Raises InputError for more keys and values than a file may have.
    """
    return _Writer(document).document()


class _Writer:
    """Copies a tree, with the places of everything in it."""

    def __init__(self, document: Document) -> None:
        self._read = document
        self._keys: dict[Loc, Place] = {}
        self._values: dict[Loc, Place] = {}
        self._origins: dict[Loc, Loc] = {}
        self._problems: dict[Problem, None] = {}

    def document(self) -> Document:
        root = self._copy(self._read.root, (), (), None)
        problems = (*self._read.problems, *self._problems)
        return replace(
            self._read,
            root=root,
            keys=self._keys,
            values=self._values,
            problems=problems,
            origins=self._origins,
        )

    def _copy(self, value: Tree, old: Loc, new: Loc, member: int | None) -> Tree:
        """The copy at ``new`` of what stands at ``old``; ``member`` is which of several it is."""
        if len(self._values) >= MOST_VALUES:
            limit = f"the limit of {MOST_VALUES} keys and values in a file"
            raise InputError.of([self._read.problem(old, f"is beyond {limit}, with its series written out")])
        self._values[new] = self._read.values[old]
        if isinstance(value, dict):
            return self._mapping(value, old, new, member)
        if isinstance(value, list):
            return self._list(value, old, new, member)
        if member is None or value is None:
            return value
        names = self._members(value, old)
        return names[min(member, len(names) - 1)] if names else value

    def _mapping(self, mapping: dict[str, Any], old: Loc, new: Loc, member: int | None) -> Tree:
        copies: dict[str, Any] = {}
        for key, value in mapping.items():
            at = (*old, key)
            names = self._members(key, at)
            for index, name in enumerate(names or [key]):
                here = (*new, name)
                if name in copies:
                    self._report(at, f"duplicate key, `{name}` is first on line {self._keys[here].line}")
                    continue
                self._keys[here] = self._read.keys[at]
                if names:
                    self._origins[here] = at
                copies[name] = self._copy(value, at, here, index if names else member)
        return copies

    def _list(self, items: list[Any], old: Loc, new: Loc, member: int | None) -> Tree:
        copies: list[Any] = []
        for index, item in enumerate(items):
            at = (*old, index)
            count = self._copies(item, at) if len(old) == 1 else 0
            for which in range(count or 1):
                here = (*new, len(copies))
                if here != at:
                    self._origins[here] = at
                copies.append(self._copy(item, at, here, which if count else member))
        return copies

    def _copies(self, item: Tree, loc: Loc) -> int:
        """How many items an item stands for, 0 where it has no series."""
        counts = {at: len(self._members(text, at)) for at, text in _texts(item, loc)}
        most = max(counts.values(), default=0)
        for at, count in counts.items():
            # One member is what is left of a series that is wrong.
            if 1 < count < most:
                self._report(at, f"has {count} members, where another series of the same item has {most}")
        return most

    def _members(self, text: str, loc: Loc) -> list[str]:
        """The names that ``text`` stands for, none where it is no series."""
        series = _SERIES.fullmatch(text)
        if series is None:
            return []
        first, last = int(series["first"]), int(series["last"])
        if not first < last < first + LONGEST:
            self._report(loc, "counts down" if last <= first else f"has more than {LONGEST} members")
            last = first
        return [f"{series['head']}{number}{series['tail']}" for number in range(first, last + 1)]

    def _report(self, loc: Loc, message: str) -> None:
        self._problems[self._read.problem(loc, message)] = None


def _texts(tree: Tree, loc: Loc) -> Iterator[tuple[Loc, str]]:
    """Every text in a tree, with its place."""
    if isinstance(tree, str):
        yield loc, tree
    elif isinstance(tree, dict):
        yield from itertools.chain.from_iterable(_texts(value, (*loc, key)) for key, value in tree.items())
    elif isinstance(tree, list):
        yield from itertools.chain.from_iterable(_texts(item, (*loc, n)) for n, item in enumerate(tree))
