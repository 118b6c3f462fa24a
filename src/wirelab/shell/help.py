"""What can be said at the prompt, and an example of each."""

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
_WIDEST: Final = 24
_PROGRAM: Final = ("NODE COMMAND...", "a program at a node: `client ping -c 3 server`")
_CLOSING: Final = (
    "Time stands still at the prompt. Names of hosts among the arguments of a command are their addresses;\n"
    "with & at its end it goes on in the background. Ctrl-C ends what runs, not the network."
)


def help_text(word: str | None, plan: Plan) -> str:
    """All that can be said, or more of one word. Raises InputError for one that is none."""
    if word:
        if word not in _WORDS:
            raise InputError(unknown("command", word, _WORDS))
        form, short, more = _WORDS[word]
        return f"{form}\n  {short}\n" + (f"{more}\n" if more else "")
    rows = [(form, short) for form, short, _ in _WORDS.values()]
    rows.insert(-2, _PROGRAM)
    width = max(len(form) for form, _ in rows if len(form) <= _WIDEST)
    lines = [
        f"{form:<{width}}  {short}" if len(form) <= width else f"{form}\n{'':<{width}}  {short}"
        for form, short in rows
    ]
    nodes = ", ".join(node.name for node in plan.nodes)
    return "\n".join([*lines, "", f"nodes: {nodes}", _CLOSING]) + "\n"
