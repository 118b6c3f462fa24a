"""What may help a flow is made of the tables of settings and parts, by what bounds it; nothing twice."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import pytest
from recorded import recording

from wirelab.model.experiment import load
from wirelab.model.setting_table import Owner, settings_of
from wirelab.plan.build import build_plan
from wirelab.results.result import Result, read_result
from wirelab.runner.changes import Change, changes
from wirelab.verdict.bottleneck import bottleneck
from wirelab.verdict.explanation import Bottleneck, Mechanism
from wirelab.verdict.remedy import Effort
from wirelab.verdict.trouble import WAIT, Trouble

if TYPE_CHECKING:
    from wirelab.model.cases import Case
    from wirelab.model.experiment import Experiment
    from wirelab.plan.types import Plan

ROOT = Path(__file__).parents[2]
SLOW = Trouble("download", "goodput", 1e9, "it is slow")
LATE = Trouble("download", "rtt_p50", 3e5, "it waits")
KINDS = {kind.name: kind for owner in get_args(Owner) for kind in settings_of(owner).values()}


def mismatch(folder: Path, dropped: int) -> tuple[Experiment, Case, Plan, Result]:
    """sfp-mismatch, and what a lab would leave that lost so many frames in the module."""
    experiment = load("sfp-mismatch", ROOT)
    case = experiment.case("main")
    plan = build_plan(experiment, case, 1)
    result = read_result(plan, recording(plan, dropped=dropped).write(folder / "raw"))
    return experiment, case, plan, result


def proposed(folder: Path, found: Bottleneck | None = None, dropped: int = 159) -> list[Change]:
    """What may help its download, whose bottleneck that is, or the one that is found."""
    experiment, case, plan, result = mismatch(folder, dropped)
    flow = plan.flows[1]
    return changes(experiment, case, 1, plan, flow, result, found or bottleneck(plan, flow, result), SLOW)


def settings(found: list[Change]) -> list[dict[str, str]]:
    """As a scenario would write them."""
    return [dict(change.settings) for change in found]


def test_a_fifo_that_drops_is_answered_at_itself_at_both_ends_and_on_the_way(tmp_path: Path) -> None:
    """More of it, who says stop, fewer or smaller bursts, another module with a switch that listens."""
    found = settings(proposed(tmp_path))
    for change in (
        {"module.fifo": "32 KiB"},
        {"switch.flow_control": "on"},
        {"server.queue": "fq"},
        {"server.gso_max_segs": "1"},
        {"server.rx_usecs": "0 us"},
        {"client.rx_usecs": "20 us"},
        {"download.congestion": "bbr"},
        {"download.pacing": "2.4 Gbit/s"},
        {"module": "aqr113c"},
        {"module": "aqr113c", "switch.flow_control": "on"},
    ):
        assert change in found
    assert {"module": "asf-10g-t"} not in found


def test_no_two_changes_are_the_same_to_the_lab(tmp_path: Path) -> None:
    """Nor is one the same as what was measured: each costs a run."""
    _, _, plan, _ = mismatch(tmp_path, 159)
    physics = [change.plan.physical_json() for change in proposed(tmp_path / "again")]
    assert len({plan.physical_json(), *physics}) == len(physics) + 1


def test_what_takes_another_device_is_tried_last(tmp_path: Path) -> None:
    """Who stops early has seen the settings."""
    efforts = [change.effort for change in proposed(tmp_path)]
    first = efforts.index(Effort.PART)
    assert set(efforts[first:]) == {Effort.PART}
    assert Effort.SETTING in efforts[:first]
    assert Effort.HARDWARE in efforts[:first]


def test_what_the_ceiling_of_the_path_forbids_is_not_run(tmp_path: Path) -> None:
    """A flow that has all of its line is not helped by another window; longer frames carry 5 % more."""
    line = Bottleneck("download", Mechanism.LINE, "the line", (), ("module.line", "client"))
    assert {"download.congestion": "bbr"} in settings(proposed(tmp_path / "slow", line))
    experiment, case, plan, result = mismatch(tmp_path / "full", 0)
    flow = plan.flows[1]
    full = replace(result.flows["download"], goodput_bps=result.flows["download"].path_bps)
    result = replace(result, flows={**result.flows, "download": full})
    assert settings(changes(experiment, case, 1, plan, flow, result, line, SLOW)) == [
        {"network.mtu": "9000 B"}
    ]


def test_a_bus_is_answered_by_other_slots(tmp_path: Path) -> None:
    """And by cards for them; of one that is no wider nothing is tried."""
    experiment = load("pcie-x1", ROOT)
    case = experiment.case("x1")
    plan = build_plan(experiment, case, 1)
    flow = plan.flows[0]
    result = mismatch(tmp_path, 0)[3]
    bound = Bottleneck(flow.name, Mechanism.BUS, "the bus of client", (), ("client",))
    measured = _renamed(result, plan, 6.4e9)
    found = settings(changes(experiment, case, 1, plan, flow, measured, bound, SLOW))
    buses = [change["client.bus"] for change in found if "client.bus" in change]
    assert "pcie-3 x4" in buses
    assert "pcie-1 x1" not in buses


def of_scenario(
    folder: Path, name: str, variant: str, found: Bottleneck, helped: Trouble
) -> list[dict[str, str]]:
    """What may help a flow of a scenario of the catalogue, for which nothing is run."""
    experiment = load(name, ROOT)
    case = experiment.case(variant)
    plan = build_plan(experiment, case, 1)
    flow = next(one for one in plan.flows if one.name == found.flow)
    measured = _renamed(mismatch(folder, 0)[3], plan)
    return settings(changes(experiment, case, 1, plan, flow, measured, found, helped))


def test_who_waits_for_a_full_line_is_helped_at_the_queue_before_it(tmp_path: Path) -> None:
    """Less memory, an AQM with as much, marks; the line is what it is, and no faster one is tried."""
    line = Bottleneck("upload", Mechanism.LINE, "the line", (), ("firewall.p2", "server"))
    found = of_scenario(tmp_path, "bufferbloat", "fifo", line, LATE)
    for change in (
        {"firewall.p2.queue": "cake"},
        {"firewall.p2.queue": "fq_codel", "firewall.p2.queue_limit": "247 frames"},
        {"firewall.p2.queue_limit": "37.5 kB"},
        {
            "client.ecn": "on",
            "firewall.p2.ecn": "on",
            "firewall.p2.queue": "fq_codel",
            "firewall.p2.queue_limit": "247 frames",
        },
        {"upload.congestion": "bbr"},
    ):
        assert change in found
    assert not any("outside.speed" in change or "network.mtu" in change for change in found)
    assert {"firewall.p2.queue_limit": "750 kB"} not in found


def test_before_a_line_that_is_shaped_a_shaper_with_an_aqm_is_tried(tmp_path: Path) -> None:
    """A little slower than the line, and counting as it does."""
    line = Bottleneck("upload", Mechanism.LINE, "the shaper", (), ("modem.p1",))
    found = of_scenario(tmp_path, "home-line", "a-modem-with-a-long-queue", line, LATE)
    assert {
        "router.p1.shape.kind": "cake",
        "router.p1.shape.rate": "37.4148 Mbit/s",
        "router.p1.shape.layer": "3",
        "router.p1.shape.overhead": "34 B",
    } in found


def test_where_a_line_is_a_providers_frames_stay_as_long_as_they_are(tmp_path: Path) -> None:
    """Longer ones would have to be carried by all of the Internet; more of the line can be had."""
    line = Bottleneck("download", Mechanism.LINE, "the shaper", (), ("modem.p1",))
    found = of_scenario(tmp_path, "asymmetric-line", "main", line, SLOW)
    assert {"modem.p1.shape.rate": "20 Mbit/s"} in found
    assert not any("network.mtu" in change for change in found)


def test_a_link_that_is_paused_for_others_may_have_priorities(tmp_path: Path) -> None:
    """PFC in the place of PAUSE, with who tells the priority: each of those that there are."""
    paused = Bottleneck("beside", Mechanism.PAUSE, "PAUSE at server", (), ("server",))
    found = of_scenario(tmp_path, "pfc-and-pause", "pause", paused, replace(SLOW, subject="beside"))
    [change] = [change for change in found if change.get("server.pfc") == "3"]
    assert change["switch.pfc"] == change["array.pfc"] == "3"
    assert change["switch.trust"] == "dscp"
    assert change["switch.flow_control"] == "off"
    assert not any("server.pfc" in change for change in settings(proposed(tmp_path / "one-priority")))


def test_what_tells_the_priorities_is_tried_where_there_are_some(tmp_path: Path) -> None:
    """`trust` is for ports with `pfc`."""
    losing = Bottleneck("storage", Mechanism.FIFO, "the FIFO of switch.p1", (), ("switch.p1",))
    found = of_scenario(tmp_path, "pfc-and-pause", "marks-in-tags", losing, SLOW)
    assert any(change.get("switch.trust") == "dscp" for change in found)


def test_who_is_told_to_stop_too_late_may_obey_sooner(tmp_path: Path) -> None:
    """Where a buffer overflows that says stop, at the other end of its cable."""
    losing = Bottleneck("storage", Mechanism.FIFO, "the FIFO of switch.p1", (), ("switch.p1",))
    found = of_scenario(tmp_path, "pause-headroom", "without-it", losing, SLOW)
    assert {"server.pause_reaction": "0 ns"} in found


def test_what_is_lost_is_helped_by_marks(tmp_path: Path) -> None:
    """Of both who must agree, and of each alone where the other does already."""
    losing = Bottleneck("download", Mechanism.QUEUE, "the queue of switch.p1", (), ("switch.p1",))
    again = Trouble("download", "retransmits", 6, "")
    assert {"server.ecn": "on"} in of_scenario(
        tmp_path / "1", "ecn", "a-sender-that-does-not-ask", losing, again
    )
    assert {"switch.p1.ecn": "on"} in of_scenario(
        tmp_path / "2", "ecn", "a-queue-that-only-drops", losing, again
    )


def test_thresholds_that_belong_together_are_changed_at_once(tmp_path: Path) -> None:
    """Each alone would be above the other, or make a slope of a step."""
    losing = Bottleneck("first", Mechanism.QUEUE, "the queue of switch.p9", (), ("switch.p9",))
    again = Trouble("first", "retransmits", 60, "")
    found = of_scenario(tmp_path, "ecn-threshold", "main", losing, again)
    for both in ("60 kB", "300 kB"):
        assert {"switch.p9.red_min": both, "switch.p9.red_max": both} in found
    assert not any(len(change) == 1 and "switch.p9.red_min" in change for change in found)


def test_switches_that_stop_each_other_may_all_leave_it(tmp_path: Path) -> None:
    """All those on the way of the flow at once, beside the one at the place alone."""
    paused = Bottleneck("floor4-up", Mechanism.PAUSE, "PAUSE at floor2.p26", (), ("floor2.p26",))
    found = of_scenario(tmp_path, "parking-lot", "main", paused, replace(SLOW, subject="floor4-up"))
    assert {f"floor{floor}.flow_control": "off" for floor in (4, 3, 2, 1)} in found
    assert {"floor1.flow_control": "off"} in found


def test_a_policer_may_be_a_shaper(tmp_path: Path) -> None:
    """With room for what comes in a round trip of the flow."""
    losing = Bottleneck("download", Mechanism.LOSS, "the policer of provider.p2", (), ("provider.p2",))
    found = of_scenario(tmp_path, "policer", "policed", losing, Trouble("download", "retransmits", 600, ""))
    [change] = [change for change in found if "provider.p2.shape.kind" in change]
    assert change["provider.p2.shape.kind"] == "tbf"
    milliseconds, unit = change["provider.p2.queue_limit"].split()
    assert 25 <= float(milliseconds) < 26
    assert unit == "ms"


def _renamed(result: Result, plan: Plan, goodput_bps: float = 1e6) -> Result:
    """The same with the ports and flows of another network: only goodput and links are asked for."""
    any_flow = next(iter(result.flows.values()))
    fast = replace(any_flow, goodput_bps=goodput_bps)
    snapshots = {}
    for name, snapshot in result.snapshots.items():
        port = next(iter(snapshot.ports.values()))
        up = replace(port, link=replace(port.link, speed_bps=10_000_000_000))
        snapshots[name] = replace(snapshot, ports={one.name: up for one in plan.ports})
    for flow in plan.flows:
        snapshots |= {f"{flow.name}:{end}": snapshots[end] for end in ("start", "end")}
    return replace(result, flows={flow.name: fast for flow in plan.flows}, snapshots=snapshots)


@pytest.mark.parametrize("name", sorted(name for name, kind in KINDS.items() if kind.helps))
def test_each_setting_that_helps_says_so_in_words_that_are_known(name: str) -> None:
    """Against a bottleneck that there is, and with values that it can have; others have no values to try."""
    kind = KINDS[name]
    assert set(kind.helps) <= {*Mechanism, WAIT}
    assert set(kind.tries_for) <= set(kind.helps)
    for text in (*kind.tries, *(text for texts in kind.tries_for.values() for text in texts)):
        if text.startswith("x"):
            assert float(text[1:]) > 0
            assert kind.quantity is not None or kind.kind == "queue_limit"
        elif kind.quantity is not None:
            kind.parse(text, kind.quantity)


def test_what_does_not_help_has_nothing_to_try() -> None:
    """Values without a bottleneck would never be used."""
    idle = [kind.name for kind in KINDS.values() if not kind.helps and (kind.tries or kind.together)]
    assert idle == []


@pytest.mark.parametrize("mechanism", list(Mechanism))
def test_every_bottleneck_has_something_that_may_help_it(mechanism: Mechanism) -> None:
    """In the table of settings; of an application it is the flow itself, too."""
    assert [kind.name for kind in KINDS.values() if mechanism in kind.helps]
