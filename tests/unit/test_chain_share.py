"""Of what a line carried a sentence tells how much was a flow's, where others crossed it as well."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from recorded import G, flow, plan, recording, with_ports

from wirelab.plan.bond import Bond
from wirelab.plan.types import Cable
from wirelab.results.result import read_result
from wirelab.verdict.bottleneck import bottlenecks
from wirelab.verdict.formulas import framed_bytes

if TYPE_CHECKING:
    from pathlib import Path

    from recorded import Recording

    from wirelab.plan.types import Plan


def slow() -> Plan:
    """The network whose last line is full, and what runs at the same time as the download."""
    the_plan = with_ports(plan(), "module-line", "client-eth0", speed_bps=5 * G // 4)
    upload, download = the_plan.flows
    return replace(the_plan, traffic=(replace(upload, start_ns=download.start_ns), download))


def told(folder: Path, the_plan: Plan, recorded: Recording) -> str:
    """The chain of the download."""
    result = read_result(the_plan, recorded.write(folder))
    return "; ".join(next(one.chain for one in bottlenecks(the_plan, result) if one.flow == "download"))


def more_sent(recorded: Recording, port: str, frames: int) -> None:
    """Have a port have sent so many more frames in the time of the download."""
    for snapshot in ("download:end", "end"):
        stats = recorded.stats(snapshot, port)
        stats["tx_frames"] += frames
        stats["tx_bytes"] += frames * 1514


def test_a_payload_takes_frames() -> None:
    """64 B of payload are a frame of 106 B, 4000 B three fragments, 1448 B of TCP a frame of 1514 B."""
    the_plan = plan()
    stream = the_plan.flows[0]
    assert framed_bytes(the_plan, stream, 1448) == 1514
    small, full, long = (replace(stream, protocol="udp", payload_bytes=size) for size in (64, None, 4000))
    assert framed_bytes(the_plan, small, 640) == pytest.approx(1060)
    assert framed_bytes(the_plan, full, 1472) == pytest.approx(1514)
    assert framed_bytes(the_plan, long, 4000) == pytest.approx(4000 + 8 + 3 * 34)


def test_a_flow_that_never_crosses_a_line_is_not_beside_it(tmp_path: Path) -> None:
    """The upload goes the other way, whatever else left by the line."""
    the_plan = slow()
    recorded = recording(the_plan)
    more_sent(recorded, "module-line", 200_000)
    assert "beside it ran" not in told(tmp_path, the_plan, recorded)


def with_another(the_plan: Plan, recorded: Recording) -> Plan:
    """A second flow of the same time and way as the download."""
    for end in ("client", "server"):
        recorded.flows[f"other.{end}"] = recorded.flows[f"download.{end}"]
    for end in ("start", "end"):
        again = recorded.snapshot(f"download:{end}")
        recorded.counters["snapshots"].append({**again, "name": f"other:{end}"})
    other = replace(flow("other", "server", "client", 4), client_port=40_001)
    return replace(the_plan, traffic=(*the_plan.traffic, other))


def test_a_share_is_of_frames(tmp_path: Path) -> None:
    """Half of the bytes on the line are as many frames of each of two flows."""
    recorded = recording(slow(), dropped=0)
    the_plan = with_another(slow(), recorded)
    more_sent(recorded, "module-line", 200_000)
    assert "50 % of what it carried was download's: beside it ran other" in told(tmp_path, the_plan, recorded)


def test_of_a_bond_all_lines_are_taken_together(tmp_path: Path) -> None:
    """What a flow has on them is no share of what one of them carried."""
    recorded = recording(slow(), dropped=0)
    the_plan = with_another(slow(), recorded)
    twins = {"module-line": "module-second", "client-eth0": "client-eth1"}
    for snapshot in recorded.counters["snapshots"]:
        for part in (snapshot[name] for name in ("ports", "qdiscs", "links")):
            part |= {twin: copy.deepcopy(part[name]) for name, twin in twins.items()}
    for sample in recorded.samples:
        sample["ports"] |= {twin: sample["ports"][name] for name, twin in twins.items()}
    ports = [replace(the_plan.port(name), name=twin, label=twin) for name, twin in twins.items()]
    bonds = [
        Bond(f"{node}-bond0", f"{node}.bond0", node, names, "802.3ad", ports[0].mac, 1500, 20, names[0])
        for node, names in (
            ("module", ("module-line", "module-second")),
            ("client", ("client-eth0", "client-eth1")),
        )
    ]
    the_plan = replace(
        the_plan,
        ports=(*the_plan.ports, *ports),
        cables=(*the_plan.cables, Cable("module-second", "client-eth1", 15)),
        bonds=tuple(replace(bond, agrees=True) for bond in bonds),
    )
    said = "50 % of what the lines of module.bond0 together carried was download's: beside it ran other"
    assert said in told(tmp_path, the_plan, recorded)
