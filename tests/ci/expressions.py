"""GitHub's expressions, as far as these workflows use them: what is in ``${{ }}`` and behind ``if:``."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

_TOKEN: Final = re.compile(
    r"\s*(?:(?P<text>'(?:[^']|'')*')|(?P<number>\d+)|(?P<name>[A-Za-z_][\w.-]*)|(?P<sign>\|\||&&|==|!=|[!()]))"
)
_HOLE: Final = re.compile(r"\$\{\{(.*?)\}\}", re.DOTALL)
_STATUS: Final = re.compile(r"\b(?:always|cancelled|failure|success)\(\)")


@dataclass
class Reader:
    """Reads one expression; ``contexts`` are what its names are looked up in, ``failed`` how things stand."""

    text: str
    contexts: Mapping[str, Any]
    failed: bool = False
    at: int = 0

    def read(self) -> Any:  # noqa: ANN401 - whatever it comes to
        """Its value."""
        value = self._any()
        assert not self.text[self.at :].strip(), f"not understood: {self.text[self.at :]!r} of {self.text!r}"
        return value

    def _next(self, *signs: str) -> str | None:
        match = _TOKEN.match(self.text, self.at)
        if match and match["sign"] in signs:
            self.at = match.end()
            return match["sign"]
        return None

    def _any(self) -> Any:  # noqa: ANN401
        value = self._all()
        while self._next("||"):
            other = self._all()
            value = value or other
        return value

    def _all(self) -> Any:  # noqa: ANN401
        value = self._compared()
        while self._next("&&"):
            other = self._compared()
            value = value and other
        return value

    def _compared(self) -> Any:  # noqa: ANN401
        value = self._one()
        sign = self._next("==", "!=")
        return value if sign is None else (value == self._one()) is (sign == "==")

    def _one(self) -> Any:  # noqa: ANN401
        if self._next("!"):
            return not self._one()
        if self._next("("):
            value = self._any()
            assert self._next(")"), self.text
            return value
        match = _TOKEN.match(self.text, self.at)
        assert match, f"not understood: {self.text[self.at :]!r}"
        self.at = match.end()
        if match["text"]:
            return match["text"][1:-1].replace("''", "'")
        if match["number"]:
            return int(match["number"])
        if self._next("("):
            value = None if self._next(")") else self._any()
            assert value is None or self._next(")"), self.text
            return self._called(match["name"], value)
        return self._looked_up(match["name"])

    def _called(self, name: str, value: Any) -> Any:  # noqa: ANN401
        if name == "fromJSON":
            return json.loads(value)
        states = {"always": True, "cancelled": False, "failure": self.failed, "success": not self.failed}
        return states[name]

    def _looked_up(self, name: str) -> Any:  # noqa: ANN401
        value: Any = self.contexts
        for part in name.split("."):
            assert value is not self.contexts or part in value, f"no context {part} in {self.text!r}"
            value = value.get(part, "") if hasattr(value, "get") else ""
        return value


def filled(text: Any, contexts: Mapping[str, Any]) -> Any:  # noqa: ANN401 - whatever YAML has
    """A value of a workflow with every ``${{ }}`` in it replaced; one that is nothing else keeps its type."""
    if not isinstance(text, str):
        return text
    whole = _HOLE.fullmatch(text.strip())
    if whole and whole[1].count("${{") == 0:
        return Reader(whole[1], contexts).read()
    return _HOLE.sub(lambda hole: as_text(Reader(hole[1], contexts).read()), text)


def as_text(value: Any) -> str:  # noqa: ANN401
    """A value as GitHub hands it on in an environment."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


def holds(condition: str | None, contexts: Mapping[str, Any], *, failed: bool) -> bool:
    """Whether an ``if:`` does; one that asks for no status holds only while nothing has failed."""
    if condition is None:
        return not failed
    whole = _HOLE.fullmatch(condition.strip())
    text = whole[1] if whole else condition
    asked = bool(_STATUS.search(text))
    return (asked or not failed) and bool(Reader(text, contexts, failed).read())
