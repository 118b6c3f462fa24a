"""A Plan as the lines a person would type to set the same up on real equipment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wirelab.plan import tc
from wirelab.units import BPS_PER_MBPS, NS_PER_S, RATE, SIZE, TIME, show

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wirelab.plan.types import Flow, Plan, Port


def commands(plan: Plan) -> list[str]:
    """The lines, node by node, then flow by flow; what no command sets stands in comments."""
    return [
        f"# {plan.drawing}",
        *_cables(plan),
        "",
        "# on every host",
        *(f"sysctl -w {key}={_quoted(value)}" for key, value in plan.sysctls.items()),
        *(line for host in plan.hosts for line in _host(plan, host.name)),
        *(line for switch in plan.switches for line in _switch(plan, switch.name)),
        *(line for module in plan.modules for line in _module(plan, module.name)),
        *(line for flow in plan.flows for line in _flow(plan, flow)),
    ]


def _cables(plan: Plan) -> Iterator[str]:
    for cable in plan.cables:
        speed = show(plan.port(cable.a).speed_bps, RATE)
        yield f"# cable: {cable.a} to {cable.b}, {speed}, {show(cable.delay_ns, TIME)}"


def _host(plan: Plan, name: str) -> Iterator[str]:
    host = next(each for each in plan.hosts if each.name == name)
    yield ""
    yield f"# on {name}: {host.part}, {host.nic}"
    for key, value in host.sysctls.items():
        yield f"sysctl -w {key}={_quoted(value)}"
    for port in plan.ports_of(name):
        yield from _port(port)
        yield f"ethtool -C {port.name} rx-usecs {port.rx_usecs} rx-frames {port.rx_frames}"
        yield f"ethtool -G {port.name} rx {port.rx_ring_frames} tx {port.tx_ring_frames}"
        yield f"ip address add {port.address} dev {port.name}"
        if port.netem is not None:
            yield f"ip link set {port.name} gso_max_segs 1"
        yield f"ip link set {port.name} up"
        yield from (f"tc {line}" for line in tc.egress(port))


def _switch(plan: Plan, name: str) -> Iterator[str]:
    part = next(each.part for each in plan.switches if each.name == name)
    ports = plan.ports_of(name)
    yield ""
    yield f"# on {name}: {part}"
    yield f"ovs-vsctl add-br {name} -- set-fail-mode {name} standalone"
    for port in ports:
        yield from _port(port)
        yield f"ovs-vsctl add-port {name} {port.name}"
        yield f"ip link set {port.name} up"
        yield from (f"tc {line}" for line in tc.egress(port))


def _module(plan: Plan, name: str) -> Iterator[str]:
    module = next(each for each in plan.modules if each.name == name)
    ports = plan.ports_of(name)
    yield ""
    yield f"# in {name}: {module.part}; a transceiver takes no commands, these describe it"
    for port in ports:
        yield from _port(port)
        yield f"ip link set {port.name} up"
        yield from (f"tc {line}" for line in tc.egress(port))
    for source, target in (
        (module.host_port, module.line_port),
        (module.line_port, module.host_port),
    ):
        yield from (f"tc {line}" for line in tc.redirect(source, target))


def _port(port: Port) -> Iterator[str]:
    xoff, xon = show(port.xoff_bytes, SIZE), show(port.xon_bytes, SIZE)
    thresholds = f", XOFF {xoff}, XON {xon}" if port.pause_tx else ""
    yield f"# {port.name}: packet buffer {show(port.buffer_bytes, SIZE)}{thresholds}"
    yield f"ip link set {port.name} address {port.mac} mtu {port.mtu_bytes}"
    yield f"ethtool -s {port.name} speed {port.speed_bps // BPS_PER_MBPS} duplex full autoneg off"
    yield f"ethtool -A {port.name} autoneg off rx {_on(port.pause_rx)} tx {_on(port.pause_tx)}"


def _flow(plan: Plan, flow: Flow) -> Iterator[str]:
    address = next(port.address for port in plan.ports_of(flow.receiver) if port.address) or ""
    yield ""
    yield f"# {flow.name}: {flow.sender} to {flow.receiver}, {show(flow.start_ns, TIME)} after the start"
    yield f"iperf3 --server --one-off --port {flow.port} --json  # on {flow.receiver}"
    words = ["iperf3", "--client", address.partition("/")[0], "--port", str(flow.port)]
    words += ["--cport", str(flow.client_port), "--time", str(flow.duration_ns // NS_PER_S)]
    if flow.protocol == "udp":
        words.append("--udp")
    if flow.congestion is not None:
        words += ["--congestion", flow.congestion]
    if flow.bitrate_bps is not None or flow.protocol == "udp":
        words += ["--bitrate", str(flow.bitrate_bps or 0)]
    if flow.payload_bytes is not None:
        words += ["--length", str(flow.payload_bytes)]
    if flow.parallel > 1:
        words += ["--parallel", str(flow.parallel)]
    yield f"{' '.join(words)} --json  # on {flow.sender}"


def _on(value: bool) -> str:  # noqa: FBT001 - the value is what it is about
    return "on" if value else "off"


def _quoted(value: str) -> str:
    return f"'{value}'" if " " in value else value
