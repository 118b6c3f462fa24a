"""Transfers that are over before iperf3 looks whether they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from wirelab.model.graph import fewest_hops
from wirelab.model.linking import forced_mode, offered_modes
from wirelab.model.traffic import Iperf3
from wirelab.units import BITS_PER_BYTE, RATE, SIZE, rounded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wirelab.errors import Problem
    from wirelab.model.scenario import Scenario
    from wirelab.model.topology import PortRef
    from wirelab.model.wiring import Wiring
    from wirelab.model.yamlfile import Document

LOOKS_PER_S: Final = 10
"""iperf3 sees at the end of an interval, 0.1 s at the shortest, that its bytes are sent."""
_LARGEST_EXCESS: Final = 4
"""It may send a quarter more than it was asked for."""


def transfer_problems(scenario: Scenario, wiring: Wiring, document: Document) -> Iterator[Problem]:
    """The transfers of a wiring that would send far more than their bytes, at the rate of their lines."""
    for index, item in enumerate(scenario.traffic):
        flow = item.item
        if not isinstance(flow, Iperf3) or flow.size_bytes is None:
            continue
        rate_bps = _fastest_bps(wiring, flow)
        least_bytes = _LARGEST_EXCESS * rate_bps // (BITS_PER_BYTE * LOOKS_PER_S)
        if flow.size_bytes < least_bytes:
            message = (
                f"iperf3 looks {LOOKS_PER_S} times a second whether all is sent: at up to "
                f"{rounded(rate_bps, RATE)} that needs {rounded(least_bytes, SIZE)}; "
                "for a shorter transfer write `copy`"
            )
            yield document.problem(("traffic", index, item.tool, "bytes"), message)


def _fastest_bps(wiring: Wiring, flow: Iperf3) -> int:
    """The most that the lines between two hosts, and what the flow itself asks for, allow."""
    topology = wiring.topology
    joined: dict[str, list[tuple[PortRef, PortRef]]] = {}
    for cable in topology.cables:
        a, b = topology.ends(cable)
        joined.setdefault(a.node, []).append((a, b))
        joined.setdefault(b.node, []).append((b, a))
    way = fewest_hops(flow.sender, flow.receiver, lambda node: joined.get(node, ()), lambda hop: hop[1].node)
    rates_bps = [_line_bps(wiring, ref) for hop in way or () for ref in hop]
    rates_bps += [rate_bps * flow.parallel for rate_bps in (flow.pacing_bps, flow.bitrate_bps) if rate_bps]
    return min(rates_bps, default=0)


def _line_bps(wiring: Wiring, ref: PortRef) -> int:
    forced = forced_mode(wiring, ref)
    modes = (forced,) if forced else offered_modes(wiring, ref)
    return max((mode.speed_bps for mode in modes), default=0)
