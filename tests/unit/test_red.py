"""RED and the threshold of ECN: from a scenario to tc, and read back."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from examples import experiment

from wirelab.guest.queues import read_back
from wirelab.plan import iproute2
from wirelab.plan.build import build_plan
from wirelab.plan.queue import Queue, Red

if TYPE_CHECKING:
    from pathlib import Path

    from wirelab.plan.types import Port

STEP = "switch.p2.red_min: 30 kB, switch.p2.red_max: 30 kB"
RAMP = "switch.p2.red_min: 30 kB, switch.p2.red_max: 90 kB, switch.p2.red_probability: 10 %"


def _port(folder: Path, settings: str) -> Port:
    loaded = experiment(folder, settings=f"switch.p2.queue: red, {settings}")
    return build_plan(loaded, loaded.cases[0], 1).port("switch-p2")


def test_thresholds_are_those_of_the_datasheet(tmp_path: Path) -> None:
    """A ramp has a share, a step has none; the queue is as long as the switch has it."""
    step = _port(tmp_path, STEP).queue
    assert step == Queue("red", 107_520, red=Red(30_000, 30_000))
    ramp = _port(tmp_path, f"{RAMP}, switch.p2.ecn: on, switch.p2.queue_limit: 200 kB").queue
    assert ramp == Queue("red", 200_000, ecn=True, red=Red(30_000, 90_000, 100_000))


@pytest.mark.parametrize(("least", "words"), [(30_000, "avpkt 1579 burst 19"), (1000, "avpkt 1000 burst 1")])
def test_the_average_is_as_near_to_the_queue_as_tc_can(tmp_path: Path, least: int, words: str) -> None:
    """With a burst that fills the lower threshold tc chooses the largest weight, a half."""
    port = _port(tmp_path, RAMP)
    (line,) = iproute2.egress(replace(port, queue=Queue("red", 107_520, red=Red(least, 90_000, 100_000))))
    thresholds = f"root red limit 107520 min {least} max 90000"
    assert line.endswith(f"{thresholds} {words} bandwidth 10000000000bit probability 0.100000")


def test_what_is_not_in_force_is_seen(tmp_path: Path) -> None:
    """Each threshold, the share, the weight and whether it marks, as tc tells them with details."""
    port = _port(tmp_path, f"{RAMP}, switch.p2.ecn: on")
    options = {"limit": 107_520, "min": 30_000, "max": 90_000, "ecn": True, "ewma": 1, "probability": 0.1}
    qdisc = {"kind": "red", "dev": port.name, "root": True, "options": options}
    found = read_back(port, [qdisc])
    assert {setting.setting for setting in found if setting.asked == setting.actual} == {
        *("qdisc", "queue_limit_bytes", "queue_ecn", "red_min_bytes", "red_max_bytes"),
        *("red_weight_log2", "red_probability_ppm"),
    }
    other = {**qdisc, "options": {**options, "ewma": 9, "probability": 0.2, "min": 1}}
    wrong = {setting.setting for setting in read_back(port, [other]) if setting.asked != setting.actual}
    assert wrong == {"red_min_bytes", "red_weight_log2", "red_probability_ppm"}
