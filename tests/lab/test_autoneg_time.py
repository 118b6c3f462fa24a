"""How long autonegotiation takes: the carrier comes when the slower end is through, and not before."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest

from tests.lab.rig import GBPS, flow, host_port, plan
from wirelab.plan.types import Cable
from wirelab.results.result import read_result
from wirelab.verdict.checks import check_laws

if TYPE_CHECKING:
    from tests.lab.rig import Rig

TAKES = "cd /sys/class/net; echo 200 > p1/etherport/autoneg_ms; echo 500 > p2/etherport/autoneg_ms"
UP = "ip link set p1 up; ip link set p2 up"
FORCED = "autoneg off speed 100 duplex full"
OFFER_100 = "autoneg on advertise 0x00c"
ADD_MODULE = (
    "ip link add name p3 type etherport; ip link add link p3 name p4 type etherport; "
    "for p in p3 p4; do ethtool -s $p autoneg on; echo 300 > /sys/class/net/$p/etherport/autoneg_ms; done; "
    "echo p3 > /sys/class/net/p2/etherport/follow; ip link set p3 up; ip link set p4 up"
)


@pytest.mark.parametrize(
    "words",
    [
        [UP, "@0=11"],
        [TAKES, UP, "@0=00", "@499=00", "@501=11"],
        [TAKES, "ip link set p1 up", "@300=0-", "ip link set p2 up", "@799=00", "@801=11"],
        [TAKES, f"ethtool -s p1 {FORCED}; ethtool -s p2 {FORCED}", UP, "@1=11"],
        [TAKES, f"ethtool -s p1 {FORCED}", UP, "@499=00", "@501=11"],
        [TAKES, f"ethtool -s p2 {FORCED}", UP, "@199=00", "@201=11"],
        [TAKES, UP, "@300=00", f"ethtool -s p1 {OFFER_100}", "@799=00", "@801=11"],
        [TAKES, UP, "@600=11", "ip link set p2 down", "@601=0-", "ip link set p2 up", "@1100=00", "@1102=11"],
        [TAKES, UP, "@600=11", f"ethtool -s p1 {OFFER_100}", "@601=00", "@1099=00", "@1101=11"],
        [TAKES, UP, "@600=11", "ethtool -A p1 rx off", "@601=11"],
        [TAKES, UP, "@300=00", "ip link set p2 down", "@301=0-", "@900=0-"],
        [TAKES, UP, "@300=00", "ip link del p2", "@301=0", "@900=0"],
        [TAKES, ADD_MODULE, UP, "@299=0000", "@301=0011", "@799=0011", "@801=1111"],
        [TAKES, ADD_MODULE, UP, "@900=1111", "ip link set p4 down", "@901=000-", "@1500=000-"],
    ],
    ids=[
        "no time",
        "the slower end",
        "it begins when both are up",
        "both are forced",
        "one is forced, the other finds out",
        "the other way round",
        "a change meanwhile begins it anew",
        "down and up",
        "another speed",
        "nothing that needs another link",
        "called off",
        "deleted meanwhile",
        "a module: the line first, then the slot",
        "a line that is lost takes the slot along",
    ],
)
def test_a_carrier_comes_when_both_ends_are_through(rig: Rig, words: list[str]) -> None:
    """To the millisecond, and not before."""
    said = rig.script("negotiate.py", *(word.partition("=")[0] if word[0] == "@" else word for word in words))
    assert said == dict(word[1:].split("=") for word in words if word[0] == "@")


def test_frames_without_a_carrier_are_dropped(rig: Rig) -> None:
    """Down for 200 ms, and then 500 ms more: what is sent meanwhile goes nowhere, and is accounted for."""
    told = rig.script("flap.py", "500", "200")
    gone = told["refused"] + told["dropped_by_port"]
    assert told["refused"] == told["dropped_by_stack"]
    assert told["sent"] == told["left"] + gone
    assert told["came"] == told["left"]
    assert abs(gone - 700) <= 2


def test_ports_are_deleted_at_any_moment_of_it(rig: Rig) -> None:
    """Before, while and just when the carrier was to come."""
    one = (
        "ip link add name p1 type etherport; ip link add link p1 name p2 type etherport; "
        "ethtool -s p1 autoneg on; ethtool -s p2 autoneg on; "
        "echo 100 > /sys/class/net/p1/etherport/autoneg_ms; "
        "ip link set p1 up; ip link set p2 up; sleep $s; ip link del $p"
    )
    rest = "ip link del p1 2>/dev/null || ip link del p2"
    times = "0 0.099 0.0999 0.09999 0.1 0.10001 0.1001 0.2"
    script = (
        f"for s in {times}; do for p in p1 p2; do {one}; {rest}; done; done; ip -br link | grep -c ^p || true"
    )
    output = rig.execute("bash", "-euc", script, wall_limit_s=100)
    assert (output.code, output.stdout.strip()) == (0, "0"), output.stderr


def test_the_lab_waits_for_links(rig: Rig) -> None:
    """A Plan whose ports take longer than all the set-up: the flow starts with a link, at its instant."""
    auto = partial(host_port, autoneg=True, advertise=("1000baseT_Full",), autoneg_ms=25_000)
    ports = [auto(name, number, 1 * GBPS) for number, name in enumerate(("a", "b"), start=1)]
    plan_ = plan(ports, [Cable("a-eth0", "b-eth0", 15)], [flow("f", "a", "b", 1, 1)])
    result = read_result(plan_, rig.run(plan_))
    assert [violation.explanation for violation in check_laws(plan_, result)] == []
    assert result.flows["f"].goodput_bps == pytest.approx(1 * GBPS * 1448 / 1538, rel=0.02)
