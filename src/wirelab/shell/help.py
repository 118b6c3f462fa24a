"""What can be said at the prompt, and an example of each."""

from typing import Final

from wirelab.errors import InputError, unknown
from wirelab.plan.types import Plan

_WORDS: Final = {
    "start": (
        "start [FLOW...]",
        "start the scenario's traffic by its timetable, or these flows at once",
        "No time passes: `run` lets them go. `start download` begins with the download, and leaves out the rest.",
    ),
    "run": (
        "run TIME | run until CONDITION [within TIME]",
        "let time pass: `run 10 ms`, `run until module.line drops`",
        "A condition is one of\n"
        "  PORT drops | pauses | sends | receives\n"
        "  PORT.queue | PORT.buffer > SIZE     also <, >= and <=\n"
        "  PORT.rx_ring > FRAMES\n"
        "  FLOW.cwnd | ssthresh | in_flight | lost | retransmits < SEGMENTS\n"
        "  FLOW.srtt | rto > TIME\n"
        "The network stands at the end of the instant at which it comes true, or after 60 s without that.",
    ),
    "step": (
        "step [COUNT]",
        "go on to the next instant at which something happens to a frame, and tell what",
        "Whatever else happens at that instant is told, too.",
    ),
    "show": (
        "show [NODE | PORT]...",
        "every queue, ring and buffer, and the frames in it",
        "Frames have numbers. One that a card will still cut into segments has none yet. Of other queues than"
        " plain FIFOs (fq_codel, netem and so on) it tells how many frames they hold.",
    ),
    "where": ("where FRAME", "the way of a frame so far: `where 107`", "Its number is in `show` and `step`."),
    "back": (
        "back TIME",
        "to so much time ago: `back 200 us`",
        "The lab runs again, from its beginning to there, with all that was done until then: it is the same"
        " run. Into the middle of a command at a node it does not go, but to where that began.",
    ),
    "set": (
        "set SETTING VALUE",
        "change a setting while the network is up: `set module.fifo 32 KiB`",
        "As in `with` of a scenario. What cannot change while it is up says so, and why: `again` begins anew.",
    ),
    "again": (
        "again [SETTING VALUE]",
        "from the beginning, with all that was set, and perhaps one setting more",
        "`again module aqr113c`: the same network with another module, at 0 ms.",
    ),
    "save": (
        "save FILE.yaml",
        "the network as it is set by now, as a scenario",
        "`wirelab run FILE.yaml` runs it. Commands at nodes are not in it.",
    ),
    "watch": (
        "watch TIME [at TIME]",
        "let time pass and see queues and buffers, so much of it a second: `watch 10 ms at 1 ms`",
        "Without a terminal the pictures come one below the other, as fast as they can.",
    ),
    "help": ("help [WORD]", "this, or more of one word", ""),
    "quit": ("quit", "end; Ctrl-D does the same", ""),
}
_PROGRAM: Final = "NODE COMMAND...", "a program at a node, in virtual time: `client ping -c 3 server`"
_CLOSING: Final = (
    "Time stands still at the prompt. Names of hosts among the arguments of a command are their addresses; with\n"
    "& at its end it goes on in the background. Ctrl-C ends what runs, not the network."
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
    longest = max(len(form) for form, _ in rows if len(form) < _WIDE)
    lines = [
        f"{form:<{longest}}  {short}" if len(form) < _WIDE else f"{form}\n{'':<{longest}}  {short}"
        for form, short in rows
    ]
    nodes = ", ".join(node.name for node in plan.nodes)
    return "\n".join([*lines, "", f"nodes: {nodes}", _CLOSING]) + "\n"


_WIDE: Final = 30
