"""The bottleneck that is proved from counters is the mechanism that the scenario's story names."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from tests.stories import STORIES, told
from wirelab.cli.app import app

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("name", sorted(STORIES))
def test_the_bottleneck_is_what_the_story_names(
    name: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Of every flow of every variant and control; what was measured before is not measured again."""
    lab = [f"--{of}={path}" for of in ("kernel", "root") if (path := request.config.getoption(of))]
    done = CliRunner().invoke(app, ["run", name, "--out", str(tmp_path), "-q", "--no-pictures", *lab])
    assert done.exit_code == 0, done.output
    explained = CliRunner().invoke(app, ["explain", str(tmp_path / "latest" / name), "--json"])
    assert explained.exit_code == 0, explained.output
    found = {
        (variant["name"], flow["flow"]): flow["mechanism"]
        for variant in json.loads(explained.stdout)["variants"]
        for flow in variant["flows"]
    }
    assert found
    assert found == {(variant, flow): told(name, variant, flow) for variant, flow in found}
