"""What a setting has nothing to say to: the ports of which another one tells, that stands nearer to them."""

from typing import Final

from wirelab.model.metric import NETWORK
from wirelab.model.settings import Setting, Target
from wirelab.model.topology import PortRef
from wirelab.model.wiring import Wiring

_OF_CABLES: Final = ("speed", "loss", "bit_error_rate")
"""What a cable says of its ports where they say nothing; its other settings are of itself."""
_SHAPE: Final = "shape."


def overruled(wiring: Wiring, setting: Setting) -> str:
    """Why a setting on top of a wiring would change nothing; empty where it tells of a port at least."""
    after = wiring.changed([setting])
    holding = [
        _holding(after, ref, way, setting)
        for ref in ports_of(wiring, setting.target)
        for way in _ways(setting.name)
    ]
    nearer = [one for one in holding if (one.target, one.name) != (setting.target, setting.name)]
    if not nearer or len(nearer) < len(holding):
        return ""
    target = nearer[0].target
    key = ".".join(filter(None, (target.name, target.port, nearer[0].name)))
    return f"changes nothing: `{key}` is nearer"


def ports_of(wiring: Wiring, target: Target) -> list[PortRef]:
    """The ports that a setting of a node, a port, a cable or the network is about."""
    topology = wiring.topology
    if target.name == NETWORK:
        return list(topology.ports())
    cable = next((cable for cable in topology.cables if cable.name == target.name), None)
    if cable is not None:
        return list(topology.ends(cable))
    own = [ref for ref in topology.ports() if ref.node == target.name]
    return [ref for ref in own if target.port in (None, ref.port)]


def _holding(wiring: Wiring, ref: PortRef, name: str, own: Setting) -> Setting:
    """The setting that holds at a port, ``own`` where no other is about the same."""
    of_cable = own.target.name == wiring.topology.cable_of(ref).name
    if of_cable and name not in _OF_CABLES and not name.startswith(_SHAPE):
        return own
    names = (name, "flow_control") if name in _ways("flow_control") else (name,)
    found = wiring.said(ref, name) if name.startswith(_SHAPE) else wiring.setting(ref, *names)
    return found or own


def _ways(name: str) -> tuple[str, ...]:
    return ("pause_rx", "pause_tx") if name == "flow_control" else (name,)
