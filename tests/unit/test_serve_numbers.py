"""Numbers as students type them, on whatever keyboard they have."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from students import HERE, PREDICTED, kept

from wirelab.serve.forms import with_point

if TYPE_CHECKING:
    from served import Served


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("38,2", "38.2"),
        (" 0,75 kB", "0.75 kB"),
        ("38.2", "38.2"),
        ("1,200", "1,200"),
        ("1,20,3", "1,20,3"),
        ("1,2.3", "1,2.3"),
        ("12, 5", "12, 5"),
        ("a guess, 5,2", "a guess, 5,2"),
    ],
)
def test_a_decimal_comma_is_a_point(typed: str, read: str) -> None:
    """But for three digits, which may be thousands, and for what is no number that begins so."""
    assert with_point(typed).strip() == read


def test_numbers_are_typed_on_a_phone_that_writes_a_comma(served: Served) -> None:
    """Predictions and answers: what may mean two things is refused, and stays as it was typed."""
    ada = served.student()
    comma = {**PREDICTED, "value__burst": "38,2"}
    assert ada.post(f"{HERE}/seal", **{**comma, "value__upload": "1,200"}).status == 422
    assert kept(served).draft["value.upload"] == "1,200"
    assert ada.post(f"{HERE}/seal", **comma).status == 200
    assert kept(served).work.predictions["burst"].value == "38.2 kB"
    ada.post(f"{HERE}/run")
    served.wait_for_runs()
    ada.get(HERE)
    ada.post(f"{HERE}/answer", answer__dropped="159,0")
    assert kept(served).work.answers["dropped"].value == "159"
