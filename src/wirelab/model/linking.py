"""How a port gets a link: forced to one mode, or offering several of which the best common one holds."""

from typing import cast

from wirelab.model.modes import Duplex, Mode, parse_modes
from wirelab.model.topology import MODULE_HOST_PORT, MODULE_LINE_PORT, PortRef
from wirelab.model.wiring import Wiring


def forced_mode(wiring: Wiring, ref: PortRef) -> Mode | None:
    """The mode that a port is forced to, None where it negotiates.

    A hub's port and the slot side of a module that matches rates know no other; a module whose slot
    side runs as its line does negotiates there, whatever is asked of the switch at the other end.
    """
    kind = wiring.topology.nodes[ref.node].kind
    if kind == "hub":
        return wiring.modes(ref)[0]
    if is_slot_side(wiring, ref):
        return None if follows_line(wiring, ref.node) else wiring.modes(ref)[0]
    speed_bps = wiring.asked_speed_bps(ref)
    return None if speed_bps is None else Mode(speed_bps, duplex(wiring, ref) or "full")


def agreed_mode(wiring: Wiring, ref: PortRef) -> Mode | None:
    """What the link of a port comes to: what an end is forced to, else the best that both offer, if any."""
    ends = (ref, wiring.topology.peer(ref))
    for end in ends:
        forced = forced_mode(wiring, end)
        if forced is not None:
            return forced
    one, other = (offered_modes(wiring, end) for end in ends)
    return max(set(one) & set(other), key=lambda mode: (mode.speed_bps, mode.duplex == "full"), default=None)


def offered_modes(wiring: Wiring, ref: PortRef) -> tuple[Mode, ...]:
    """What a port that negotiates offers: what its hardware has, as far as the settings let it."""
    wanted = advertised(wiring, ref)
    half_or_full = duplex(wiring, ref)
    return tuple(
        mode
        for mode in wiring.modes(ref)
        if (wanted is None or mode in wanted) and half_or_full in (None, mode.duplex)
    )


def advertised(wiring: Wiring, ref: PortRef) -> tuple[Mode, ...] | None:
    """What the settings allow a port to offer, None if they say nothing."""
    setting = wiring.setting(ref, "advertise")
    return None if setting is None else parse_modes(str(setting.value))


def duplex(wiring: Wiring, ref: PortRef) -> Duplex | None:
    """The only duplex that the settings allow, None if they say nothing."""
    setting = wiring.setting(ref, "duplex")
    return None if setting is None else cast("Duplex", setting.value)


def link_speed_bps(wiring: Wiring, ref: PortRef) -> int:
    """The speed that a link is to have: the fastest that both its ends have, else the port's own fastest.

    Behind a module whose two sides run alike that is the speed of its line.
    """
    ends = (ref, wiring.topology.peer(ref))
    for end in ends:
        if is_slot_side(wiring, end) and follows_line(wiring, end.node):
            return link_speed_bps(wiring, PortRef(end.node, MODULE_LINE_PORT))
    own, others = ({mode.speed_bps for mode in _modes(wiring, end)} for end in ends)
    return max(own & others or own)


def _modes(wiring: Wiring, ref: PortRef) -> tuple[Mode, ...]:
    forced = forced_mode(wiring, ref)
    return offered_modes(wiring, ref) if forced is None else (forced,)


def is_slot_side(wiring: Wiring, ref: PortRef) -> bool:
    """Whether this is the side of a module that is plugged into a switch."""
    return wiring.topology.nodes[ref.node].kind == "module" and ref.port == MODULE_HOST_PORT


def follows_line(wiring: Wiring, module: str) -> bool:
    """Whether a module runs towards its switch as fast as on its line."""
    return wiring.transceiver(module).host_speed.value == "line"


def leader(wiring: Wiring, ref: PortRef) -> PortRef | None:
    """The port without whose link this one has none: the line of a module, for the side in the slot.

    Where everything at a module is forced, both sides have a link whatever happens.
    """
    if not is_slot_side(wiring, ref):
        return None
    line = PortRef(ref.node, MODULE_LINE_PORT)
    ends = [end for side in (ref, line) for end in (side, wiring.topology.peer(side))]
    return line if any(forced_mode(wiring, end) is None for end in ends) else None
