"""Reading YAML with the place of every key and value. The only module that imports yaml.

Every scalar stays the text that was written (``16 KiB``, ``0``, ``on``); what it means is for the
model to say. So a number is never rounded by the reader, and a message quotes what the author wrote.
"""

import functools
import itertools
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import yaml

from wirelab.errors import InputError, Problem
from wirelab.units import BYTES_PER_KIB

Loc = tuple[str | int, ...]
Tree = dict[str, Any] | list[Any] | str | None
Report = Callable[[Loc, str], None]
"""Takes what is wrong at a place of a document."""

_NULL: Final = ("", "~", "null")
_YAML_TAGS: Final = "tag:yaml.org,2002:"
_STRING_TAG: Final = f"{_YAML_TAGS}str"
_MERGE_TAG: Final = f"{_YAML_TAGS}merge"
LARGEST_KIB: Final = 256
DEEPEST: Final = 20
MOST_VALUES: Final = 5_000
"""Keys and values of one file: as many as describe 254 hosts and their cables, read in half a second."""
LONGEST_KEY: Final = 100
LONGEST_TEXT: Final = 4_000
# Controls, odd blanks, marks without a glyph and lone surrogates. YAML can write them as escapes ("\e"), and
# what a file says is shown on terminals.
_INVISIBLE: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\xa0\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202f\u2060-\u206f\ufeff\ud800-\udfff]"
)


@dataclass(frozen=True, slots=True)
class Place:
    """A line and column, both from 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Document:
    """A YAML file as a tree of dict, list, str and None, with the place of everything in it.

    ``problems`` are keys that stand twice or are no words; the tree is without them. Where items were
    left out of a top-level list, ``moved`` says at which index those after them stand in the file.
    ``origins`` says which key or item of the file one that was written out comes from. ``comment`` is the
    comment the file opens with.
    """

    file: str
    root: Tree
    keys: Mapping[Loc, Place]
    values: Mapping[Loc, Place]
    problems: tuple[Problem, ...] = ()
    moved: Mapping[Loc, int] = field(default_factory=dict)
    origins: Mapping[Loc, Loc] = field(default_factory=dict)
    comment: str = ""

    @property
    def tree(self) -> dict[str, Any]:
        """The top level, empty where the file is no mapping."""
        return self.root if isinstance(self.root, dict) else {}

    def written(self, loc: Loc) -> Loc:
        """Where in the file ``loc`` stands."""
        head = loc[:2]
        return (*head[:1], self.moved[head], *loc[2:]) if head in self.moved else loc

    def _origin(self, loc: Loc) -> Loc:
        """``loc`` as the file has it, where it is of what was written out."""
        heads = (loc[:end] for end in range(len(loc), 0, -1))
        return next(((*self.origins[head], *loc[len(head) :]) for head in heads if head in self.origins), loc)

    def known(self, loc: Loc) -> Loc:
        """The longest part of ``loc`` that the file has; what is below a key may be written with a dot."""
        parts = (loc[:end] for end in range(len(loc), 0, -1))
        both = ((part, (*part[:-1], *str(part[-1]).rsplit(".", 1))) for part in parts)
        return next((part for pair in both for part in pair if part in self.values), ())

    def place(self, loc: Loc) -> Place:
        """Where ``loc`` stands: its key if it has one, else its value, else the nearest parent's."""
        nearest = self.known(self.written(loc))
        return self.keys.get(nearest) or self.values.get(nearest) or Place(1, 1)

    def problem(self, loc: Loc, message: str, *, named: Loc | None = None) -> Problem:
        """A problem with what stands at ``loc``; ``named`` says what it is where that is another place."""
        place = self.place(loc)
        name = dotted(self._origin(self.written(loc) if named is None else named))
        # Within a value they are allowed, and would tear a message apart.
        told = message.replace("\t", " ").replace("\n", " ")
        return Problem(told, self.file, place.line, name or None, place.column)


