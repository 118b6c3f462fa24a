"""What is wrong with the egress queue of a port, and with the priorities it pauses."""

from collections.abc import Iterator
from typing import Final

from wirelab.model.check import Blame
from wirelab.model.ethernet import frame_bytes
from wirelab.model.setting_table import settings_of
from wirelab.model.settings import FRAMES, STATIC, Target, is_time
from wirelab.model.shaping import held_bytes, is_shaped
from wirelab.model.topology import PortRef
from wirelab.model.wiring import Wiring
from wirelab.units import SIZE, TIME, parse, show

HOST_QUEUE: Final = "fq_codel"
FORWARDING_QUEUE: Final = "bfifo"
BYTE_LIMITED: Final = ("bfifo", "cake", "red")
FRAME_LIMITED: Final = ("pfifo", "fq", "fq_codel")
ALWAYS_MARKS: Final = "cake"
MAY_MARK: Final = ("fq_codel", "red")
RED: Final = "red"
_RED_SETTINGS: Final = ("red_min", "red_max", "red_probability")


def usual_queue(wiring: Wiring, ref: PortRef) -> str:
    """The egress queue of a port where nobody asks for another: a modem, too, has a plain FIFO."""
    if wiring.value(ref, "shape.kind") == ALWAYS_MARKS:
        return ALWAYS_MARKS
    forwards = wiring.topology.nodes[ref.node].kind == "switch"
    return FORWARDING_QUEUE if forwards or wiring.of_line(ref, "queue_limit") is not None else HOST_QUEUE


def queue_problems(wiring: Wiring, ref: PortRef) -> Iterator[Blame]:
    """A limit in what the queue does not count, marks it does not make, PFC beside what excludes it."""
    kind = wiring.topology.nodes[ref.node].kind
    setting = wiring.setting(ref, "queue")
    usual = usual_queue(wiring, ref)
    queue = usual if setting is None else str(setting.value)
    yield from _limit_problems(wiring, ref, queue)
    if kind == "switch" and queue != usual and wiring.value(ref, "alpha") not in (None, STATIC):
        yield f"`{queue}` has limits of its own: `alpha` is for `{usual}`", ("queue", "alpha")
    ecn = wiring.setting(ref, "ecn")
    if ecn is not None and kind != "host":
        if queue == ALWAYS_MARKS and not ecn.value:
            yield f"`{queue}` always marks where it can", ("ecn",)
        elif queue not in (ALWAYS_MARKS, *MAY_MARK) and ecn.value:
            able = f"set `queue: {MAY_MARK[0]}`, `queue: {MAY_MARK[1]}` or `queue: {ALWAYS_MARKS}`"
            yield f"a `{queue}` queue cannot mark, it only drops: {able}", ("ecn",)
    yield from _priority_problems(wiring, ref)
    yield from _red_problems(wiring, ref, queue)


def _red_problems(wiring: Wiring, ref: PortRef, queue: str) -> Iterator[Blame]:
    """Thresholds without RED, RED without thresholds, or in the wrong order."""
    said = {name: setting for name in _RED_SETTINGS if (setting := wiring.setting(ref, name))}
    if queue != RED:
        for name in said:
            yield f"`{name}` is for `queue: {RED}`, here it is `{queue}`", (name, "queue")
        return
    missing = [name for name in ("red_min", "red_max") if name not in said]
    limit = wiring.value(ref, "queue_limit")
    if limit is None:
        missing.append("queue_limit")
    if missing:
        yield f"`{RED}` needs thresholds and a limit: set {', '.join(f'`{m}`' for m in missing)}", ("queue",)
        return
    least, most = (int(said[name].value) for name in ("red_min", "red_max"))
    if least == most and "red_probability" in said:
        yield "two equal thresholds are a step, which has no share: leave it out", ("red_probability",)
    elif least < most and "red_probability" not in said:
        yield "between two thresholds `red_probability` is missing, such as `10 %`", ("red_max", "red_min")
    if least > most:
        message = f"`red_min`, {show(least, SIZE)}, must not be above `red_max`, {show(most, SIZE)}"
        yield message, ("red_min", "red_max")
    elif isinstance(limit, int) and most > limit:
        message = f"`red_max`, {show(most, SIZE)}, is more than the queue holds, {show(limit, SIZE)}"
        yield message, ("red_max", "queue_limit")


def _limit_problems(wiring: Wiring, ref: PortRef, queue: str) -> Iterator[Blame]:
    limit = wiring.setting(ref, "queue_limit")
    if limit is None:
        return
    if is_time(text := str(limit.value)):
        if queue != FORWARDING_QUEUE:
            yield f"`{queue}` knows no time: a `{FORWARDING_QUEUE}` behind a shaper does", ("queue_limit",)
        elif not is_shaped(wiring, ref) and wiring.setting(ref, "rate") is None:
            message = f"`{text}` of what? Set `shape.rate`, or write a size such as `100 kB`"
            yield message, ("queue_limit",)
        else:
            yield from _time_problems(wiring, ref, text)
        return
    in_frames = isinstance(limit.value, str)
    if queue in BYTE_LIMITED and in_frames:
        yield f"`{queue}` counts bytes: write a size such as `100 kB`", ("queue_limit",)
    elif queue in FRAME_LIMITED and not in_frames:
        yield f"`{queue}` counts frames: write for example `1000{FRAMES}`", ("queue_limit",)
    elif queue not in (*BYTE_LIMITED, *FRAME_LIMITED):
        yield f"`{queue}` has no limit to set", ("queue_limit",)


def _time_problems(wiring: Wiring, ref: PortRef, text: str) -> Iterator[Blame]:
    """A time in which not one frame passes, or more than a queue can hold."""
    held, frame = held_bytes(wiring, ref, parse(text, TIME)), frame_bytes(wiring.mtu_bytes(ref))
    if held < frame:
        message = f"in `{text}` no more than {show(held, SIZE)} pass: that does not hold one frame"
        yield f"{message}, {show(frame, SIZE)}", ("queue_limit",)
    elif problem := settings_of("switch")["queue_limit"].problem(held, SIZE):
        yield f"`{text}` is too long: {problem}", ("queue_limit",)


def _priority_problems(wiring: Wiring, ref: PortRef) -> Iterator[Blame]:
    if not wiring.priorities(ref):
        if wiring.setting(ref, "trust") is not None:
            yield "`trust` is for a port with `pfc`, which sorts frames by priority", ("trust",)
        return
    for target in (Target(ref.node, ref.port), Target(ref.node)):
        for name in ("flow_control", "pause_rx", "pause_tx"):
            setting = wiring.settings.get((target, name))
            if setting is not None and setting.value and (target, "pfc") in wiring.settings:
                yield "PFC and PAUSE exclude each other on one port (IEEE 802.1Qbb)", ("pfc",)
                return
    if wiring.setting(ref, "queue") is not None:
        yield "a port with `pfc` has one plain queue for each priority", ("queue",)
    if wiring.setting(ref, "rate") is not None:
        yield "a shaper has one queue: a port with `pfc` has one for each priority", ("rate",)
    if wiring.setting(ref, "delay") or wiring.setting(ref, "loss") or wiring.loss_ppm(ref):
        yield "a long path begins at a port without `pfc`", ("delay", "loss")
