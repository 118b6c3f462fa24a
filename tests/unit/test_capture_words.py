"""Why a frame was dropped, in the words of a capture."""

from __future__ import annotations

from dataclasses import replace

import pytest
from recorded import port

from wirelab.plan.queue import Queue
from wirelab.plan.shape import Shape
from wirelab.plan.types import Netem
from wirelab.report.capture import why_dropped
from wirelab.results.record import Dropped, Kind

HERE = port("module-line", "module.line", "module", queue=Queue("bfifo", 16 * 1024))


def drop(counter: int | None, fill_bytes: int = 0, limit_bytes: int = 0) -> Dropped:
    """A drop at module.line."""
    return Dropped(0, Kind.DROPPED, "module-line", 1, counter, fill_bytes, limit_bytes)


@pytest.mark.parametrize(
    ("dropped", "words"),
    [
        (drop(None, 15_104, 16_384), "FIFO 16 KiB full, 15 104 B waiting"),
        (drop(20, 1_200_000, 1_500_000), "packet buffer 1.5 MB full, 1 200 000 B waiting"),
        (drop(21, 999, 4_000_000), "shared packet memory 4 MB full, 999 B waiting"),
        (drop(3), "no link"),
        (drop(26), "damaged by bit errors"),
        (drop(99), "counter 99"),
    ],
)
def test_what_was_full_is_named_with_its_limit_and_what_waits(dropped: Dropped, words: str) -> None:
    """And any other cause by itself."""
    assert why_dropped(dropped, HERE) == words


def test_a_queue_without_a_limit_of_bytes_is_named_by_its_kind() -> None:
    """What drops on purpose, and a path that loses as it is asked to."""
    assert why_dropped(drop(None, 3000), replace(HERE, queue=Queue("fq_codel"))) == "by fq_codel"
    assert why_dropped(drop(None), replace(HERE, netem=Netem(loss_ratio=0.1))) == "lost by netem, as asked"
    assert why_dropped(drop(None), replace(HERE, queue=None)) == "egress queue full"
    assert why_dropped(drop(None)) == "by the egress queue"


def test_a_policer_is_named_with_its_rate_unless_the_queue_behind_it_was_full() -> None:
    """Which was dropped by which is not told: a queue with room for the longest frame dropped none."""
    policed = replace(HERE, shape=Shape("police", 50_000_000, 64_000))
    assert why_dropped(drop(None, 0), policed) == "policed to 50 Mbit/s"
    assert why_dropped(drop(None, 16_384 - 1514), policed) == "policed to 50 Mbit/s"
    assert why_dropped(drop(None, 16_384 - 1513), policed) == "egress queue full"
    changed = replace(policed, shape=Shape("police", 50_000_000, 64_000, varies=True))
    assert why_dropped(drop(None, 0), changed) == "by the policer"
