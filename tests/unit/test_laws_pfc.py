"""The laws of priority flow control hold in a sound run, and fire as soon as a counter says otherwise."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from broken_laws import dropped_by_buffer, violations
from recorded import Recording, plan, recording, with_ports

from wirelab.plan.ceiling import headroom_bytes
from wirelab.plan.path import flow_path

if TYPE_CHECKING:
    from pathlib import Path

    from wirelab.plan.types import Plan


def with_pfc(*priorities: int, **settings: int) -> Plan:
    """PFC of ``priorities`` on every port, told by the DSCP, and two flows with priority 3."""
    pfc = with_ports(plan(), pfc=priorities, trust="dscp", **settings)
    return replace(pfc, traffic=tuple(replace(flow, dscp=24) for flow in pfc.flows))


def by_priority(recorded: Recording, **unmarked: int) -> Recording:
    """Each port's queue made eight; all frames have priority 3, but at a port so many of the last have 0."""
    for snapshot in recorded.counters["snapshots"]:
        for name, (root, *_) in snapshot["qdiscs"].items():
            other = unmarked.get(name.replace("-", "_"), 0) if snapshot["name"] == "end" else 0
            counts = {1: (other, 0), 4: (root["packets"] - other, root["drops"])}
            below = [
                {**root, "parent": f"1:{queue}", "packets": sent, "drops": dropped}
                for queue in range(1, 9)
                for sent, dropped in (counts.get(queue, (0, 0)),)
            ]
            for qdisc in below:
                del qdisc["root"]
            snapshot["qdiscs"][name] = [*below, {**root, "kind": "mq", "handle": "1:"}]
    return recorded


def test_a_sound_run_with_pfc_breaks_no_law(tmp_path: Path) -> None:
    """Nor does one in which the module has no PFC, and drops."""
    assert violations(by_priority(recording(dropped=0)), tmp_path / "on", with_pfc(3)) == ()
    partly = with_ports(with_pfc(3, xoff_bytes=11_000), "module-host", "module-line", pfc=())
    assert violations(by_priority(recording()), tmp_path / "partly", partly) == ()


def test_a_pfc_frame_lost_on_the_cable(tmp_path: Path) -> None:
    """A PFC frame arrives like any other."""
    recorded = by_priority(recording(dropped=0))
    recorded.stats("end", "switch-p1")["tx_pfc_frames"] = 5
    recorded.stats("end", "server-eth0")["rx_pfc_frames"] = 4
    (violation,) = violations(recorded, tmp_path, with_pfc(3))
    assert violation.name == "law.cable"
    assert violation.explanation == "switch.p1 to server: 5 PFC frames left, 4 arrived"


def test_priorities_beyond_their_headroom(tmp_path: Path) -> None:
    """A priority that PFC stops holds XOFF and headroom at most, one that it does not, all its room."""
    for stopped, ordinary in (((3,), 1_569_792), ((0, 3), None)):
        the_plan = with_pfc(*stopped, xoff_bytes=20_000)
        one = 20_000 + headroom_bytes(flow_path(the_plan, the_plan.flows[1])[0])
        most = one + (one if ordinary is None else ordinary)
        recorded = by_priority(recording(dropped=0))
        recorded.stats("end", "switch-p1")["buffer_high_water_bytes"] = most
        assert violations(recorded, tmp_path / f"at{stopped}", the_plan) == ()
        recorded.stats("end", "switch-p1")["buffer_high_water_bytes"] = most + 1
        (violation,) = violations(recorded, tmp_path / f"above{stopped}", the_plan)
        assert (violation.name, violation.expected) == ("law.buffer", str(most))


def test_a_buffer_that_overflowed_in_spite_of_pfc(tmp_path: Path) -> None:
    """Where PFC stops every flow that arrives, nothing is lost for want of buffer."""
    recorded = by_priority(dropped_by_buffer())
    messages = {
        violation.name: violation.explanation
        for violation in violations(recorded, tmp_path / "on", with_pfc(3))
    }
    assert messages.keys() == {"law.lossless", "law.priorities"}
    assert messages["law.lossless"] == (
        "server to switch.p1: PFC stops every flow, but frames found the packet buffer full: 1"
    )
    assert violations(recorded, tmp_path / "other", with_pfc(4)) == ()
    deaf = with_ports(with_pfc(3), "server-eth0", pfc=())
    assert violations(recorded, tmp_path / "deaf", deaf) == ()
    differing = with_ports(with_pfc(3), "switch-p1", "switch-p2", trust="pcp")
    assert violations(recorded, tmp_path / "differing", differing) == ()


def test_a_buffer_that_priorities_share(tmp_path: Path) -> None:
    """Its drops do not tell whose frame it was; the queues of the switch and its peers do."""
    stopped = with_pfc(3)
    mixed = replace(stopped, traffic=(replace(stopped.flows[0], dscp=None), stopped.flows[1]))
    ordinary = by_priority(dropped_by_buffer(), server_eth0=1)
    assert violations(ordinary, tmp_path / "ordinary", mixed) == ()
    (violation,) = violations(by_priority(dropped_by_buffer()), tmp_path / "storage", mixed)
    assert violation.name == "law.priorities"
    assert violation.explanation == (
        "switch: 440 001 frames of priority 3 entered, 440 000 came to a queue: PFC stops that priority, "
        "but 1 were lost in between"
    )


def test_a_queue_that_dropped_in_spite_of_pfc(tmp_path: Path) -> None:
    """It is the queue of the priority that may drop nothing; that of another may."""
    deep = with_pfc(3, xoff_bytes=11_000)
    (violation,) = violations(by_priority(recording()), tmp_path / "stopped", deep)
    assert violation.name == "law.lossless"
    assert violation.explanation == (
        "module.line: every port that feeds its queue of priority 3 has PFC on, "
        "but the queue dropped frames: 159"
    )
    assert violations(by_priority(recording()), tmp_path / "other", with_pfc(4, xoff_bytes=11_000)) == ()
    assert violations(by_priority(recording()), tmp_path / "full", with_pfc(3)) == ()
