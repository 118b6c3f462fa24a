"""The packet memory that the ports of a switch share."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.lab.rig import Rig

POOL_BYTES = 100_000


def ports(stdout: str) -> list[dict[str, int]]:
    """What each port counted, as `inside.py` printed it."""
    lines = (line.partition("counters ") for line in stdout.splitlines())
    return [json.loads(counted) for _, marker, counted in lines if marker]


def test_ports_share_what_there_is(rig: Rig) -> None:
    """Two senders overload a third port: together they hold no more than the pool, and then lose."""
    output = rig.execute("sh", "pool.sh", str(POOL_BYTES))
    assert output.code == 0, output.stderr
    receiver, *senders = ports(output.stdout)
    assert sum(sender["rx_dropped_pool"] for sender in senders) > 0
    for sender in senders:
        assert sender["rx_dropped_buffer"] == 0
        assert sender["buffer_high_water_bytes"] <= POOL_BYTES
        assert sender["rx_wire_frames"] == sender["rx_frames"] + sender["rx_dropped_pool"]
        assert sender["pool_used_bytes"] == 0
    assert receiver["queue_high_water_bytes"] <= POOL_BYTES


def test_a_pool_that_is_large_enough_is_not_seen(rig: Rig) -> None:
    """With more than ever waits, the ports' own limits are all there is."""
    output = rig.execute("sh", "pool.sh", "100000000")
    assert output.code == 0, output.stderr
    for port in ports(output.stdout):
        assert port["rx_dropped_pool"] == 0


@pytest.mark.parametrize(
    ("setting", "message"), [("pool 257", "range"), ("pool_bytes 1", "Invalid argument")]
)
def test_a_pool_needs_a_number(rig: Rig, setting: str, message: str) -> None:
    """There are 256 of them, and a size is a pool's, not a port's."""
    name, value = setting.split()
    command = f"ip link add name p1 type etherport; echo {value} > /sys/class/net/p1/etherport/{name}"
    output = rig.execute("bash", "-c", command)
    assert output.code != 0
    assert message in output.stderr
