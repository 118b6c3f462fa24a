"""Help at the prompt: as wide as the terminal, and nothing in it that is refused."""

from __future__ import annotations

import pytest
from test_shell import CASE, PLAN

from wirelab.errors import InputError
from wirelab.shell.completion import completions
from wirelab.shell.help import help_text


@pytest.mark.parametrize("columns", [38, 80, 120])
def test_help_is_as_wide_as_the_terminal(columns: int) -> None:
    """Lines end between words, so that no terminal breaks one; not a word is lost by it."""
    for word in (None, "run", "step", "set"):
        text = help_text(word, PLAN, columns)
        assert max(map(len, text.splitlines())) <= columns
        assert text.split() == help_text(word, PLAN, 10_000).split()


def test_where_nothing_may_be_changed_help_has_nothing_that_changes_it() -> None:
    """Neither in its list nor among the words that complete a line."""
    whole = help_text(None, PLAN, 120, is_fixed=True)
    assert "SETTING" not in whole
    assert {"again", "save", "show"} <= set(whole.split())
    with pytest.raises(InputError, match="unknown command `set`"):
        help_text("set", PLAN, 120, is_fixed=True)
    for line in ("", "help "):
        assert "set" in completions(line, PLAN, CASE)
        assert "set" not in completions(line, PLAN, CASE, is_fixed=True)
    assert completions("again ", PLAN, CASE, is_fixed=True) == []
    assert completions("show module.h", PLAN, CASE, is_fixed=True) == ["module.host"]
