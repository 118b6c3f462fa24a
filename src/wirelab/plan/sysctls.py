"""The sysctls of hosts, and the memory that a lab needs for what they allow."""

from collections.abc import Iterable, Mapping
from typing import Final

from wirelab.model.sysctls import setting_name, sysctls
from wirelab.model.wiring import Wiring
from wirelab.plan.traffic import Iperf3, Item
from wirelab.plan.types import MEMORY_BYTES

CONGESTION: Final = "net.ipv4.tcp_congestion_control"
TIMESTAMPS: Final = "net.ipv4.tcp_timestamps"
ECN: Final = "net.ipv4.tcp_ecn"
TCP_MEMORY: Final = "net.ipv4.tcp_mem"

OWN_MEMORY_BYTES: Final = 384 << 20
"""What a lab needs for itself: kernel, programs, rings, frames on their way."""

_LEAST_TCP_BYTES: Final = MEMORY_BYTES - OWN_MEMORY_BYTES
_MOST_TCP_BYTES: Final = 3 << 30
_PAGE_BYTES: Final = 4096
_OWN_BUFFER_BYTES: Final = 2**21
"""What every kernel of the lab lets a socket have, unasked."""


def pinned_sysctls() -> dict[str, str]:
    """What every host is given, in the order of the table."""
    return {name: sysctl.value for name, sysctl in sysctls().items()}


def host_sysctls(wiring: Wiring, host: str) -> dict[str, str]:
    """What a host has otherwise than all of them."""
    said = {name: wiring.of_host(host, setting_name(name)) for name in sysctls()}
    own = {
        CONGESTION: str(wiring.of_host(host, "congestion")),
        TIMESTAMPS: str(int(wiring.of_host(host, "timestamps"))),
        **{name: sysctls()[name].saying(int(value)) for name, value in said.items() if value is not None},
    }
    if (ecn := wiring.own(host, "ecn")) is not None:
        own[ECN] = str(int(ecn))
    return {name: value for name, value in own.items() if sysctls()[name].value != value}


def socket_buffers(items: Iterable[Item]) -> dict[str, str]:
    """What the largest ``window`` of some traffic needs; nothing where the kernel gives that by itself."""
    windows = (item.window_bytes or 0 for item in items if isinstance(item, Iperf3))
    largest_bytes = max(windows, default=0)
    if largest_bytes <= _OWN_BUFFER_BYTES:
        return {}
    return {f"net.core.{direction}mem_max": str(largest_bytes) for direction in "rw"}


def memory_bytes(items: Iterable[Item], own: Mapping[str, Mapping[str, str]]) -> int:
    """What a lab needs, so that sockets can hold what a scenario lets them; ``own`` are the hosts' sysctls.

    All hosts of a lab share its memory. A real one has gigabytes for TCP alone.
    """
    needed_bytes = sum(_held_bytes(item, own) for item in items if isinstance(item, Iperf3))
    rounded_bytes = -(-needed_bytes // _LEAST_TCP_BYTES) * _LEAST_TCP_BYTES
    return OWN_MEMORY_BYTES + min(max(rounded_bytes, _LEAST_TCP_BYTES), _MOST_TCP_BYTES)


def _held_bytes(flow: Iperf3, own: Mapping[str, Mapping[str, str]]) -> int:
    """What the sockets of a flow hold at most, as far as a scenario says so.

    Of a buffer that a program asks for Linux makes twice as much, for its own bookkeeping (socket(7)).
    """
    if flow.window_bytes is not None:
        return 4 * flow.window_bytes * flow.parallel
    buffers = (own[flow.sender].get("net.ipv4.tcp_wmem"), own[flow.receiver].get("net.ipv4.tcp_rmem"))
    return sum(int(figures.split()[-1]) for figures in buffers if figures) * flow.parallel


def tcp_memory(lab_bytes: int) -> dict[str, str]:
    """TCP may hold all that the lab does not need: of a tenth, Linux's own limit, all hosts would share."""
    pages = (lab_bytes - OWN_MEMORY_BYTES) // _PAGE_BYTES
    return {TCP_MEMORY: f"{pages} {pages} {pages}"}
