"""Events, and what is expected of them, that would do nothing: refused before anything runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from examples import HEAD, SHIPPED, scenario

from wirelab.errors import InputError
from wirelab.model.experiment import load_file

if TYPE_CHECKING:
    from pathlib import Path


def _refusal(folder: Path, events: str, *, settings: str = "", rest: str = "") -> str:
    head = f"{HEAD}with: {{{settings}}}\nevents:\n  - {{{events}}}\n"
    with pytest.raises(InputError) as caught:
        load_file(scenario(folder, head=head, rest=rest), SHIPPED)
    return str(caught.value)


@pytest.mark.parametrize(
    ("until", "limit"), [("", "the end of the traffic, 11 s"), (", until: 9500 ms", "`until`, 9.5 s")]
)
def test_what_has_no_time_to_end_never_happens(until: str, limit: str, tmp_path: Path) -> None:
    """Each time of what happens again and again has its end: where the first has none, there is no time."""
    told = _refusal(tmp_path, f"at: 8 s, for: 5 s, every: 10 s{until}, with: {{patch.link: down}}")
    assert f"never happens: its first time would end at 13 s, after {limit}" in told
