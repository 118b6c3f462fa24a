"""The Plan: JSON and back, and nothing the guest does not have."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recorded import plan, with_ports

from wirelab.plan.node import Firewall, Host, Hub, Route, Switch, Transceiver
from wirelab.plan.queue import Queue
from wirelab.plan.shape import Shape
from wirelab.plan.traffic import Copy, Iperf3, Ping
from wirelab.plan.types import SCHEMA, Bus, Cable, Cpu, Netem, Plan, Pool, Port

names = st.text(alphabet="abcdefghijklmnopqrstuvwxyz-", min_size=1, max_size=15)
numbers = st.integers(0, 2**53)
words = st.dictionaries(names, names, max_size=3)

routes = st.lists(st.builds(Route, names, names), max_size=2).map(tuple)
hosts = st.builds(Host, names, names, words, names, routes)
firewalls = st.builds(Firewall, names, names, names, routes, names)
ports = st.builds(
    Port,
    **dict.fromkeys(("name", "label", "node", "mac"), names),
    role=st.sampled_from(["host", "forward", "through", "repeat"]),
    address=st.none() | names,
    **dict.fromkeys(("pause_rx", "pause_tx"), st.booleans()),
    **dict.fromkeys(("speed_bps", "mtu_bytes", "rx_usecs", "rx_frames", "rx_ring_frames"), numbers),
    **dict.fromkeys(("tx_ring_frames", "buffer_bytes", "xoff_bytes", "xon_bytes"), numbers),
    queue=st.none()
    | st.builds(Queue, names, st.none() | numbers, st.none() | numbers, st.none() | st.booleans()),
    netem=st.none() | st.builds(Netem, numbers, numbers, st.floats(0, 1), numbers, st.floats(0, 1)),
    **dict.fromkeys(("autoneg", "pause_autoneg"), st.booleans()),
    advertise=st.lists(names, max_size=3).map(tuple),
    duplex=st.sampled_from(["full", "half"]),
    follow=st.none() | names,
    bus=st.none() | st.builds(Bus, *[numbers] * 4),
    cpu=st.none() | st.builds(Cpu, *[numbers] * 5),
    pool=st.none() | st.builds(Pool, numbers, numbers),
    pfc=st.lists(st.integers(0, 7), max_size=3).map(tuple),
    trust=st.sampled_from(["pcp", "dscp"]),
    gso_max_segs=st.none() | numbers,
)
items = {
    **dict.fromkeys(("name", "sender", "receiver"), names),
    **dict.fromkeys(("start_ns", "duration_ns"), numbers),
    "dscp": st.none() | numbers,
    "early": st.booleans(),
}
connections = {
    **dict.fromkeys(("port", "client_port", "parallel"), numbers),
    "congestion": st.none() | names,
}
iperf3s = st.builds(
    Iperf3,
    **items,
    **connections,
    protocol=st.sampled_from(["tcp", "udp"]),
    **dict.fromkeys(
        ("size_bytes", "bitrate_bps", "payload_bytes", "pacing_bps", "window_bytes"), st.none() | numbers
    ),
)
copies = st.builds(
    Copy,
    **items,
    **connections,
    pipeline=st.sampled_from(["sequential", "overlapped"]),
    **dict.fromkeys(("size_bytes", "block_bytes", "read_ps", "process_ps", "write_ps", "requests"), numbers),
)
pings = st.builds(Ping, **items, interval_ns=numbers)


def _tuples(of: st.SearchStrategy[object]) -> st.SearchStrategy[tuple[object, ...]]:
    return st.lists(of, max_size=3).map(tuple)


plans = st.builds(
    Plan,
    **dict.fromkeys(("scenario", "variant", "drawing"), names),
    seed=numbers,
    hosts=_tuples(hosts),
    switches=_tuples(st.builds(Switch, names, names)),
    hubs=_tuples(st.builds(Hub, names, names)),
    firewalls=_tuples(firewalls),
    modules=_tuples(st.builds(Transceiver, names, names, names, names)),
    ports=_tuples(ports),
    cables=_tuples(st.builds(Cable, names, names, numbers)),
    traffic=_tuples(iperf3s | copies | pings),
    sysctls=words,
    sample_interval_ns=numbers,
    sample_at_ns=_tuples(numbers),
    wall_limit_s=numbers,
)


@given(plans)
def test_a_plan_survives_json(plan: Plan) -> None:
    """What the guest reads is what the host wrote, and equal Plans are equal bytes."""
    text = plan.to_json()
    assert Plan.from_json(text) == plan
    assert Plan.from_json(text).to_json() == text


@given(plans)
def test_a_plan_of_another_schema_is_refused(plan: Plan) -> None:
    """A guest of one version does not half understand a Plan of another."""
    tree = json.loads(plan.to_json()) | {"schema": SCHEMA + 1}
    with pytest.raises(ValueError, match="plan schema 3, this wirelab reads 2"):
        Plan.from_json(json.dumps(tree))


def test_a_port_is_found_by_name_and_by_node() -> None:
    """The two ways everybody looks for one."""
    one, other = (
        Port(
            name=f"switch-p{number}", label=f"switch.p{number}", node="switch", role="forward", mac="m",
            address=None, speed_bps=1, mtu_bytes=1500, buffer_bytes=1, xoff_bytes=1, xon_bytes=1,
        )
        for number in (1, 2)
    )  # fmt: skip
    plan = Plan("s", "v", 1, "d", (), (), (), (one, other), ())
    assert plan.port("switch-p2") == other
    assert plan.ports_of("switch") == (one, other)
    assert plan.ports_of("module") == ()
    with pytest.raises(KeyError):
        plan.port("switch-p3")


def test_who_asks_for_what_a_plan_does_not_have_is_told_so() -> None:
    """By an error that a generator lets through, as StopIteration would not be."""
    with pytest.raises(KeyError, match="switch-p9"):
        plan().cable_of("switch-p9")
    with pytest.raises(KeyError, match="mobile"):
        plan().trace(Shape("htb", 1, 1, trace="mobile"))


def test_what_is_at_its_default_is_left_out() -> None:
    """A figure that the port learns rewrites only the Plans that set it."""
    port = with_ports(plan(), "client-eth0", rx_usecs=50).port("client-eth0")
    written = json.loads(with_ports(plan(), "client-eth0", rx_usecs=50).to_json())["ports"][-1]
    assert written["rx_usecs"] == 50
    assert not {"bus", "cpu", "pfc", "follow", "netem", "rx_frames"} & written.keys()
    assert port.bus is None
