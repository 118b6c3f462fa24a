"""Series: what is written once for many names is as if it had been written for each."""

from __future__ import annotations

import pytest

from wirelab.errors import InputError
from wirelab.model.series import LONGEST, written_out
from wirelab.model.yamlfile import MOST_VALUES, parse

SHORT = """\
nodes:
  pc1..pc3: {kind: host, part: nas}
  switch: {kind: switch, part: crs317}
cables:
  - {name: uplink, between: [switch.p9, core.p1]}
  - {name: desk1..desk3, between: [pc1..pc3, switch.p2..p4], length: 3 m}
with: {pc2..pc3.nic: e1000}
expect:
  up1..up3: {goodput: 1..2 Gbit/s, why: pc1..pc3}
drawing: pc1..pc3 == switch
"""
LONG = """\
nodes:
  pc1: {kind: host, part: nas}
  pc2: {kind: host, part: nas}
  pc3: {kind: host, part: nas}
  switch: {kind: switch, part: crs317}
cables:
  - {name: uplink, between: [switch.p9, core.p1]}
  - {name: desk1, between: [pc1, switch.p2], length: 3 m}
  - {name: desk2, between: [pc2, switch.p3], length: 3 m}
  - {name: desk3, between: [pc3, switch.p4], length: 3 m}
with: {pc2.nic: e1000, pc3.nic: e1000}
expect:
  up1: {goodput: 1..2 Gbit/s, why: pc1}
  up2: {goodput: 1..2 Gbit/s, why: pc2}
  up3: {goodput: 1..2 Gbit/s, why: pc3}
drawing: pc1..pc3 == switch
"""


def test_a_series_is_as_if_each_name_was_written() -> None:
    """Keys, the items of a list and what varies within them; ranges of figures and texts stay."""
    assert written_out(parse(SHORT, "x.yaml")).root == parse(LONG, "x.yaml").root


def test_what_was_written_once_has_one_place() -> None:
    """A message names the line and the words of the file, not the copy that it was found in."""
    document = written_out(parse(SHORT, "x.yaml"))
    problems = {str(document.problem(("nodes", pc, "part"), "is wrong")) for pc in ("pc1", "pc2", "pc3")} | {
        str(document.problem(("cables", index, "between", 1), "is wrong")) for index in (1, 2, 3)
    }
    assert problems == {
        "x.yaml:2: nodes.pc1..pc3.part: is wrong",
        "x.yaml:6: cables[1].between[1]: is wrong",
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nodes: {pc3..pc1: {}}", "x.yaml:1: nodes.pc3..pc1: counts down"),
        ("nodes: {pc1..pc999: {}}", f"x.yaml:1: nodes.pc1..pc999: has more than {LONGEST} members"),
        (
            "nodes: {pc2: {}, pc1..pc3: {}}",
            "x.yaml:1: nodes.pc1..pc3: duplicate key, `pc2` is first on line 1",
        ),
        (
            "cables:\n- {name: desk1..desk3, between: [pc1..pc3, switch.p1..p2]}",
            "x.yaml:2: cables[0].between[1]: has 2 members, where another series of the same item has 3",
        ),
    ],
    ids=["down", "long", "twice", "lengths"],
)
def test_a_series_that_cannot_be_is_reported(text: str, message: str) -> None:
    """Where it stands, and what is wrong with it: once."""
    assert [str(problem) for problem in written_out(parse(text, "x.yaml")).problems] == [message]


def test_series_within_series_have_a_limit() -> None:
    """A few words stand for no more than a file may have."""
    document = parse("a1..a200: {b1..b200: {c1..c200: x}}", "x.yaml")
    with pytest.raises(InputError, match=f"is beyond the limit of {MOST_VALUES} keys and values in a file"):
        written_out(document)
