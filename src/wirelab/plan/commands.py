"""A Plan as the lines a person would type to set the same up on real equipment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wirelab.plan import tc
from wirelab.plan.traffic import Ping
from wirelab.units import BPS_PER_MBPS, COST, NS_PER_S, PS_PER_NS, RATE, SIZE, TIME, show

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wirelab.plan.traffic import Copy, Flow
    from wirelab.plan.types import Hub, Plan, Port, Router


def commands(plan: Plan) -> list[str]:
    """The lines, node by node, then flow by flow; what no command sets stands in comments."""
    return [
        *(f"# {line}" for line in plan.drawing.splitlines()),
        *_cables(plan),
        "",
        "# on every host",
        *(f"sysctl -w {key}={_quoted(value)}" for key, value in plan.sysctls.items()),
        *(line for host in plan.hosts for line in _host(plan, host.name)),
        *(line for switch in plan.switches for line in _switch(plan, switch.name)),
        *(line for router in plan.routers for line in _router(plan, router)),
        *(line for hub in plan.hubs for line in _hub(plan, hub)),
        *(line for module in plan.modules for line in _module(plan, module.name)),
        *(line for item in plan.traffic for line in _traffic(plan, item)),
    ]


def _cables(plan: Plan) -> Iterator[str]:
    for cable in plan.cables:
        a, b = plan.port(cable.a), plan.port(cable.b)
        speed = "speed as agreed" if a.autoneg or b.autoneg else show(a.speed_bps, RATE)
        yield f"# cable: {cable.a} to {cable.b}, {speed}, {show(cable.delay_ns, TIME)}"


def _host(plan: Plan, name: str) -> Iterator[str]:
    host = next(each for each in plan.hosts if each.name == name)
    yield ""
    yield f"# on {name}: {host.part}, {host.nic}"
    for key, value in host.sysctls.items():
        yield f"sysctl -w {key}={_quoted(value)}"
    for port in plan.ports_of(name):
        yield from _card(port)
    yield from (f"ip route add {route.to} via {route.via}" for route in host.routes)


def _router(plan: Plan, router: Router) -> Iterator[str]:
    yield ""
    yield f"# on {router.name}: {router.part}, {router.nic}"
    yield "sysctl -w net.ipv4.ip_forward=1"
    for port in plan.ports_of(router.name):
        yield from _card(port)
    yield from (f"ip route add {route.to} via {route.via}" for route in router.routes)
    yield from (f"nft '{line}'" for line in router.nft.splitlines())


def _hub(plan: Plan, hub: Hub) -> Iterator[str]:
    yield ""
    yield f"# in {hub.name}: {hub.part}; a repeater takes no commands, these describe it"
    for port in plan.ports_of(hub.name):
        yield from _port(port)
        yield f"ip link set {port.name} up"


def _card(port: Port) -> Iterator[str]:
    yield from _port(port)
    yield f"ethtool -C {port.name} rx-usecs {port.rx_usecs} rx-frames {port.rx_frames}"
    yield f"ethtool -G {port.name} rx {port.rx_ring_frames} tx {port.tx_ring_frames}"
    yield f"ip address add {port.address} dev {port.name}"
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
    thresholds = f", XOFF {xoff}, XON {xon}" if port.pause_tx or port.pfc else ""
    yield f"# {port.name}: packet buffer {show(port.buffer_bytes, SIZE)}{thresholds}"
    yield from (f"# {port.name}: {words}" for words in _hardware(port))
    yield f"ip link set {port.name} address {port.mac} mtu {port.mtu_bytes}"
    if port.gso_max_segs is not None:
        yield f"ip link set {port.name} gso_max_segs {port.gso_max_segs}"
    if port.autoneg:
        modes = " ".join(f"{mode.replace('_', '/')} on" for mode in port.advertise)
        yield f"ethtool -s {port.name} autoneg on advertise {modes}"
    else:
        speed = port.speed_bps // BPS_PER_MBPS
        yield f"ethtool -s {port.name} speed {speed} duplex {port.duplex} autoneg off"
    asked = f"rx {_on(port.pause_rx)} tx {_on(port.pause_tx)}"
    yield f"ethtool -A {port.name} autoneg {_on(port.pause_autoneg)} {asked}"


def _hardware(port: Port) -> Iterator[str]:
    """What no command sets, and what it is there for."""
    if port.follow is not None:
        yield f"has a link only while {port.follow} has one"
    if port.pool is not None:
        yield f"shares a packet memory of {show(port.pool.size_bytes, SIZE)}"
    if port.bus is not None:
        bus, overhead = port.bus, show(port.bus.overhead_bytes, SIZE)
        around = (
            f"{overhead} around each {show(bus.payload_bytes, SIZE)}, {show(bus.frame_bytes, SIZE)} a frame"
        )
        yield f"bus {show(bus.bps, RATE)} a direction, {around}"
    if port.cpu is not None:
        for word, frame_ns, byte_ps in (
            ("comes in", port.cpu.rx_frame_ns, port.cpu.rx_byte_ps),
            ("goes out", port.cpu.tx_frame_ns, port.cpu.tx_byte_ps),
        ):
            costs = f"{show(frame_ns * PS_PER_NS, COST)} and {show(byte_ps, COST)} a byte"
            if frame_ns or byte_ps:
                yield f"a frame that {word} costs CPU {port.cpu.number} {costs}"
    if port.pfc:
        yield f"made with numtxqueues {tc.PRIORITIES}"
        yield f"PFC for priorities {', '.join(map(str, port.pfc))}, told by {port.trust.upper()}"


def _traffic(plan: Plan, item: Flow | Ping) -> Iterator[str]:
    address = next(port.address for port in plan.ports_of(item.receiver) if port.address) or ""
    address = address.partition("/")[0]
    yield ""
    yield f"# {item.name}: {item.sender} to {item.receiver}, {show(item.start_ns, TIME)} after the start"
    if isinstance(item, Ping):
        seconds = item.interval_ns / NS_PER_S
        mark = [] if item.dscp is None else ["-Q", str(item.dscp << 2)]
        words = ["ping", "-n", "-i", f"{seconds:g}", "-c", str(item.count), *mark, address]
        yield f"{' '.join(words)}  # on {item.sender}"
    elif item.copy is not None:
        yield from _copy(item, item.copy)
    else:
        yield f"iperf3 --server --one-off --port {item.port} --json  # on {item.receiver}"
        yield f"{' '.join(_iperf3(item, address))} --json  # on {item.sender}"


def _iperf3(flow: Flow, address: str) -> Iterator[str]:
    yield from ("iperf3", "--client", address, "--port", str(flow.port), "--cport", str(flow.client_port))
    if flow.size_bytes is None:
        yield from ("--time", str(flow.duration_ns // NS_PER_S))
    else:
        yield from ("--bytes", str(flow.size_bytes))
    if flow.protocol == "udp":
        yield "--udp"
    bitrate_bps = flow.bitrate_bps or (0 if flow.protocol == "udp" else None)
    for option, value in (
        ("--congestion", flow.congestion),
        ("--bitrate", bitrate_bps),
        ("--length", flow.payload_bytes),
        ("--window", flow.window_bytes),
        ("--dscp", flow.dscp),
        ("--fq-rate", flow.pacing_bps),
        ("--parallel", flow.parallel if flow.parallel > 1 else None),
    ):
        if value is not None:
            yield from (option, str(value))


def _copy(flow: Flow, copy: Copy) -> Iterator[str]:
    blocks = (
        f"{show(flow.size_bytes or 0, SIZE)} in blocks of {show(copy.block_bytes, SIZE)}, {copy.pipeline}"
    )
    yield f"# copy {blocks}, port {flow.port}, {flow.congestion}"
    for what, byte_ps in (
        ("reading", copy.read_ps),
        ("processing", copy.process_ps),
        ("writing", copy.write_ps),
    ):
        if byte_ps:
            yield f"# {what} a byte takes {show(byte_ps, COST)}"
    if copy.requests:
        yield f"# before each block, {copy.requests} small requests, each answered before the next"


def _on(value: bool) -> str:  # noqa: FBT001 - the value is what it is about
    return "on" if value else "off"


def _quoted(value: str) -> str:
    return f"'{value}'" if " " in value else value
