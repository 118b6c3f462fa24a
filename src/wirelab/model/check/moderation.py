"""What is wrong with the interrupt moderation of a card."""

from collections.abc import Iterator

from wirelab.errors import unknown
from wirelab.model.check import Blame
from wirelab.model.topology import PortRef
from wirelab.model.wiring import Wiring


def moderation_problems(wiring: Wiring, ref: PortRef) -> Iterator[Blame]:
    """A way to count that the card does not have, and frames that would wait for ever."""
    if wiring.topology.nodes[ref.node].kind not in ("host", "firewall"):
        return
    card, modes = wiring.nic_name(ref.node), wiring.moderations(ref)
    if wiring.moderation(ref) not in modes:
        mode = unknown(f"moderation of {card}", wiring.moderation(ref), modes)
        yield f"{mode}; it is a matter of the card", ("rx_moderation",)
    adaptive, frames = wiring.adaptive(ref), int(wiring.value(ref, "rx_frames") or 0)
    if adaptive != "none":
        if wiring.setting(ref, "rx_frames") is not None:
            yield f"`{card}` adapts its moderation to the load: set `rx_usecs`, too", ("rx_frames",)
    elif frames > 1 and wiring.number(ref, "rx_usecs") == 0:
        lonely = f"with `rx_usecs` 0 nothing interrupts before {frames} frames are there: fewer wait for ever"
        yield lonely, ("rx_frames", "rx_usecs")
