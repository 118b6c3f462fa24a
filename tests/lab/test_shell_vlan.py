"""The prompt of a network with VLANs: `show` tells what is on the line, tags included."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.lab.sessions import SCENARIO, switched_on, told

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wirelab.lab.select import Lab
    from wirelab.shell.session import Session


@pytest.fixture
def session(lab: Lab) -> Iterator[Session]:
    """Two floors, with two networks on the cable between them."""
    with switched_on(lab, file=SCENARIO.with_name("vlan-trunk.yaml")) as one:
        yield one


def test_a_frame_that_waits_has_its_tag(session: Session) -> None:
    """On the trunk each is of its network and four bytes longer, and at the port of a desk none has a tag."""
    told(session, "start office", "start guests", "run 300 ms")
    waiting = set(
        re.findall(r"^ +\d+  \w+ of (\w+), .*(, VLAN .* B)$", told(session, "show ground.p3"), re.MULTILINE)
    )
    assert waiting == {("office", ", VLAN 10, 1518 B"), ("guests", ", VLAN 20, 1518 B")}
    assert re.search(r"ACK, 1514 B$", told(session, "show desk"), re.MULTILINE)
