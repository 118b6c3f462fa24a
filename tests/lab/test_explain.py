"""The bottleneck is the mechanism that the scenario's story names; what helps is what its control says."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from tests.remedies import Cure, explained, ran
from tests.stories import STORIES, told
from wirelab.cli.app import app
from wirelab.units import BYTES_PER_KIB
from wirelab.verdict.formulas import longest_burst_frames

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("name", sorted(STORIES))
def test_the_bottleneck_is_what_the_story_names(name: str, tmp_path: Path, lab_options: list[str]) -> None:
    """Of every flow of every variant and control; what was measured before is not measured again."""
    done = CliRunner().invoke(app, ["run", name, "--out", str(tmp_path), "-q", "--no-pictures", *lab_options])
    assert done.exit_code == 0, done.output
    explained = CliRunner().invoke(app, ["explain", str(tmp_path / "latest" / name), "--json"])
    assert explained.exit_code == 0, explained.output
    found = {
        (variant["name"], flow["flow"]): flow["mechanism"]
        for variant in json.loads(explained.stdout)["variants"]
        for flow in variant["flows"]
    }
    assert found
    for of in dict.fromkeys(variant for variant, _ in found):
        mechanisms = {flow: mechanism for (variant, flow), mechanism in found.items() if variant == of}
        named = {flow: told(name, of, flow) for flow in mechanisms}
        assert all(mechanisms[flow] in named[flow] for flow in named), mechanisms
        assert set(mechanisms.values()) == frozenset().union(*named.values()), mechanisms


def test_a_burst_finds_as_much_room_as_the_formula_says_and_pause_helps(
    tmp_path: Path, lab_options: list[str]
) -> None:
    """Single frames and the arithmetic agree; what helps first is the control's change, and has its costs.

    The whole catalogue is `make test-explain`.
    """
    result = ran("sfp-flow-control-off", tmp_path, lab_options)
    [variant] = explained(result, "--frames", "--remedies", "--most", "4", *lab_options)["variants"]
    seen = variant["bursts"]["download"]
    rates = (10_000_000_000, 2_500_000_000)
    longest = longest_burst_frames(20 * BYTES_PER_KIB, 1514, *rates)
    assert longest == 18
    # A frame may be on the wire when a burst begins, and has its place already; or one may wait still.
    assert longest - 1 <= seen["found_room"]["most"] <= longest + 1
    assert seen["losing_frames"]["least"] > seen["found_room"]["least"]
    assert seen["lost"]["median"] >= 1
    [of] = variant["remedies"]
    cure = Cure("sfp-flow-control-off", "main", "listening-switch", frozenset({("switch", "flow_control")}))
    assert cure.is_like(list(of["remedies"][0]["settings"]))
    assert of["remedies"][0]["after"] > 1.5 * of["remedies"][0]["before"]
    assert any("is paused" in words for words in of["remedies"][0]["costs"])
