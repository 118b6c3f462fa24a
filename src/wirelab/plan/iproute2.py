"""What ``ip``, ``tc`` and ``dcb`` are told, without these words: the lab does it, ``wirelab plan`` shows it.

Standard library only, for the guest. tc reads a bare delay as milliseconds, ``mbps`` as megabytes per
second and a loss in percent: every number here has its unit.
"""

from collections.abc import Iterator, Sequence

from wirelab.plan.bond import LACP, Bond
from wirelab.plan.node import Firewall, Host
from wirelab.plan.queue import OWN_QUEUE, Queue
from wirelab.plan.shape import ROUTER_BURST_BYTES, Shape
from wirelab.plan.tagged import Tagged
from wirelab.plan.types import SHAPER, Netem, Port

PRIORITIES = 8
CAKE = "cake"
ETHERNET_HEADER_BYTES = 14
POLICED = "prio"
"""What has a policer at its filter: of its two bands one is used, it takes no fewer.

It counts what that drops beside what the queue below it does.
"""
BUCKET, KICK = "a:", "b:"
"""What follows a trace, or is changed by events, and what has the port look at it again."""
_PRIOMAP = 16
_PPM = 1_000_000


def egress(port: Port) -> Iterator[str]:
    """The qdiscs of a port; none where the kernel's default stays.

    With PFC each of its eight TX queues has its own, and the port takes them in strict order. A long path
    comes first, a shaper below it and the egress queue last: what netem has held back waits in front of the
    wire like any other frame, and what the shaper does not let pass waits in the queue.
    """
    qdisc = f"qdisc replace dev {port.name}"
    if port.pfc:
        yield f"{qdisc} root handle 1: mq"
    if port.netem is not None:
        yield f"{qdisc} root handle 1: {_counting(port)}netem {_netem(port.netem)}"
    if port.rate_bps:
        handle = shaper_handle(port)
        yield f"{qdisc} {'root' if port.netem is None else 'parent 1:'} handle {handle} {SHAPER} default 1"
        burst = f"burst {ROUTER_BURST_BYTES}b cburst {ROUTER_BURST_BYTES}b"
        shaper = f"{SHAPER} rate {port.rate_bps}bit {burst}"
        yield f"class replace dev {port.name} parent {handle} classid {handle}1 {shaper}"
    if port.shape is not None:
        yield from _shape(port, port.shape)
    if port.queue is not None:
        places = (f"parent {parent}" if parent else "root" for parent in queue_parents(port))
        spaced = _cake(port.shape) if port.shape and port.shape.kind == CAKE else ""
        words = _red(port, port.queue) if port.queue.red else _queue(port.queue)
        yield from (f"{qdisc} {place} {words}{spaced}" for place in places)


def _shape(port: Port, shape: Shape) -> Iterator[str]:
    """What a line lets pass; none of it where the egress queue sees to that."""
    if shape.kind == CAKE:
        return
    handle, parent = shaper_handle(port), "root" if port.netem is None else "parent 1:"
    counting = _counting(port) if port.netem is None else ""
    qdisc = f"qdisc replace dev {port.name} {parent} handle {handle} {counting}"
    rate = f"rate {shape.rate_bps}bit burst {shape.burst_bytes}b"
    if shape.kicked:
        # A plug that no frame is sent to: whoever moves it has the port look at the bucket again.
        below = f"qdisc replace dev {port.name} parent {handle}"
        yield f"{qdisc}{_two_bands()}"
        yield f"{below}1 handle {BUCKET} tbf {rate} limit {shape.burst_bytes}"
        yield f"{below}2 handle {KICK} plug limit 1"
        return
    match shape.kind:
        case "htb":
            yield f"{qdisc}htb default 1"
            limits = f"{rate} cburst {shape.burst_bytes}b"
            yield f"class replace dev {port.name} parent {handle} classid {handle}1 htb {limits}"
        case "police":
            # On its way out: Open vSwitch takes away whatever polices what comes in by a port of a bridge.
            yield f"{qdisc}{_two_bands()}"
            flow = f"matchall classid {handle}1"
            yield f"filter replace dev {port.name} parent {handle} {flow} action {_police(port, shape)}"
        case _:
            # The limit is that of a queue in whose place the egress queue comes.
            yield f"{qdisc}tbf {rate} limit {shape.burst_bytes}"


