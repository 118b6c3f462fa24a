"""The remedy that is ranked first is a control's, where one takes the cause away by a single setting."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.remedies import BETTER, Cure, cures, explained, helped, ran

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("cure", list(cures()), ids=str)
def test_the_first_remedy_is_the_controls(cure: Cure, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Or of what is as good and takes less; where another one is better, it is said why."""
    lab = [f"--{of}={path}" for of in ("kernel", "root") if (path := request.config.getoption(of))]
    result = ran(cure.scenario, tmp_path, lab)
    flow = helped(json.loads((result / "result.json").read_text(encoding="utf-8")), cure)
    if flow is None:
        pytest.skip("this control makes no flow faster: it takes no remedy away, but a cure")
    searched = ("--remedies", "--variant", cure.variant, "--flow", flow, *lab)
    [variant] = [of for of in explained(result, *searched)["variants"] if of["name"] == cure.variant]
    [of] = [of for of in variant["remedies"] if of["flow"] == flow]
    first = of["remedies"][0]
    tried = [list(one["settings"]) for one in (*of["remedies"], *of["useless"])]
    assert any(cure.is_like(keys) for keys in tried), f"{cure.node} {cure.setting} was not tried"
    if (cure.scenario, cure.control) in BETTER:
        assert not cure.is_like(list(first["settings"]))
    else:
        assert cure.is_like(list(first["settings"])), first
