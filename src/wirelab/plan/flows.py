"""The traffic of a scenario in base units, each item at its instant."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any, Final

from wirelab.model.ethernet import udp_payload_bytes
from wirelab.model.topology import HOST_PORT, PortRef
from wirelab.model.traffic import Copy as CopyModel
from wirelab.model.traffic import Iperf3 as Iperf3Model
from wirelab.model.traffic import Ping as PingModel
from wirelab.plan.traffic import Copy, Flow, Iperf3, Ping
from wirelab.units import NS_PER_S, PS_PER_S

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wirelab.model.traffic import Item as ItemModel
    from wirelab.model.wiring import Wiring
    from wirelab.plan.traffic import Item

FIRST_START_NS: Final = NS_PER_S
GAP_NS: Final = 2 * NS_PER_S
"""The silence between flows that run one after the other: long enough for every queue to run empty."""
TICK_NS: Final = NS_PER_S // 250
FIRST_SERVER_PORT: Final = 5201
FIRST_CLIENT_PORT: Final = 40001


def traffic(items: Sequence[ItemModel], wiring: Wiring, seed: int) -> tuple[Item, ...]:
    """The traffic, in the order in which the scenario has it."""
    shift_ns = phase_ns(seed)
    made: dict[str, Item] = {}
    client_port = FIRST_CLIENT_PORT
    for index, item in enumerate(items):
        common: dict[str, Any] = {
            "name": item.name,
            "sender": item.sender,
            "receiver": item.receiver,
            "start_ns": _start_ns(item, made, shift_ns),
            "duration_ns": item.longest_ns,
            "dscp": item.dscp,
            "early": _is_early(item, made),
        }
        match item:
            case PingModel():
                made[item.name] = Ping(**common, interval_ns=item.interval_ns)
            case CopyModel():
                made[item.name] = _copy(item, wiring, common, (FIRST_SERVER_PORT + index, client_port))
                client_port += 1
            case Iperf3Model():
                made[item.name] = _iperf3(item, wiring, common, (FIRST_SERVER_PORT + index, client_port))
                client_port += item.parallel
    return tuple(made.values())


def phase_ns(seed: int) -> int:
    """How far into a tick of the lab's kernel the traffic starts: the part of chance in when one starts.

    Everything else about a run is either stated or drawn inside the lab. TCP's timers run from tick to
    tick, so a path that drops decides differently for another phase. Even over a tick (4 ms).
    """
    return random.Random(seed).randrange(TICK_NS)  # noqa: S311 - a draw that must repeat


def _iperf3(item: Iperf3Model, wiring: Wiring, common: Mapping[str, Any], ports: tuple[int, int]) -> Iperf3:
    udp = item.protocol == "udp"
    return Iperf3(
        **common,
        protocol=item.protocol,
        port=ports[0],
        client_port=ports[1],
        congestion=None if udp else item.congestion or wiring.congestion(item.sender),
        bitrate_bps=item.bitrate_bps,
        payload_bytes=item.payload_bytes or (_datagram_bytes(wiring, item) if udp else None),
        parallel=item.parallel,
        size_bytes=item.size_bytes,
        pacing_bps=item.pacing_bps,
        window_bytes=item.window_bytes,
    )


def _copy(item: CopyModel, wiring: Wiring, common: Mapping[str, Any], ports: tuple[int, int]) -> Copy:
    source, target = wiring.storage(item.sender), wiring.storage(item.receiver)
    return Copy(
        **common,
        port=ports[0],
        client_port=ports[1],
        congestion=item.congestion or wiring.congestion(item.sender),
        size_bytes=item.size_bytes,
        block_bytes=min(item.block_bytes, item.size_bytes),
        pipeline=item.pipeline,
        read_ps=_byte_ps(source.read.value) if source else 0,
        process_ps=item.process_ps,
        write_ps=_byte_ps(target.write.value) if target else 0,
        requests=item.requests,
    )


def _byte_ps(bytes_per_s: int) -> int:
    """What a byte takes, rounded to a picosecond: at 1 GB/s that is exact to a thousandth."""
    return round(PS_PER_S / bytes_per_s)


def _start_ns(item: ItemModel, earlier: Mapping[str, Item], shift_ns: int) -> int:
    if item.start_ns is not None:
        return item.start_ns + shift_ns
    if item.concurrent_with is not None:
        return earlier[item.concurrent_with].start_ns
    if not earlier:
        return FIRST_START_NS + shift_ns
    return max(other.end_ns for other in earlier.values()) + GAP_NS


def _is_early(item: ItemModel, earlier: Mapping[str, Item]) -> bool:
    """Whether an item follows a transfer that may take less than its time."""
    if item.concurrent_with is not None:
        return earlier[item.concurrent_with].early
    sized = (isinstance(other, Flow) and other.size_bytes for other in earlier.values())
    return item.start_ns is None and any(sized)


def _datagram_bytes(wiring: Wiring, item: Iperf3Model) -> int:
    """The largest payload that neither end has to fragment."""
    ends = (PortRef(name, HOST_PORT) for name in (item.sender, item.receiver))
    return udp_payload_bytes(min(wiring.mtu_bytes(ref) for ref in ends))
