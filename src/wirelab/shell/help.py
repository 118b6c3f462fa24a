"""What can be said at the prompt, and an example of each."""

import textwrap
from collections.abc import Mapping
from typing import Final

from wirelab.errors import InputError, unknown
from wirelab.plan.types import Plan

_WORDS: Final = {
    "start": (
        "start [FLOW...]",
        "start the scenario's traffic by its timetable, or these flows at once",
        "No time passes: `run` lets them go. `start download` begins with the download alone.",
    ),
    "run": (
        "run TIME | run until CONDITION [within TIME]",
        "let time pass: `run 10 ms`, `run until module.line drops`",
        """A condition is one of
  PORT drops | pauses | sends | receives
  PORT.queue | PORT.buffer > SIZE     also <, >= and <=
  PORT.rx_ring > FRAMES
  FLOW.cwnd | ssthresh | in_flight | lost | retransmits < SEGMENTS
  FLOW.srtt | rto > TIME
The network stands at the end of the instant at which it comes true, or after 60 s without that.""",
    ),
    "step": (
        "step [COUNT]",
        "go on to the next instant at which something happens to a frame",
        """It tells all that happens at that instant, and what a port has noticed only then, each with the
instant at which it was.""",
    ),
    "show": (
        "show [NODE | PORT]...",
        "every queue, ring and buffer, and the frames in it",
        """Frames have numbers; what a card has still to cut into segments has none yet. Of other queues than
plain FIFOs (fq_codel, netem and so on) it tells how many frames they hold.""",
    ),
    "where": (
        "where FRAME",
        "the way of a frame so far: `where 107`",
        "Its number is in `show` and `step`.",
    ),
    "back": (
        "back TIME",
        "to so much time ago: `back 200 us`",
        """The lab runs again from its beginning to there, with all that was done until then: it is the same
run. It does not go into the middle of a command at a node, but to where that began.""",
    ),
    "set": (
        "set SETTING VALUE",
        "change a setting while the network is up: `set module.fifo 32 KiB`",
        "As in `with` of a scenario. What cannot change while it is up says so: `again` begins anew.",
    ),
    "again": (
        "again [SETTING VALUE]",
        "from the beginning, with all that was set and perhaps one thing more",
        "`again module.fifo 64 KiB`: the same network with another FIFO, at 0 ms.",
    ),
    "save": (
        "save FILE.yaml",
        "the network as it is set by now, as a scenario",
        "`wirelab run FILE.yaml` runs it. Commands at nodes are not in it.",
    ),
    "watch": (
        "watch TIME [at TIME]",
        "let time pass, so much of it a second, and see it: `watch 10 ms at 1 ms`",
        "Without a terminal the pictures come one below the other, as fast as they can.",
    ),
    "help": ("help [WORD]", "this, or more of one word", ""),
    "quit": ("quit", "the end; Ctrl-D does the same", ""),
}
_WHERE_FIXED: Final = {
    "again": ("again", "from the beginning, at 0 ms", "Nothing of the network is changed."),
}
"""What is left where settings may not be changed: `set` is not there at all."""
_WIDEST: Final = 24
_NARROW: Final = 60
"""In fewer columns a form has a line of its own."""
_INDENT: Final = 4
_PROGRAM: Final = ("NODE COMMAND...", "a program at a node: `client ping -c 3 server`")
_CLOSING: Final = (
    "Time stands still at the prompt. Names of hosts among the arguments of a command are their addresses; "
    "with & at its end it goes on in the background. Ctrl-C ends what runs, not the network."
)


def help_text(word: str | None, plan: Plan, columns: int, *, is_fixed: bool = False) -> str:
    """All that can be said, or more of one word, in lines of ``columns``. Raises InputError for no word.

    ``is_fixed``: settings may not be changed, so what changes them is left out.
    """
    words = _words(is_fixed=is_fixed)
    if word:
        if word not in words:
            raise InputError(unknown("command", word, words))
        form, short, more = words[word]
        lines = [form, f"  {short}", *more.splitlines()]
        return "".join(f"{_wrapped(line, columns, _INDENT)}\n" for line in lines)
    rows = [(form, short) for form, short, _ in words.values()]
    rows.insert(-2, _PROGRAM)
    nodes = ", ".join(node.name for node in plan.nodes)
    ending = ["", _wrapped(f"nodes: {nodes}", columns, _INDENT), _wrapped(_CLOSING, columns, 0)]
    return "\n".join([*_listed(rows, columns), *ending]) + "\n"


def _words(*, is_fixed: bool) -> Mapping[str, tuple[str, str, str]]:
    if not is_fixed:
        return _WORDS
    return {word: _WHERE_FIXED.get(word, said) for word, said in _WORDS.items() if word != "set"}


def _listed(rows: list[tuple[str, str]], columns: int) -> list[str]:
    width = max(len(form) for form, _ in rows if len(form) <= _WIDEST)
    if columns < _NARROW:
        width = _INDENT - 2
    lines = []
    for form, short in rows:
        begun = form
        if len(form) > width:
            lines.append(_wrapped(form, columns, _INDENT))
            begun = ""
        lines.append(_wrapped(f"{begun:<{width}}  {short}", columns, width + 2))
    return lines


def _wrapped(line: str, columns: int, indent: int) -> str:
    """A line of words in lines that are no longer than ``columns``, those after the first indented."""
    return textwrap.fill(
        line,
        max(columns, 2 * _INDENT),
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
