"""The sysctls of every host: all of them pinned, in ``sysctls.conf`` as sysctl(8) reads it."""

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Final

from wirelab.plan.traffic import Iperf3, Item

CONGESTION: Final = "net.ipv4.tcp_congestion_control"
TIMESTAMPS: Final = "net.ipv4.tcp_timestamps"
ECN: Final = "net.ipv4.tcp_ecn"

_OWN_BUFFER_BYTES: Final = 2**21
"""What every kernel of the lab lets a socket have, unasked."""


def socket_buffers(items: Iterable[Item]) -> dict[str, str]:
    """What the largest ``window`` of some traffic needs; nothing where the kernel gives that by itself."""
    windows = (item.window_bytes or 0 for item in items if isinstance(item, Iperf3))
    largest_bytes = max(windows, default=0)
    if largest_bytes <= _OWN_BUFFER_BYTES:
        return {}
    return {f"net.core.{direction}mem_max": str(largest_bytes) for direction in "rw"}


@cache
def pinned_sysctls() -> Mapping[str, str]:
    """Every pinned sysctl, in the order of the file."""
    lines = Path(__file__).with_suffix(".conf").read_text(encoding="utf-8").splitlines()
    pairs = (line.split(" = ") for line in lines if line and not line.startswith("#"))
    return dict(pairs)
