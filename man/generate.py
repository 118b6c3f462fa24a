"""Writes wirelab.1: what ``--help`` says of every command, as a page for man(1).

    PYTHONPATH=src python man/generate.py

Run it after a change of the command line; a test compares.
"""

from __future__ import annotations

import inspect
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import typer

import wirelab
from wirelab.cli.app import app
from wirelab.cli.errors import INTERRUPTED
from wirelab.errors import InputError
from wirelab.lab.cache import Cache
from wirelab.verdict.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE: Final = Path(__file__).parent / "wirelab.1"
WIDTH: Final = 72


def page() -> str:
    """The whole page, in the macros of man(7)."""
    # Some versions of typer build on click, others on their own copy of it: no type of either is named.
    root: Any = typer.main.get_command(app)
    summary = _first_line(root.help).rstrip(".")
    lines = [
        '.\\" Made by man/generate.py from the help of the commands; change it there.',
        f'.TH WIRELAB 1 "" "wirelab {_escaped(wirelab.__version__)}" "User Commands"',
        ".SH NAME",
        *_text(f"wirelab - {summary[:1].lower() + summary[1:]}"),
        ".SH SYNOPSIS",
        ".B wirelab",
        *(f"[{_term(option)}]" for option in _options(root)),
        ".br",
        ".B wirelab",
        "\\fICOMMAND\\fR [\\fIOPTION\\fR]... [\\fIARGUMENT\\fR]...",
        ".SH DESCRIPTION",
        *_paragraphs(inspect.getdoc(wirelab) or ""),
        ".SH OPTIONS",
        *_list(_options(root)),
        ".SH COMMANDS",
        *_commands(root, ()),
        ".SH EXIT STATUS",
        *_exit_status(),
        ".SH FILES",
        *_paragraphs(_first_line(inspect.getdoc(Cache.at))),
    ]
    return "".join(f"{line}\n" for line in lines)


def _commands(group: Any, path: tuple[str, ...]) -> Iterator[str]:  # noqa: ANN401 - see page()
    for name, command in group.commands.items():
        here = (*path, name)
        if hasattr(command, "commands"):
            yield from _commands(command, here)
            continue
        arguments = [param for param in command.params if param.param_type_name == "argument"]
        options = _options(command)
        words = [_escaped(word) for word in ("wirelab", *here)]
        rest = ["[\\fIOPTION\\fR]..."] if options else []
        rest += [_term(argument) for argument in arguments]
        yield f'.SS "{" ".join([*words, *rest])}"'
        yield from _paragraphs(command.help)
        yield from _list([*arguments, *options])


def _options(command: Any) -> list[Any]:  # noqa: ANN401 - see page()
    return [param for param in command.params if param.param_type_name == "option" and not param.hidden]


def _list(params: list[Any]) -> Iterator[str]:
    for param in params:
        yield ".TP"
        yield _term(param)
        yield from _text(_sentence(param))


def _term(param: Any) -> str:  # noqa: ANN401 - see page()
    """How a parameter is written: its names, and where it has one its value."""
    value = f"\\fI{_escaped(param.metavar or param.name.upper())}\\fR"
    if param.param_type_name == "argument":
        return value if param.required or param.metavar.startswith("[") else f"[{value}]"
    names = ", ".join(f"\\fB{_escaped(name)}\\fR" for name in [*param.opts, *param.secondary_opts])
    return names if param.is_flag else f"{names} {value}"


def _sentence(param: Any) -> str:  # noqa: ANN401 - see page()
    told = " ".join((param.help or "").split())
    shown = isinstance(param.default, int | float | str | Path) and not isinstance(param.default, bool)
    return f"{told} [default: {param.default}]" if shown else told


def _exit_status() -> Iterator[str]:
    meanings = {verdict.exit_code: verdict.value for verdict in Verdict}
    meanings |= {InputError.exit_code: "bad input", INTERRUPTED: "interrupted"}
    for code, word in sorted(meanings.items()):
        yield from (".TP", f".B {code}", word)


def _paragraphs(text: str) -> Iterator[str]:
    for number, paragraph in enumerate(inspect.cleandoc(text).split("\n\n")):
        # The heading above begins the first one.
        if number:
            yield ".PP"
        yield from _text(paragraph)


def _text(text: str) -> list[str]:
    return [_escaped(line) for line in textwrap.wrap(" ".join(text.split()), WIDTH)]


def _first_line(text: str | None) -> str:
    return inspect.cleandoc(text or "").partition("\n")[0]


def _escaped(text: str) -> str:
    """Text that roff takes as it is; a hyphen stays the one that can be typed."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
