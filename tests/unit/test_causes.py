"""Why frames were lost at a port, in the words of a verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from recorded import plan, recording, with_ports

from wirelab.plan.types import Pool
from wirelab.results.result import read_result
from wirelab.verdict.happenings import dropped

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("counter", "words"),
    [
        ("rx_dropped_down", "port down"),
        ("tx_dropped_down", "no link"),
        ("rx_dropped_fcs", "damaged by bit errors"),
        ("rx_dropped_buffer", "packet buffer 1533 KiB full"),
        ("rx_dropped_pool", "shared packet memory 1 MB full"),
        ("rx_dropped_by_moonlight", "rx by moonlight"),
    ],
)
def test_a_cause_has_its_words(counter: str, words: str, tmp_path: Path) -> None:
    """Those that a capture has, with the size of what was full; one without words is told by its name."""
    recorded = recording(dropped=0)
    recorded.stats("end", "client-eth0")[counter] = 5
    pooled = with_ports(plan(), "client-eth0", pool=Pool(1, 1_000_000))
    result = read_result(pooled, recorded.write(tmp_path))
    port = pooled.port("client-eth0")
    assert dropped(pooled, result, [port]) == [f"5 frames were dropped at client ({words})"]