def kick(port: Port) -> str:
    """Has a port look at its shaper, which has changed, and not when that had told it to."""
    parent = f"{shaper_handle(port)}2"
    return f"qdisc change dev {port.name} parent {parent} handle {KICK} plug release_indefinite"


def _police(port: Port, shape: Shape) -> str:
    """A policer, which has a number in its namespace."""
    # What counts more than its mtu, 2040 if nobody says it, is too much for it at any rate.
    frame = port.mtu_bytes + ETHERNET_HEADER_BYTES
    limits = f"rate {shape.rate_bps}bit burst {shape.burst_bytes}b"
    longest = f"mtu {max(frame, shape.counted_bytes(frame))}b"
    return f"police {limits} {longest} conform-exceed drop/ok index {shape.number}"


def policer_again(port: Port, shape: Shape) -> str:
    """A policer with other figures, in the place of what it had: a filter takes no other action."""
    return f"actions replace action {_police(port, shape)}"


def _two_bands() -> str:
    """A qdisc of which the first band is used."""
    return f"{POLICED} bands 2 priomap {' '.join('0' * _PRIOMAP)}"


def _counting(port: Port) -> str:
    """How the root qdisc is told what a frame counts, for all below it; nothing where cake counts.

    Where there is a least size that is a table, with an entry for each length.
    """
    shape = port.shape
    if shape is None or shape.kind == CAKE:
        return ""
    if not shape.least_bytes:
        return f"stab overhead {shape.overhead_bytes} "
    entries = 1 << shape.counted_bytes(port.mtu_bytes + ETHERNET_HEADER_BYTES).bit_length()
    table = f"mtu {entries - 1} tsize {entries}"
    return f"stab overhead {shape.overhead_bytes} mpu {shape.least_bytes} {table} linklayer ethernet "


def _cake(shape: Shape) -> str:
    """To cake, which begins to count at the IP packet."""
    overhead = shape.overhead_bytes + ETHERNET_HEADER_BYTES
    return f" bandwidth {shape.rate_bps}bit overhead {overhead} mpu {shape.least_bytes}"


def shaper_handle(port: Port) -> str:
    """What tc calls the shaper of a port."""
    return "1:" if port.netem is None else "2:"


def queue_parents(port: Port) -> tuple[str, ...]:
    """What the egress queues of a port hang below, in tc's words; nothing for the root."""
    if port.pfc:
        return tuple(f"1:{number}" for number in range(1, PRIORITIES + 1))
    if port.shape and port.shape.kicked:
        return (f"{BUCKET}1",)
    if port.rate_bps or (port.shape and port.shape.kind != CAKE):
        return (f"{shaper_handle(port)}1",)
    return ("" if port.netem is None else "1:",)


def bond(bond: Bond) -> Iterator[str]:
    """To ip: how a bond is made of its ports, which are down."""
    options = f"mode {bond.mode} miimon {bond.miimon_ms}"
    if bond.miimon_ms:
        options += f" downdelay {bond.downdelay_ms} updelay {bond.updelay_ms}"
    if bond.mode == LACP:
        options += f" xmit_hash_policy {bond.xmit_hash_policy} lacp_rate {bond.lacp_rate}"
    else:
        options += f" num_grat_arp {bond.num_grat_arp}"
    yield f"link add name {bond.name} address {bond.mac} mtu {bond.mtu_bytes} type bond {options}"
    yield from (f"link set {name} master {bond.name}" for name in bond.ports)
    if bond.primary:
        yield f"link set {bond.name} type bond primary {bond.primary}"


def bond_up(bond: Bond) -> Iterator[str]:
    """To ip: what a bond is given when its ports are up."""
    if bond.gso_max_segs:
        yield f"link set {bond.name} gso_max_segs {bond.gso_max_segs}"
    if bond.address:
        yield f"address add {bond.address} dev {bond.name}"
    yield f"link set {bond.name} up"


