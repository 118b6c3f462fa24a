"""What grows with what: figures of labs with more hosts, more flows, and time in which nothing happens.

A figure that grows with what happens is what a simulation is worth. One that grows with what is merely there,
as ports that nobody sends by, is waste.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from memory import PeakMemory
from timed_labs import NS_PER_S, scenario_plan

from wirelab.plan.traffic import Ping

if TYPE_CHECKING:
    from figure import Figures
    from timed_labs import Labs

    from wirelab.plan.node import Host
    from wirelab.plan.types import Cable, Plan, Port

# How many hosts an unmodified Mininet is asked for, and the most that is meant to take.
MININET_HOSTS = {10: None, 40: 10.0, 100: None, 300: None}
NETWORK_HOSTS = (10, 100, 300)
# Whose ports have nothing to do, and for how long: nobody looks at them, or the sampler does.
IDLE_HOSTS = (2, 100)
UNSEEN_S, SAMPLED_S = 600, 10
# How many share one link of 1 Gbit/s: what it carries is the same, whoever sends it.
FLOWS = (1, 10, 100)
MANY_HOSTS = Path(__file__).parent / "many_hosts.py"


def measure(figures: Figures, labs: Labs) -> None:
    """Every figure of growth, in the order in which they are printed."""
    for hosts, goal in MININET_HOSTS.items():
        script = partial(labs.command_s, MANY_HOSTS, str(hosts))
        figures.take(f"{hosts}-host Mininet topology to ready", "s", script, goal)
    for hosts in NETWORK_HOSTS:
        figures.take(f"{hosts}-host network without traffic", "s", partial(labs.wall_s, star(hosts)))
    for hosts in NETWORK_HOSTS:
        figures.take(f"peak memory, {hosts} hosts", "MiB", partial(peak_mib, labs, star(hosts)))
    for count in FLOWS:
        name = f"wall per virtual second, 1G shared by {count} flow{'s' if count > 1 else ''}"
        figures.take(name, "s/s", partial(labs.wall_per_virtual, shared(count)))
    for hosts in IDLE_HOSTS:
        name = f"wall per virtual second, {hosts} idle hosts"
        figures.take(name, "ms/s", partial(unseen_ms_per_s, labs, star(hosts)))
        figures.take(f"{name}, sampled", "ms/s", partial(sampled_ms_per_s, labs, star(hosts)))


def peak_mib(labs: Labs, plan: Plan) -> float:
    """The most memory that a whole lab has at any look."""
    memory = PeakMemory()
    labs.wall_s(plan, memory)
    return memory.peak_bytes / 2**20


def star(hosts: int) -> Plan:
    """So many hosts at one switch with links of 10G, and no traffic: clean-10g, its server repeated."""
    plan = scenario_plan("clean-10g")
    server, port = plan.hosts[0], plan.ports_of("server")[0]
    socket = plan.port(plan.cables[0].b)
    copies = [_copy(server, port, socket, plan.cables[0], number) for number in range(3, hosts + 1)]
    # Room for more addresses than the scenario's.
    widened = (
        replace(port, address=port.address and port.address.replace("/24", "/16")) for port in plan.ports
    )
    return replace(
        plan,
        hosts=(*plan.hosts, *(host for host, _, _ in copies)),
        ports=(*widened, *(port for _, ports, _ in copies for port in ports)),
        cables=(*plan.cables, *(cable for _, _, cable in copies)),
        traffic=(),
    )


def _copy(
    host: Host, port: Port, socket: Port, cable: Cable, number: int
) -> tuple[Host, tuple[Port, Port], Cable]:
    """The host of that number with its port, the switch's port for it, and the cable."""
    name, high, low = f"h{number}", *divmod(number, 256)
    own = replace(
        port,
        name=f"{name}-eth0",
        label=name,
        node=name,
        mac=f"02:00:01:{high:02x}:{low:02x}:01",
        address=f"10.0.{high}.{low}/16",
    )
    theirs = replace(
        socket,
        name=f"{socket.node}-p{number}",
        label=f"{socket.node}.p{number}",
        mac=f"02:00:01:{high:02x}:{low:02x}:02",
    )
    return replace(host, name=name), (own, theirs), replace(cable, a=own.name, b=theirs.name)


def shared(count: int) -> Plan:
    """So many flows at once over a link of 1G that the sender is at: what is lost, its own queue drops."""
    plan = scenario_plan("clean-10g", "upload", case="slow-patch")
    flow = plan.flows[0]
    flows = (
        replace(flow, name=f"upload{number}", port=flow.port + number, client_port=flow.client_port + number)
        for number in range(count)
    )
    return replace(plan, traffic=tuple(flows))


def unseen_ms_per_s(labs: Labs, plan: Plan) -> float:
    """What a virtual second takes in which nothing happens, and nobody looks."""
    short_s, long_s = (labs.wall_s(_echoes(plan, after_s=after_s)) for after_s in (1, 1 + UNSEEN_S))
    return (long_s - short_s) / UNSEEN_S * 1e3


def sampled_ms_per_s(labs: Labs, plan: Plan) -> float:
    """What it takes while a ping waits to send its second request, and every port is sampled."""
    short_s, long_s = (labs.wall_s(_echoes(plan, apart_s=apart_s)) for apart_s in (1, 1 + SAMPLED_S))
    return (long_s - short_s) / SAMPLED_S * 1e3


def _echoes(plan: Plan, *, after_s: int = 1, apart_s: int = 1) -> Plan:
    """Two requests to a neighbour, so far apart, after so long."""
    ping = Ping(
        name="ping",
        sender="server",
        receiver="client",
        start_ns=after_s * NS_PER_S,
        duration_ns=2 * apart_s * NS_PER_S,
        interval_ns=apart_s * NS_PER_S,
    )
    return replace(plan, traffic=(ping,))
