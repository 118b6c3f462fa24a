"""How much was lost at a place, and what TCP makes of it where that is a matter of chance."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from recorded import plan, recording, with_ports

from wirelab.plan.node import Firewall
from wirelab.results.result import read_result
from wirelab.verdict.bottleneck import bottlenecks
from wirelab.verdict.formulas import full_frame_bytes, segment_bytes

if TYPE_CHECKING:
    from pathlib import Path

    from wirelab.plan.types import Plan


def told(folder: Path, cause: str, lost: int) -> str:
    """The chain of a download of which switch.p1 lost so many frames of 200 000."""
    recorded = recording(dropped=0)
    for name in ("download:end", "end"):
        recorded.stats(name, "switch-p1")[f"rx_dropped_{cause}"] = lost
    recorded.flows["download.client"]["end"]["sum_sent"]["retransmits"] = lost
    result = read_result(plan(), recorded.write(folder))
    return "; ".join(next(one.chain for one in bottlenecks(plan(), result) if one.flow == "download"))


@pytest.mark.parametrize(
    ("lost", "words"),
    [
        (1000, "1 000 frames were lost there of 200 000, 1 in 200"),
        (144_000, "144 000 frames were lost there, 72 % of what came"),
        (200_000, "200 000 frames were lost there, all that came"),
    ],
)
def test_heavy_losses_are_a_share(lost: int, words: str, tmp_path: Path) -> None:
    """No whole number says how many of them are one in how many."""
    assert words in told(tmp_path, "fcs", lost)


def test_the_formula_is_for_few_losses_at_random(tmp_path: Path) -> None:
    """Mathis' needs a window that halves now and then, and not the same frames lost each time."""
    formula = "is lost TCP Reno gets"
    assert formula in told(tmp_path / "few", "fcs", 1000)
    assert formula not in told(tmp_path / "many", "fcs", 40_000)
    assert formula not in told(tmp_path / "long", "oversize", 1000)


def segment(the_plan: Plan) -> tuple[int, int]:
    """The payload and the frame of the download's full segments."""
    download = the_plan.flows[1]
    return segment_bytes(the_plan, download), full_frame_bytes(the_plan, download)


def test_a_segment_is_as_long_as_its_ends_know() -> None:
    """A switch tells nobody that it passes only shorter ones on; a router does, and so does the other end."""
    long = with_ports(plan(), mtu_bytes=9000)
    narrow = with_ports(long, "switch-p1", "switch-p2", mtu_bytes=1500)
    assert segment(narrow) == (8948, 9014)
    routed = replace(narrow, switches=(), firewalls=(Firewall("switch", "linux-router"),))
    assert segment(routed) == (1448, 1514)
    assert segment(with_ports(long, "client-eth0", mtu_bytes=1400)) == (1348, 1414)
