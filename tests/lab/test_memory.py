"""The packet memory of a switch: cells, and the queue that counts as it does."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.lab.rig import Rig

RTL9303_CELL, RTL9303_PAGES = 384, 280
"""Realtek's driver tables: pages of 384 B, and the drop threshold of an egress queue."""

# The one frame of the ring behind the queue, on the wire.
BELOW = 1

FRAME, POOL, COUNT = 1514, 400_000, 400


def cells(rig: Rig, *, cell: int = 0, limit: int, length: int, alpha: int = 0) -> dict[str, Any]:
    """What waits in a bridge with so much memory, of 400 frames."""
    return rig.script("cells.py", *map(str, (cell, limit, COUNT, length, alpha)))


def thresholds(rig: Rig, alpha: float, senders: int, receivers: int, name: str) -> dict[str, Any]:
    """What the ports of a bridge hold that share a memory and are offered more than there is."""
    return rig.script("thresholds.py", *map(str, (POOL, int(128 * alpha), senders, receivers, name)))


@pytest.mark.parametrize(("length", "pages"), [(60, 1), (384, 1), (385, 2), (1514, 4)])
def test_a_queue_holds_whole_cells(rig: Rig, length: int, pages: int) -> None:
    """280 small frames and not 1790, 70 long ones; in the buffer and the shared memory it is the same."""
    told = cells(rig, cell=RTL9303_CELL, limit=RTL9303_PAGES * RTL9303_CELL, length=length)
    room = RTL9303_PAGES // pages
    ingress, egress = told["waiting"]["p2"], told["waiting"]["p3"]
    assert egress["queue_high_water_bytes"] == room * pages * RTL9303_CELL
    assert told["queue"]["kind"] == "etherfifo"
    # While the rest was sent some have left.
    left = told["gone"]["p4"]["rx_wire_frames"] - room - BELOW
    assert 0 <= left < COUNT // 20
    assert told["queue"]["drops"] == egress["queue_dropped_frames"] == COUNT - room - BELOW - left
    waiting = told["queue"]["qlen"]
    # tc is asked last, and a frame may have left since.
    for held, below in (
        (egress["queue_bytes"], 0),
        (ingress["buffer_bytes"], BELOW),
        (ingress["pool_used_bytes"], BELOW),
    ):
        assert held % (pages * RTL9303_CELL) == 0
        assert held // (pages * RTL9303_CELL) - below in (waiting, waiting + 1)


@pytest.mark.parametrize("cell", [0, 1])
def test_a_memory_without_cells_counts_bytes(rig: Rig, cell: int) -> None:
    """A short frame takes what it has with its padding, in the queue as in the buffer."""
    told = cells(rig, cell=cell, limit=6_000, length=20)
    assert told["waiting"]["p3"]["queue_high_water_bytes"] == 6_000
    assert told["waiting"]["p2"]["buffer_high_water_bytes"] == 6_000 + (BELOW + 1) * 60


def test_a_frame_gives_back_what_it_took(rig: Rig) -> None:
    """Nothing is left when all have gone; meanwhile a cell keeps its size."""
    told = cells(rig, cell=RTL9303_CELL, limit=1_000_000, length=100)
    assert told["refused"] == errno.EBUSY
    for port in ("p2", "p3"):
        assert {told["gone"][port][name] for name in ("buffer_bytes", "pool_used_bytes", "queue_bytes")} == {
            0
        }


@pytest.mark.parametrize("busy", [1, 2, 4])
@pytest.mark.parametrize("alpha", [0.25, 1, 4])
def test_a_queue_takes_its_share_of_what_is_free(rig: Rig, alpha: float, busy: int) -> None:
    """Choudhury and Hahne: alpha x B / (1 + n alpha) each, if n ports are busy, to a frame or two."""
    told = thresholds(rig, alpha, 1, busy, "queue_alpha_128ths")
    # What is below the queues is memory that is not free either.
    share = alpha * (POOL - BELOW * busy * FRAME) / (1 + busy * alpha)
    for port in told["out"]:
        assert share - 2 * FRAME < port["queue_bytes"] <= share + FRAME
        assert port["queue_dropped_frames"] > 0
        assert port["rx_dropped_pool"] == 0
    assert abs(told["out"][0]["queue_bytes"] - alpha * POOL / (1 + busy * alpha)) < 3 * FRAME


@pytest.mark.parametrize("senders", [1, 2, 3])
@pytest.mark.parametrize("alpha", [0.25, 1])
def test_xoff_is_a_share_of_what_is_free(rig: Rig, alpha: float, senders: int) -> None:
    """Each port says stop when it has brought in as much, and takes what was under way; nothing is lost."""
    told = thresholds(rig, alpha, senders, 1, "xoff_alpha_128ths")
    share = alpha * POOL / (1 + senders * alpha)
    for port in told["into"]:
        assert port["tx_pause_frames"] > 0
        assert port["rx_dropped_pool"] == port["rx_dropped_buffer"] == 0
    together = sum(port["buffer_high_water_bytes"] for port in told["into"])
    assert senders * (share - FRAME) < together <= senders * (share + 4 * FRAME)
    assert told["out"][0]["queue_dropped_frames"] == 0


def test_of_two_limits_the_smaller_counts(rig: Rig) -> None:
    """A large share does not lift the fixed limit, and a memory without limit has no share."""
    told = cells(rig, limit=6_000, length=60, alpha=128)
    assert told["waiting"]["p3"]["queue_high_water_bytes"] == 6_000
    told = cells(rig, limit=500_000, length=60, alpha=1)
    assert told["waiting"]["p3"]["queue_high_water_bytes"] == pytest.approx((1 << 20) / 129, abs=180)


def test_the_queue_is_one_of_ports(rig: Rig) -> None:
    """Any other device has no memory that it could count."""
    output = rig.execute("sh", "-c", "ip link set lo up; tc qdisc add dev lo root etherfifo")
    assert output.code != 0
    assert "a queue of an etherport" in output.stderr


def test_a_cell_has_its_limits(rig: Rig) -> None:
    """64 KiB, more than the longest frame."""
    command = "ip link add name p1 type etherport; echo 65537 > /sys/class/net/p1/etherport/buffer_cell_bytes"
    output = rig.execute("bash", "-c", command)
    assert output.code != 0
    assert "range" in output.stderr


@pytest.mark.parametrize(("length", "cell"), [(1004, 0), (386, 384), (64, 0)])
def test_a_tag_takes_room_in_the_queue_as_in_the_buffer(rig: Rig, length: int, cell: int) -> None:
    """A bridge keeps it beside the frame: what waits is as long as what came and what leaves."""
    told = rig.script("tagged_queue.py", str(length), str(cell))
    each = cell * -(-length // cell) if cell else length
    assert told["p2"]["buffer_bytes"] == 10 * each
    waiting = told["p3"]["queue_bytes"] + each * told["p3"]["tx_ring_frames"]
    assert waiting == 10 * each
    assert told["p3"]["queue_high_water_bytes"] == told["p3"]["queue_bytes"]


def test_the_high_water_does_not_depend_on_who_looks(rig: Rig) -> None:
    """Of a queue for each priority it is the most that all held at once."""
    looked, alone = (rig.script("high_water.py", *look) for look in (("look",), ()))
    assert looked["queue_high_water_bytes"] == alone["queue_high_water_bytes"] > 18_000
