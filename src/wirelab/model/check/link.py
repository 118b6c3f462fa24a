"""What is wrong with the speed and duplex that ports are forced to, or offer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wirelab.model.check.conflict import Conflict
from wirelab.model.linking import advertised, duplex, forced_mode, is_slot_side, offered_modes
from wirelab.model.modes import HALF_DUPLEX_ENDS, MODES, Mode, listed
from wirelab.model.parts import Nic

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wirelab.model.check.conflict import Blame
    from wirelab.model.topology import PortRef
    from wirelab.model.wiring import Wiring


def link_problems(wiring: Wiring, ref: PortRef) -> Iterator[Blame]:
    """What a port cannot be set to."""
    modes = wiring.modes(ref)
    asked_bps = wiring.asked_speed_bps(ref)
    forced = forced_mode(wiring, ref)
    who = f"`{wiring.topology.label(ref)}` ({_part(wiring, ref)})"
    if asked_bps is not None and asked_bps not in {mode.speed_bps for mode in modes}:
        speeds = dict.fromkeys(Mode(mode.speed_bps) for mode in modes)
        yield f"{who} does not link at {Mode(asked_bps)}, only at {listed(speeds)}", ("speed",)
    elif asked_bps and forced and forced not in modes and not is_slot_side(wiring, ref):
        half_too_fast = forced.duplex == "half" and forced not in MODES
        reason = HALF_DUPLEX_ENDS if half_too_fast else f"it has {listed(modes)}"
        yield f"{who} does not link at {forced}: {reason}", ("duplex", "speed")
    problems = list(_advertise_problems(wiring, ref, who))
    yield from problems
    if forced is None and not problems and not offered_modes(wiring, ref):
        only = duplex(wiring, ref)
        rest = f" in {only} duplex" if only else ""
        yield f"{who} would advertise nothing{rest}: it has {listed(modes)}", ("advertise", "duplex")


def _advertise_problems(wiring: Wiring, ref: PortRef, who: str) -> Iterator[Blame]:
    wanted = advertised(wiring, ref)
    if wanted is None:
        return
    if wiring.asked_speed_bps(ref) is not None:
        yield f"{who} has a forced speed and advertises nothing: set its speed to `auto`", ("advertise",)
        return
    modes = wiring.modes(ref)
    setting = wiring.setting(ref, "advertise")
    missing = [mode for mode in wanted if mode not in modes]
    if missing and setting is not None and ".." not in str(setting.value):
        yield f"{who} does not link at {listed(missing)}, only at {listed(modes)}", ("advertise",)


def cable_conflicts(wiring: Wiring, index: int, ends: tuple[PortRef, PortRef]) -> Iterator[Conflict]:
    """Two ends that are forced to different speeds.

    One end that negotiates and one that is forced are nothing wrong: whether there is a link then,
    and in which duplex, is what the lab shows.
    """
    modes = [forced_mode(wiring, ref) for ref in ends]
    if modes[0] is None or modes[1] is None or modes[0].speed_bps == modes[1].speed_bps:
        return
    one, other = (
        f"`{wiring.topology.label(ref)}` at {Mode(mode.speed_bps)}"
        for ref, mode in zip(ends, modes, strict=True)
        if mode is not None
    )
    message = f"the two ends of a cable differ: {one}, {other}"
    setting = wiring.setting(ends[0], "speed") or wiring.setting(ends[1], "speed")
    yield Conflict(message, setting, ("cables", index, "speed"))


def _part(wiring: Wiring, ref: PortRef) -> str | None:
    is_nic = isinstance(wiring.device(ref.node), Nic)
    return wiring.nic_name(ref.node) if is_nic else wiring.part_name(ref.node)
