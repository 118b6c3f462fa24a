"""Events, and what is expected of them, that would do nothing: refused before anything runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from examples import HEAD, SHIPPED, scenario

from wirelab.errors import InputError
from wirelab.model.cases import varied
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


NEARER = "switch.p1.queue_limit: 100 kB, switch.p2.queue_limit: 100 kB"


@pytest.mark.parametrize(
    ("settings", "what", "nearer"),
    [
        (NEARER, "switch.queue_limit: 50 kB", "switch.p1.queue_limit"),
        ("switch.p1.loss: 1 %, server.loss: 0.1 %", "dac.loss: 2 %", "server.loss"),
        (
            "switch.p1.pause_rx: on, switch.p1.pause_tx: on",
            "switch.p1.flow_control: off",
            "switch.p1.pause_rx",
        ),
        ("switch.p1.pause_rx: on, switch.p1.pause_tx: on", "switch.flow_control: off", ""),
    ],
)
def test_a_setting_that_a_nearer_one_overrules_is_refused(
    settings: str, what: str, nearer: str, tmp_path: Path
) -> None:
    """In a control it would be none, in a sweep all points would be one."""
    rest = f"controls:\n  - {{breaks: download.goodput, with: {{{what}}}}}\n"
    key, _, text = what.partition(": ")
    case = load_file(scenario(tmp_path, head=f"{HEAD}with: {{{settings}}}\n"), SHIPPED).cases[0]
    if not nearer:
        load_file(scenario(tmp_path, head=f"{HEAD}with: {{{settings}}}\n", rest=rest), SHIPPED)
        varied(case, {key: text})
        return
    told = f"changes nothing: `{nearer}` is nearer"
    with pytest.raises(InputError, match=told):
        load_file(scenario(tmp_path, head=f"{HEAD}with: {{{settings}}}\n", rest=rest), SHIPPED)
    with pytest.raises(InputError, match=f"{key}: {told}"):
        varied(case, {key: text})


@pytest.mark.parametrize("owner", ["scenario", "variant"])
def test_what_a_case_sets_without_effect_is_refused(owner: str, tmp_path: Path) -> None:
    """A reader would take it for what was measured, be it the scenario's own or on top in a variant."""
    settled = f"{NEARER}, switch.queue_limit: 50 kB" if owner == "scenario" else NEARER
    more = "- {name: small, with: {switch.queue_limit: 50 kB}}" if owner == "variant" else "- {name: plain}"
    text = f"{HEAD}with: {{{settled}}}\nvariants:\n  {more}\n"
    with pytest.raises(InputError) as refused:
        load_file(scenario(tmp_path, head=text), SHIPPED)
    (problem,) = refused.value.problems
    assert "switch.queue_limit: changes nothing: `switch.p1.queue_limit` is nearer" in str(problem)


def test_an_event_that_a_nearer_setting_overrules_is_refused(tmp_path: Path) -> None:
    """One that is nearer at a part of the ports leaves it the others."""
    told = _refusal(tmp_path, "at: 2 s, with: {switch.queue_limit: 50 kB}", settings=NEARER)
    assert "changes nothing: `switch.p1.queue_limit` is nearer" in told
    head = f"{HEAD}with: {{{NEARER.partition(',')[0]}, switch.queue_limit: 70 kB}}\n"
    load_file(
        scenario(tmp_path, head=head + "events:\n  - {at: 2 s, with: {switch.queue_limit: 50 kB}}\n"), SHIPPED
    )


@pytest.mark.parametrize("at", ["500 ms", "1 s", "3 s", "3500 ms"])
def test_a_flow_recovers_from_nothing_that_is_not_of_its_time(at: str, tmp_path: Path) -> None:
    """However much happens before it or after it, what is expected of it could never come true."""
    traffic = (
        "traffic:\n  - iperf3: {name: download, from: server, to: client, time: 2 s}\n"
        "  - ping: {name: echo, from: server, to: client, start: 0 s, time: 5 s}\n"
    )
    expect = "expect: {download: {recovers_within: ..1 s}}\n"
    for instant, holds in ((at, False), ("2 s", True)):
        head = f"{HEAD}events:\n  - {{at: {instant}, with: {{patch.link: down}}}}\n"
        path = scenario(tmp_path, head=head, traffic=traffic, expect=expect)
        if holds:
            load_file(path, SHIPPED)
            continue
        with pytest.raises(InputError, match="nothing happens in `main` from 1 s to 3 s that"):
            load_file(path, SHIPPED)
