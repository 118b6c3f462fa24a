"""Priority flow control: one priority is silent, the others are not (IEEE 802.1Q clause 36)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from tests.lab.test_pool import ports

if TYPE_CHECKING:
    from tests.lab.rig import Rig

GBPS = 1e9
PRIORITY_3 = "3:on"
PLAIN_PAUSE = "all:off"
PORTS = "ip link add name p1 numtxqueues 8 type etherport; ip link add link p1 name p2 type etherport; "
LINE_BPS = GBPS * 1472 / (1514 + 24)


class Outcome(NamedTuple):
    """What became of the two flows, and the ports they met at: towards the sender, and the sender's."""

    storage_bps: float
    other_bps: float
    lost: int
    switch: dict[str, int]
    sender: dict[str, int]
    switch_dcb: dict[str, Any]
    sender_dcb: dict[str, Any]


def run(rig: Rig, pfc: str) -> Outcome:
    """Storage traffic at priority 3 to a slow receiver, other traffic at 2 Gbit/s to a fast one."""
    output = rig.execute("sh", "pfc.sh", pfc)
    assert output.code == 0, output.stderr
    lines = output.stdout.splitlines()
    flows = {line.split()[0]: line.split()[1:] for line in lines[:2]}
    switch_dcb, sender_dcb = map(json.loads, lines[2:4])
    storage, other = flows["storage"], flows["other"]
    ingress, _, _, sender = ports(output.stdout)
    assert ingress["rx_wire_frames"] == ingress["rx_frames"] == sender["tx_frames"]
    lost = int(storage[1]) + int(other[1])
    return Outcome(float(storage[0]), float(other[0]), lost, ingress, sender, switch_dcb, sender_dcb)


def test_only_the_lossless_priority_is_paused(rig: Rig) -> None:
    """The sender is silent at priority 3 nine tenths of the time, and never at another."""
    measured = run(rig, PRIORITY_3)
    assert measured.lost == 0
    assert measured.storage_bps == pytest.approx(LINE_BPS, rel=0.005)
    assert measured.other_bps == pytest.approx(2 * GBPS, rel=0.005)
    assert measured.sender["tx_paused_ns_prio3"] > 0.8e9
    assert all(measured.sender[f"tx_paused_ns_prio{priority}"] == 0 for priority in range(8) if priority != 3)
    assert measured.switch["tx_pfc_frames"] == measured.sender["rx_pfc_frames"] > 0
    assert measured.switch["tx_pause_frames"] == measured.sender["rx_pause_frames"] == 0
    frames = [measured.switch["tx_pfc_frames"] if priority == 3 else 0 for priority in range(8)]
    assert measured.switch_dcb["requests"] == measured.sender_dcb["indications"] == frames


def test_plain_pause_stops_all(rig: Rig) -> None:
    """Without priorities the other flow is paused with the first one: head-of-line blocking."""
    measured = run(rig, PLAIN_PAUSE)
    assert measured.lost == 0
    assert measured.storage_bps == pytest.approx(LINE_BPS, rel=0.005)
    assert measured.other_bps < 0.5 * 2 * GBPS
    assert measured.switch["tx_pause_frames"] == measured.sender["rx_pause_frames"] > 0
    assert measured.switch["tx_pfc_frames"] == 0


SPOKEN = {"above_xoff": True, "heard": 1}


@pytest.mark.parametrize("proto", ["802.1Q", "802.1ad"])
def test_a_vlan_tag_tells_the_priority(rig: Rig, proto: str) -> None:
    """The outer one, a provider's as a customer's, whoever wrote it: both ends take the frame for that."""
    calls = [(proto, writer, "full") for writer in ("device", "sender", "nested")]
    for told in rig.each("priorities.py", calls):
        assert told == {**SPOKEN, "asked": [3], "all_came": False, "heeded": True, "obeyed": True}


def test_half_duplex_has_no_pfc(rig: Rig) -> None:
    """Nobody asks for silence, and nobody obeys who does: there is a medium for that."""
    told = rig.script("priorities.py", "802.1Q", "device", "half")
    assert told == {**SPOKEN, "asked": [], "all_came": True, "heeded": False, "obeyed": False}


def test_dcb_shows_what_it_has_set(rig: Rig) -> None:
    """Which priorities are lossless, on a port that is down as on one that has a link; at first none is."""
    set_ = "dcb pfc set dev p1 prio-pfc 3:on 5:on; "
    up = "ip link set p1 up; ip link set p2 up; dcb pfc set dev p1 prio-pfc 5:off 6:on; sleep 1; "
    show = "dcb -j pfc show dev p1; "
    output = rig.execute("sh", "-c", f"{PORTS}{show}{set_}{show}{up}{show}cat /sys/class/net/p1/carrier")
    *shown, carrier = output.stdout.splitlines()
    lossless = [[n for n, on in enumerate(json.loads(line)["prio_pfc"]) if on] for line in shown]
    assert (lossless, carrier) == ([[], [3, 5], [3, 6]], "1")
    assert json.loads(shown[0])["pfc_cap"] == len(json.loads(shown[0])["prio_pfc"])


def test_what_a_port_trusts(rig: Rig) -> None:
    """The VLAN tag, or the DSCP where it is told so; one of them, for the port cannot look at both."""
    show = "dcb apptrust show dev p1 order; "
    set_ = "dcb apptrust set dev p1 order dscp; "
    output = rig.execute("bash", "-c", f"{PORTS}{show}{set_}{show}dcb apptrust set dev p1 order dscp pcp")
    if "trust" in rig.execute("sh", "-c", f"{PORTS}ls /sys/class/net/p1/etherport").stdout.split():
        pytest.skip("dcb apptrust came with Linux 6.2; before there is a file in sysfs")
    assert [line.split() for line in output.stdout.splitlines()] == [["order:", "pcp"], ["order:", "dscp"]]
    assert output.code != 0
    assert "not supported" in output.stderr


@pytest.mark.parametrize(
    "command",
    [
        "dcb pfc set dev p2 prio-pfc 3:on",
        "dcb pfc set dev p1 prio-pfc 3:on delay 1000",
        "dcb app add dev p1 dscp-prio 24:5",
    ],
)
def test_what_the_port_cannot_do_is_refused(rig: Rig, command: str) -> None:
    """Priorities without eight TX queues, a headroom beside the buffer, another map of DSCP to priority."""
    output = rig.execute("bash", "-c", PORTS + command)
    assert output.code != 0
    assert "not supported" in output.stderr


def test_a_port_with_pfc_neither_sends_nor_obeys_pause(rig: Rig) -> None:
    """And says so, whatever was negotiated; PFC away, what was negotiated holds."""
    told = rig.script("after_pfc.py")
    active = ("pause_rx_active", "pause_tx_active")
    assert [told[state]["p1"][name] for state in ("on", "off") for name in active] == [0, 0, 1, 1]
