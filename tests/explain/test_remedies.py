"""The remedy that is ranked first is a control's, where one ends a variant's trouble by settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.remedies import Cure, cures, explained, helped, ran

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("cure", list(cures()), ids=str)
def test_the_first_remedy_is_a_controls(cure: Cure, tmp_path: Path, lab_options: list[str]) -> None:
    """It may be another control of the same variant; this one is among what is tried."""
    result = ran(cure.scenario, tmp_path, lab_options)
    found = helped(result, cure)
    if found is None:
        pytest.skip("this control ends no trouble: it takes no cause away, but a cure")
    flow, trouble = found
    searched = ("--remedies", "--variant", cure.variant, "--flow", flow, *lab_options)
    [variant] = [of for of in explained(result, *searched)["variants"] if of["name"] == cure.variant]
    [of] = [of for of in variant["remedies"] if of["flow"] == flow]
    assert (of["helped"]["subject"], of["helped"]["metric"]) == (trouble.subject, trouble.metric)
    first = [one for one in of["remedies"] if one["rank"] == 1]
    tried = [list(one["settings"]) for one in (*of["remedies"], *of["useless"])]
    assert any(cure.is_like(keys) for keys in tried), tried
    assert any(cure.is_shown(list(one["settings"])) for one in first), first
