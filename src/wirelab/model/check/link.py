"""What is wrong with the speed and duplex that ports are forced to, or offer."""

from collections.abc import Iterator

from wirelab.model.check import Blame
from wirelab.model.linking import advertised, duplex, forced_mode, is_slot_side, offered_modes
from wirelab.model.modes import HALF_DUPLEX_ENDS, MODES, Mode, listed
from wirelab.model.parts import Nic
from wirelab.model.topology import PortRef
from wirelab.model.wiring import Wiring


def link_problems(wiring: Wiring, ref: PortRef) -> Iterator[Blame]:
    """What a port cannot be set to, and what it cannot offer."""
    is_nic = isinstance(wiring.device(ref.node), Nic)
    part = wiring.nic_name(ref.node) if is_nic else wiring.part_name(ref.node)
    who = f"`{wiring.topology.label(ref)}` ({part})"
    modes = wiring.modes(ref)
    asked_bps = wiring.asked_speed_bps(ref)
    forced = forced_mode(wiring, ref)
    if asked_bps is not None and asked_bps not in {mode.speed_bps for mode in modes}:
        speeds = dict.fromkeys(Mode(mode.speed_bps) for mode in modes)
        yield f"{who} does not link at {Mode(asked_bps)}, only at {listed(speeds)}", ("speed",)
    elif asked_bps and forced and forced not in modes and not is_slot_side(wiring, ref):
        half_too_fast = forced.duplex == "half" and forced not in MODES
        reason = HALF_DUPLEX_ENDS if half_too_fast else f"it has {listed(modes)}"
        yield f"{who} does not link at {forced}: {reason}", ("duplex", "speed")
    setting = wiring.setting(ref, "advertise")
    missing = [mode for mode in advertised(wiring, ref) or () if mode not in modes]
    if setting is not None and asked_bps is not None:
        yield f"{who} has a forced speed and advertises nothing: set its speed to `auto`", ("advertise",)
    elif setting is not None and missing and ".." not in str(setting.value):
        yield f"{who} does not link at {listed(missing)}, only at {listed(modes)}", ("advertise",)
    elif forced is None and not offered_modes(wiring, ref):
        only = duplex(wiring, ref)
        rest = f" in {only} duplex" if only else ""
        yield f"{who} would advertise nothing{rest}: it has {listed(modes)}", ("advertise", "duplex")


def cable_problem(wiring: Wiring, ends: tuple[PortRef, PortRef]) -> str | None:
    """Two ends that are forced to different speeds.

    One end that negotiates and one that is forced are nothing wrong: whether there is a link then,
    and in which duplex, is what the lab shows.
    """
    one, other = (forced_mode(wiring, ref) for ref in ends)
    if one is None or other is None or one.speed_bps == other.speed_bps:
        return None
    labels = [f"`{wiring.topology.label(ref)}` at" for ref in ends]
    differ = f"{labels[0]} {Mode(one.speed_bps)}, {labels[1]} {Mode(other.speed_bps)}"
    return f"the two ends of a cable differ: {differ}"