def dotted(loc: Loc) -> str:
    """A place in the tree as a person names it: ``traffic[1].iperf3.to``."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in loc)
    # A key in quotes may have tabs and new lines, which would tear a message apart.
    return "".join(steps).removeprefix(".").replace("\t", " ").replace("\n", " ")


def read(path: Path) -> Document:
    """The file as a Document. Raises InputError if it cannot be read, is empty or is not YAML."""
    return parse(read_text(path), display(path))


def read_text(path: Path) -> str:
    """The text of a YAML file. Raises InputError if it cannot be read or is no text."""
    file = display(path)
    try:
        # Not more than that: it may have no end. A shell's <(...) is a pipe.
        with path.open("rb") as opened:
            raw = opened.read(LARGEST_KIB * BYTES_PER_KIB + 1)
    except FileNotFoundError:
        raise InputError("there is no such file", file=file) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", file=file) from None
    if len(raw) > LARGEST_KIB * BYTES_PER_KIB:
        raise InputError(f"is larger than the limit of {LARGEST_KIB} KiB", file=file)
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise InputError("is not UTF-8 text", file=file, line=line) from None


def parse(text: str, file: str) -> Document:
    """``text`` as the Document of ``file``. Raises InputError if it is empty or not YAML."""
    try:
        node = _compose(text)
    except _RefusedError as error:
        raise InputError.of([replace(error.problem, file=file)]) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise InputError(_sentence(error), file=file, line=mark.line + 1 if mark else None) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise InputError(f"has a character YAML forbids: {error.reason}", file=file, line=line) from None
    if node is None:
        raise InputError("is empty", file=file, line=1)
    reader = _Reader(file)
    root = reader.tree(node, ())
    return Document(
        file, root, reader.keys, reader.values, tuple(reader.problems), comment=_opening_comment(text)
    )


def display(path: Path) -> str:
    """``path`` as messages name it: relative where it lies below the current folder."""
    absolute = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow links the user never typed
    try:
        return str(absolute.relative_to(Path.cwd()))
    except ValueError:
        return str(path)


class _RefusedError(Exception):
    """YAML that is refused; ``problem`` does not name its file."""

    def __init__(self, message: str, mark: yaml.Mark, loc: Loc = ()) -> None:
        super().__init__(message)
        self.problem = Problem(message, None, mark.line + 1, dotted(loc) or None, mark.column + 1)


class _Limited(yaml.composer.Composer):
    """Composes nodes up to the limits, and no aliases or tags: they hide what a file says."""

    def __init__(self) -> None:
        yaml.composer.Composer.__init__(self)
        self._count = self._depth = 0
        self._loc: list[str | int] = []

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:  # noqa: ANN401 - as PyYAML has it
        event: Any = self.peek_event()  # type: ignore[attr-defined] # a parser's, which it is mixed with
        step = index.value if isinstance(index, yaml.ScalarNode) else index
        if isinstance(step, str | int):
            self._loc.append(step)
        self._count += 1
        self._depth += 1
        if isinstance(event, yaml.AliasEvent):
            message = f"aliases are not allowed here: write the value of `*{event.anchor}` out"
        elif tag := getattr(event, "tag", None):
            shown, _ = _legible(str(tag).replace(_YAML_TAGS, "!!"), LONGEST_KEY)
            message = f"tags are not allowed here: write the value without `{shown}`"
        elif self._depth > DEEPEST:
            message = f"is nested deeper than {DEEPEST} levels"
        elif self._count > MOST_VALUES:
            message = f"is beyond the limit of {MOST_VALUES} keys and values in a file"
        else:
            node = super().compose_node(parent, index)
            self._depth -= 1
            if isinstance(step, str | int):
                self._loc.pop()
            return node
        raise _RefusedError(message, event.start_mark, tuple(self._loc))


class _Loader(_Limited, yaml.SafeLoader):
    """PyYAML's own parser: the messages are its."""

    def __init__(self, text: str) -> None:
        yaml.SafeLoader.__init__(self, text)
        _Limited.__init__(self)


