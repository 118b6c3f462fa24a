"""Whose the frames were that a line carried."""

from typing import Final

from wirelab.plan.path import Hop, spanned
from wirelab.plan.traffic import Flow
from wirelab.plan.types import Plan
from wirelab.results.result import Result
from wirelab.units import PPM, RATIO, rounded
from wirelab.verdict.busy import received_bytes
from wirelab.verdict.formulas import framed_bytes

_OTHERS_PPM: Final = 950_000
"""A flow that has so much of a line has it alone."""


def share(plan: Plan, hop: Hop, flow: Flow, result: Result) -> list[str]:
    """How much of what a line carried was a flow's, where others crossed it, too; of a bond all its lines."""
    others = [one for one in plan.flows if one is not flow and one.overlaps(flow)]
    beside = [one.name for one in others if hop in spanned(plan, one.sender, one.receiver)]
    bond = next((one for one in plan.bonds if one.shares and hop.out.name in one.ports), None)
    lines = bond.ports if bond else (hop.out.name,)
    sent = sum(result.change(name, flow.name)["tx_bytes"] for name in lines)
    own_bytes = framed_bytes(plan, flow, received_bytes(flow, result))
    if not beside or own_bytes * PPM >= _OTHERS_PPM * sent:
        return []
    part = rounded(own_bytes * PPM / sent, RATIO, 2)
    carrier = f"the lines of {bond.label} together" if bond else "it"
    return [f"{part} of what {carrier} carried was {flow.name}'s: beside it ran {', '.join(beside)}"]
