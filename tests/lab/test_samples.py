"""What is looked at many times a virtual second is written where it has changed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.lab.rig import NS_PER_S, flow, host_port, plan
from wirelab.plan.types import Cable

if TYPE_CHECKING:
    from tests.lab.rig import Rig


def test_a_port_is_sampled_when_it_counts(rig: Rig) -> None:
    """The first sample has every port, and none after it one where nothing happens."""
    ports = [host_port(name, number, 1_000_000_000) for number, name in enumerate("abcd", 1)]
    busy, idle = ports[:2], ports[2:]
    cables = [Cable(one.name, other.name, 15) for one, other in (busy, idle)]
    raw = rig.run(plan(ports, cables, [flow("f", "a", "b", 0, 1, start_ns=NS_PER_S)]))

    samples = [json.loads(line) for line in (raw / "samples.jsonl").read_text().splitlines()]
    assert set(samples[0]["ports"]) == {port.name for port in ports}
    running = [sample for sample in samples if NS_PER_S < sample["at_ns"] < 2 * NS_PER_S]
    assert len(running) >= 8
    for sample in running:
        assert set(sample["ports"]) == {port.name for port in busy}