class _Reader:
    """Turns composed nodes into a tree, noting places and collecting duplicate keys."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.keys: dict[Loc, Place] = {}
        self.values: dict[Loc, Place] = {}
        self.problems: list[Problem] = []

    def tree(self, node: yaml.Node, loc: Loc) -> Tree:
        self.values[loc] = _place(node)
        if isinstance(node, yaml.MappingNode):
            return {key: self.tree(value, (*loc, key)) for key, value in self._pairs(node, loc)}
        if isinstance(node, yaml.SequenceNode):
            return [self.tree(item, (*loc, index)) for index, item in enumerate(node.value)]
        text, complaint = _legible(node.value, LONGEST_TEXT)
        if complaint:
            self._report(f"has {complaint}", _place(node), loc)
        return None if node.tag != _STRING_TAG and text.lower() in _NULL else text

    def _pairs(self, node: yaml.MappingNode, loc: Loc) -> Iterator[tuple[str, yaml.Node]]:
        for key, value in node.value:
            place = _place(key)
            if not isinstance(key, yaml.ScalarNode) or key.tag == _MERGE_TAG or not key.value.strip():
                self._report("a key must be a word", place, loc)
                continue
            word, complaint = _legible(key.value, LONGEST_KEY)
            here = (*loc, word)
            if complaint:
                self._report(f"this key has {complaint}", place, here)
                continue
            if here in self.keys:
                self._report(f"duplicate key, first on line {self.keys[here].line}", place, here)
                continue
            self.keys[here] = place
            yield word, value

    def _report(self, message: str, place: Place, loc: Loc) -> None:
        self.problems.append(Problem(message, self.file, place.line, dotted(loc) or None, place.column))


def _legible(text: str, longest: int) -> tuple[str, str | None]:
    """``text`` as it can be shown, and what is wrong with it."""
    invisible = _INVISIBLE.search(text)
    if invisible:
        return _INVISIBLE.sub("", text[:longest]), f"the invisible character U+{ord(invisible[0]):04X}"
    if len(text) > longest:
        return text[:longest], f"{len(text)} characters; the limit is {longest}"
    return text, None


# Every scenario draws on the same files of parts.
@functools.lru_cache(maxsize=64)
def _compose(text: str) -> yaml.Node | None:
    """The root node. Of what libyaml cannot read PyYAML's own parser says better what is wrong."""
    if not yaml.__with_libyaml__:
        return _compose_slowly(text)
    try:
        return _compose_quickly(text)
    except yaml.MarkedYAMLError as error:
        found = error
    except (yaml.reader.ReaderError, ValueError):
        return _compose_slowly(text)
    try:
        return _compose_slowly(text)
    except yaml.MarkedYAMLError as error:
        # What stops it earlier is sound: inside {...} it takes no question mark before a comma.
        # Of a text that ends too soon libyaml says a line that is not there.
        mine, other = error.problem_mark, found.problem_mark
        if mine and other and mine.index < other.index and text[mine.index :].strip():
            raise found from None
        raise error from None


def _compose_slowly(text: str) -> yaml.Node | None:
    loader = _Loader(text)
    try:
        return loader.get_single_node()
    except (ValueError, OverflowError):  # of chr() and int(), which PyYAML calls for whatever is written
        raise _RefusedError("is not YAML: a number or an escape is too large", loader.get_mark()) from None
    finally:
        loader.dispose()


def _compose_quickly(text: str) -> yaml.Node | None:
    # A PyYAML without libyaml does not have it.
    from yaml.cyaml import CParser  # type: ignore[attr-defined] # noqa: PLC0415

    class Loader(_Limited, CParser, yaml.resolver.Resolver):
        def __init__(self) -> None:
            CParser.__init__(self, text)
            _Limited.__init__(self)
            yaml.resolver.Resolver.__init__(self)

    return Loader().get_single_node()


def _opening_comment(text: str) -> str:
    lines = itertools.takewhile(lambda line: line.startswith("#"), text.splitlines())
    return "\n".join(line.removeprefix("#").removeprefix(" ").rstrip() for line in lines)


def _place(node: yaml.Node) -> Place:
    return Place(node.start_mark.line + 1, node.start_mark.column + 1)


def _sentence(error: yaml.MarkedYAMLError) -> str:
    problem = error.problem or "cannot be understood"
    if problem.startswith("but found") and error.context:
        problem = f"{error.context} {problem}"
    begin, end = error.context_mark, error.problem_mark
    if begin is not None and end is not None and begin.line < end.line:
        problem += f", in what begins on line {begin.line + 1}"
    return f"is not YAML: {problem}"