def active(bond: Bond) -> str:
    """To ip: which port of a bond carries."""
    return f"link set {bond.name} type bond active_slave {bond.active}"


def tagged(tagged: Tagged) -> Iterator[str]:
    """To ip: what writes and reads the tags of a VLAN at a host."""
    yield f"link add link {tagged.on} name {tagged.name} mtu {tagged.mtu_bytes} type vlan id {tagged.vlan}"
    if tagged.gso_max_segs:
        yield f"link set {tagged.name} gso_max_segs {tagged.gso_max_segs}"
    if tagged.address:
        yield f"address add {tagged.address} dev {tagged.name}"
    yield f"link set {tagged.name} up"


def bridge_vlans(name: str, port: Port) -> str:
    """To ovs-vsctl: the VLANs of a port of a bridge, or of the bond called so that it is in; "" for none."""
    if port.trunk_vlans:
        return f"set port {name} vlan_mode=trunk trunks={','.join(map(str, port.trunk_vlans))}"
    return f"set port {name} vlan_mode=access tag={port.access_vlan}" if port.access_vlan else ""


def routes(stack: Host | Firewall, ports: Sequence[Tagged | Bond | Port]) -> Iterator[str]:
    """To ip: the ways of a host or firewall. The one to its own network came with the address of its port."""
    quickack = " quickack 1" if isinstance(stack, Host) and stack.quickack else ""
    for route in stack.routes:
        if route.via:
            yield f"route add {route.to} via {route.via}{quickack}"
        else:
            source = str(ports[0].address).partition("/")[0]
            link = f"dev {ports[0].name} proto kernel scope link src {source}"
            yield f"route change {route.to} {link}{quickack}"


def pfc(port: Port) -> str:
    """To dcb: which priorities are not to be lost."""
    lossless = "".join(f" {priority}:on" for priority in port.pfc)
    return f"pfc set dev {port.name} prio-pfc all:off{lossless}"


def trust(port: Port) -> str:
    """To dcb: what tells a frame's priority."""
    return f"apptrust set dev {port.name} order {port.trust}"


def _queue(queue: Queue) -> str:
    words = queue.kind
    if queue.limit_bytes is not None and queue.kind != OWN_QUEUE:
        words += f" {'memlimit' if queue.kind == 'cake' else 'limit'} {queue.limit_bytes}"
    if queue.limit_frames is not None:
        words += f" limit {queue.limit_frames}"
    if queue.ecn is not None:
        words += " ecn" if queue.ecn else " noecn"
    return words


def _red(port: Port, queue: Queue) -> str:
    """RED as near to the queue as it is as tc can: its average is of the last two looks, half each.

    tc chooses the weight by ``burst``; with one that fills ``min`` it is the largest. ``bandwidth`` tells
    how fast the average falls while nothing comes.
    """
    red = queue.red
    assert red is not None  # noqa: S101 - whoever asks has looked
    burst = max(red.min_bytes // (port.mtu_bytes + ETHERNET_HEADER_BYTES), 1)
    average = -(-red.min_bytes // burst)
    thresholds = f"limit {queue.limit_bytes} min {red.min_bytes} max {red.max_bytes}"
    words = f"{queue.kind} {thresholds} avpkt {average} burst {burst} bandwidth {port.speed_bps}bit"
    share = f" probability {red.probability_ppm / _PPM:.6f}" if red.probability_ppm else ""
    return f"{words}{share} ecn" if queue.ecn else f"{words}{share}"


def _netem(netem: Netem) -> str:
    words = f"limit {netem.limit_packets}"
    if netem.delay_ns:
        words += f" delay {netem.delay_ns}ns"
        if netem.jitter_ns:
            words += f" {netem.jitter_ns}ns"
    if netem.loss_ratio:
        words += f" loss {netem.loss_ratio:.4%}"
    if netem.reorder_ratio:
        words += f" reorder {netem.reorder_ratio:.4%}"
    return words
