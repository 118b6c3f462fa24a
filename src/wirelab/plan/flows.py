"""The traffic of a scenario in base units, each item at its instant."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, Final

from wirelab.model.ethernet import udp_payload_bytes
from wirelab.model.timetable import starts_ns
from wirelab.model.topology import HOST_PORT, PortRef
from wirelab.model.traffic import Copy as CopyModel
from wirelab.model.traffic import Iperf3 as Iperf3Model
from wirelab.model.traffic import Item as ItemModel
from wirelab.model.traffic import Ping as PingModel
from wirelab.model.wiring import Wiring
from wirelab.plan.traffic import KINDS, Flow, Item
from wirelab.units import NS_PER_S, PS_PER_S

TICK_NS: Final = NS_PER_S // 250
FIRST_SERVER_PORT: Final = 5201
FIRST_CLIENT_PORT: Final = 40001


def traffic(
    items: Sequence[ItemModel], wiring: Wiring, seed: int, *, pinned: bool = False
) -> tuple[Item, ...]:
    """The traffic, in the order in which the scenario has it; what both call alike is taken over.

    Where it is ``pinned`` nothing is early: what happens at an instant would happen to something else, and a
    window would be about another time.
    """
    shift_ns = phase_ns(seed)
    starts = starts_ns(items)
    made: dict[str, Item] = {}
    for index, item in enumerate(items):
        kind, written = KINDS[item.tool], type(item).model_fields
        names = [field.name for field in fields(kind) if field.name in written]
        values: dict[str, Any] = {name: getattr(item, name) for name in names} | {
            "start_ns": starts[item.name] + shift_ns,
            "duration_ns": item.longest_ns,
            "early": not pinned and _is_early(item, made),
        }
        if not isinstance(item, PingModel):
            taken = sum(flow.parallel for flow in made.values() if isinstance(flow, Flow))
            values |= {"port": FIRST_SERVER_PORT + index, "client_port": FIRST_CLIENT_PORT + taken}
            values["congestion"] = item.congestion or wiring.of_host(item.sender, "congestion")
            values |= _copy(item, wiring) if isinstance(item, CopyModel) else _iperf3(item, wiring)
        made[item.name] = kind(**values)
    return tuple(made.values())


def phase_ns(seed: int) -> int:
    """How far into a tick of the lab's kernel the traffic starts: the part of chance in when one starts.

    Everything else about a run is either stated or drawn inside the lab. TCP's timers run from tick to
    tick, so a path that drops decides differently for another phase. Even over a tick (4 ms).
    """
    return random.Random(seed).randrange(TICK_NS)  # noqa: S311 - a draw that must repeat


def _iperf3(item: Iperf3Model, wiring: Wiring) -> dict[str, Any]:
    """What of a run of iperf3 is otherwise than the scenario says it."""
    if item.protocol == "tcp":
        return {}
    # The largest datagram that neither end has to fragment.
    mtu_bytes = min(wiring.mtu_bytes(PortRef(name, HOST_PORT)) for name in (item.sender, item.receiver))
    return {"congestion": None, "payload_bytes": item.payload_bytes or udp_payload_bytes(mtu_bytes)}


def _copy(item: CopyModel, wiring: Wiring) -> dict[str, Any]:
    """What of a copy follows from its size and from the storage at its ends."""
    source, target = wiring.storage(item.sender), wiring.storage(item.receiver)
    return {
        "block_bytes": min(item.block_bytes, item.size_bytes),
        "read_ps": _byte_ps(source.read.value) if source else 0,
        "write_ps": _byte_ps(target.write.value) if target else 0,
    }


def _byte_ps(bytes_per_s: int) -> int:
    """What a byte takes, rounded to a picosecond: at 1 GB/s that is exact to a thousandth."""
    return round(PS_PER_S / bytes_per_s)


def _is_early(item: ItemModel, earlier: Mapping[str, Item]) -> bool:
    """Whether an item follows a transfer that may take less than its time."""
    if item.concurrent_with is not None:
        return earlier[item.concurrent_with].early
    sized = (isinstance(other, Flow) and other.size_bytes for other in earlier.values())
    return item.start_ns is None and any(sized)
