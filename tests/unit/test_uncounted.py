"""Where a link went away and something was lost, nobody is told that nothing was: it is not counted."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from recorded import G, plan, recording

from wirelab.model.expect import Expectation
from wirelab.plan.bond import Bond
from wirelab.plan.types import Event
from wirelab.results.result import read_result
from wirelab.verdict.checks import check

if TYPE_CHECKING:
    from pathlib import Path

    from wirelab.plan.types import Plan
    from wirelab.results.result import Result

SAID = "frames that were to leave by {} while its link was down are counted nowhere"


def unplugged(*at_ns: int) -> Plan:
    """The network whose last cable is pulled out, and put in again, in turn."""
    cable = plan().cable_of("module-line")
    events = (
        Event(at, "something", cables=(replace(cable, plugged=turn % 2 == 1),))
        for turn, at in enumerate(at_ns)
    )
    return replace(plan(), events=tuple(events))


def measured(folder: Path, *, lost: bool = True) -> Result:
    """A run in which no port dropped a frame, and the download sent some again."""
    result = read_result(plan(), recording(dropped=0).write(folder))
    again = {name: replace(one, retransmits=7 if lost else 0) for name, one in result.flows.items()}
    return replace(result, flows=again)


def told(the_plan: Plan, result: Result, subject: str, metric: str) -> str:
    """The explanation of what holds."""
    return check(Expectation(subject, metric, 0, None), the_plan, result).explanation or ""


@pytest.mark.parametrize(
    ("subject", "metric", "ports"),
    [
        ("download", "retransmits", "module.line or client"),
        ("network", "drops", "module.line or client"),
        ("module.line", "drops", "module.line"),
    ],
)
def test_what_no_counter_has_is_told(subject: str, metric: str, ports: str, tmp_path: Path) -> None:
    """Of the flow, of the network, and of the port, in place of "nothing was dropped"."""
    said = told(unplugged(5 * G, 11 * G // 2), measured(tmp_path), subject, metric)
    assert SAID.format(ports) in said
    assert "nothing was dropped" not in said
    assert "had not been lost" not in said


def test_only_its_own_direction_is_told_of_a_datagram(tmp_path: Path) -> None:
    """UDP is not answered."""
    the_plan, result = unplugged(5 * G), measured(tmp_path)
    upload, download = the_plan.flows
    the_plan = replace(the_plan, traffic=(upload, replace(download, protocol="udp")))
    udp = replace(
        result.flows["download"], protocol="udp", retransmits=None, lost_datagrams=4, sent_datagrams=9
    )
    result = replace(result, flows={**result.flows, "download": udp})
    assert SAID.format("module.line") in told(the_plan, result, "download", "lost")


def test_nothing_is_told_where_nothing_was_lost(tmp_path: Path) -> None:
    """Nothing was missing, or the link was away at another time, or no link was away."""
    cut, result = unplugged(5 * G, 11 * G // 2), measured(tmp_path / "lost")
    none_lost = told(cut, measured(tmp_path / "none", lost=False), "download", "retransmits")
    earlier = told(unplugged(G // 2, 3 * G // 4), result, "download", "retransmits")
    other = replace(plan(), events=(Event(5 * G, "something"),))
    assert none_lost.startswith("nothing was dropped")
    assert earlier.startswith("nothing was dropped")
    assert "what was sent again had not been lost" in told(other, result, "download", "retransmits")


def test_a_port_of_a_bond_that_stands_by_loses_nothing(tmp_path: Path) -> None:
    """Frames left by the other one."""
    ports = ("module-host", "module-line")
    bond = Bond("module-bond0", "module.bond0", "module", ports, "active-backup", "", 1500, 20, ports[0])
    the_plan = replace(unplugged(5 * G), bonds=(bond,))
    port = told(the_plan, measured(tmp_path), "module.line", "drops")
    assert port == "nothing was dropped there"
