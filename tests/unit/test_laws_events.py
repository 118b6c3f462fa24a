"""The laws of a network that changes while it runs: each event takes place, and excuses what it changes."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from broken_laws import names
from recorded import plan, recording

from wirelab.errors import LabError
from wirelab.plan.types import Event
from wirelab.results.result import read_result
from wirelab.verdict.checks import check_laws

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from recorded import Recording

    from wirelab.verdict.checks import Check

PATCH = plan().cable_of("client-eth0")
AT_NS = 5_000_000_000
PULLED = replace(plan(), events=(Event(AT_NS, "patch.link down", cables=(replace(PATCH, plugged=False),)),))
SETTING = {"port": "client-eth0", "setting": "up", "asked": True, "actual": True}


def _found(recorded: Recording, folder: Path, told: dict[str, Any] | None) -> tuple[Check, ...]:
    raw = recorded.write(folder)
    if told is not None:
        (raw / "events.json").write_text(json.dumps(told), encoding="utf-8")
    return check_laws(PULLED, read_result(PULLED, raw))


def _told(*at_ns: int, **setting: object) -> dict[str, Any]:
    return {"events": [{"at_ns": one, "settings": [SETTING | setting]} for one in at_ns], "last": []}


def _cut(*ports: str) -> Recording:
    """A run in which some ports had no link any more after AT_NS."""
    recorded = recording()
    for snapshot, port in itertools.product(("download:end", "end"), ports):
        recorded.snapshot(snapshot)["links"][port] |= {"up": False, "speed_bps": None, "duplex": None}
    return recorded


@pytest.mark.parametrize(
    ("at_ns", "broken"),
    [((AT_NS,), set()), ((AT_NS + 52,), set()), ((AT_NS - 1,), {"events"}), ((), {"events"})],
    ids=["at its instant", "when the clock was read", "too soon", "never"],
)
def test_an_event_takes_place_at_its_instant(
    at_ns: tuple[int, ...], broken: set[str], tmp_path: Path
) -> None:
    """Not before, not later, and not at all is no run of this Plan; reading the clock takes its time."""
    recorded = _cut("client-eth0", "module-line")
    assert names(_found(recorded, tmp_path, _told(*at_ns))) == broken


def test_an_event_after_all_traffic_does_not_take_place(tmp_path: Path) -> None:
    """A transfer may be over long before it might be, and with it what was to happen until then."""
    late = replace(PULLED, events=(*PULLED.events, Event(600_000_000_000, "patch.link up", cables=(PATCH,))))
    raw = _cut("client-eth0", "module-line").write(tmp_path)
    (raw / "events.json").write_text(json.dumps(_told(AT_NS)), encoding="utf-8")
    result = read_result(late, raw)
    assert names(check_laws(late, result)) == set()
    assert result.due(late) == PULLED.events


def test_an_event_that_is_late_breaks_a_law(tmp_path: Path) -> None:
    """By a timer's slack of 50 us, for example; the sentence has both instants."""
    (found,) = _found(_cut("client-eth0", "module-line"), tmp_path, _told(AT_NS + 50_000))
    assert found.explanation == "patch.link down: took place at 5000050000 ns, was to at 5000000000 ns"


def test_what_an_event_has_set_is_read_back(tmp_path: Path) -> None:
    """A setting that did not take is an error as at the beginning."""
    recorded = _cut("client-eth0", "module-line")
    assert names(_found(recorded, tmp_path, _told(AT_NS, actual=False))) == {"settings"}


def test_an_event_excuses_its_own_cable_alone(tmp_path: Path) -> None:
    """The link of another one may not go while it does."""
    found = _found(_cut("client-eth0", "module-line", "server-eth0", "switch-p1"), tmp_path, _told(AT_NS))
    assert names(found) == {"link"}
    assert all("server" in str(one.explanation) or "switch.p1" in str(one.explanation) for one in found)


def test_a_lab_that_says_nothing_of_its_events_is_broken(tmp_path: Path) -> None:
    """The file is part of what a Plan with events leaves."""
    with pytest.raises(LabError, match=r"events\.json: the lab did not write it"):
        _found(recording(), tmp_path, None)
