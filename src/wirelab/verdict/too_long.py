"""Datagrams that are too long for a router on their way, whose sender stops when it is told so."""

from typing import NamedTuple

from wirelab.model import ethernet
from wirelab.plan.path import flow_path
from wirelab.plan.traffic import Flow, Iperf3
from wirelab.plan.types import Plan
from wirelab.results.flow import FlowResult
from wirelab.units import BITS_PER_BYTE, NS_PER_S, SIZE, show
from wirelab.verdict.words import count_of


class TooLong(NamedTuple):
    """The label of the port by which a router would have to send them, and what happened in a sentence."""

    at: str
    words: str


def too_long(plan: Plan, flow: Flow, measured: FlowResult) -> TooLong | None:
    """What kept a flow over UDP from sending more than a small part of what it was told to.

    Linux forbids routers to fragment datagrams (DF), and iperf3 ends its sending when one is refused.
    """
    way = flow_path(plan, flow)
    if not way or not isinstance(flow, Iperf3) or measured.sent_datagrams is None:
        return None
    mtu_bytes = min(port.mtu_bytes for hop in way for port in (hop.out, hop.into))
    payload_bytes = flow.payload_bytes or ethernet.udp_payload_bytes(mtu_bytes)
    most_bps = (flow.bitrate_bps or 0) * flow.parallel
    told = most_bps * flow.duration_ns // (NS_PER_S * BITS_PER_BYTE * payload_bytes)
    if flow.size_bytes is not None or 2 * measured.sent_datagrams >= told:
        return None
    whole_bytes = ethernet.IPV4_BYTES + ethernet.UDP_BYTES + payload_bytes
    packet_bytes = min(whole_bytes, way[0].out.mtu_bytes)
    routers = {firewall.name for firewall in plan.firewalls}
    for port in (hop.out for hop in way):
        if port.node in routers and port.mtu_bytes < packet_bytes:
            sent = f"{flow.sender} sent {count_of(measured.sent_datagrams)} of {count_of(told)} datagrams"
            mtu = f"the MTU of {port.label}, {show(port.mtu_bytes, SIZE)}"
            longer = f"packets of {show(packet_bytes, SIZE)} are longer than {mtu}"
            why = "and no router may fragment them (DF); told so, it stopped"
            return TooLong(port.label, f"{sent}: {longer}, {why}")
    return None
