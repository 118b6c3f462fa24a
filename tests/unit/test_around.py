"""What is read of a record for some milliseconds: as much as a picture of them shows, and no more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from bursts import AT_NS, PORTS, READY_NS, WAY, at_ps, headers, record, written
from hypothesis import example, given
from hypothesis import strategies as st

from wirelab.errors import LabError
from wirelab.report.picture import moment
from wirelab.results.around import read_around
from wirelab.results.record import HEAD, Dropped, Event, Fill, Frame, Kind, Paused, Sent, read_record

if TYPE_CHECKING:
    from pathlib import Path

AROUND_NS = 5_000
FRAMES = 4
_INSTANTS = st.integers(-4 * AROUND_NS, 2 * AROUND_NS)
_BYTES = st.sampled_from([0, 1, 1514, 9000, 20_000])


def _event(kind: Kind, port: str, number: int, ns: int, figure: int) -> Event:
    if kind is Kind.SENT:
        return Sent(at_ps(ns), kind, port, number, at_ps(ns - 1200), is_control=False, is_damaged=False)
    if kind is Kind.DROPPED:
        return Dropped(at_ps(ns), kind, port, number, 20, figure, 16_384)
    if kind is Kind.PAUSED:
        return Paused(at_ps(ns), kind, port, 0, at_ps(ns + figure), figure % 2, figure)
    if kind is Kind.ARRIVED:
        return Event(at_ps(ns), kind, port, number)
    return Fill(at_ps(ns), kind, port, number, figure, 1)


_A_FRAME = _event(Kind.SENT, "module-line", 1, 0, 0)
_WAITING = [
    [_event(kind, "module-line", 1, -3 * AROUND_NS, 9000), _A_FRAME] for kind in (Kind.QUEUED, Kind.STORED)
]
_LEFT = [
    _event(Kind.QUEUED, "module-line", 2, -3 * AROUND_NS, 9000),
    _event(Kind.TX_RING, "module-line", 2, -2 * AROUND_NS, 0),
    _A_FRAME,
]
_PAUSED = [_event(Kind.PAUSED, "module-line", 0, -3 * AROUND_NS, 3 * AROUND_NS)]
_EVENTS = st.lists(
    st.builds(
        lambda number, ns, length: Frame(at_ps(ns), number, length, headers(number)),
        st.integers(1, FRAMES),
        _INSTANTS,
        _BYTES,
    )
    | st.builds(
        _event,
        st.sampled_from([kind for kind in Kind if kind not in {Kind.PORT, Kind.FRAME, Kind.TCP, Kind.END}]),
        st.sampled_from(PORTS),
        st.integers(1, FRAMES),
        _INSTANTS,
        _BYTES,
    ),
    max_size=40,
)


_RETOLD = [_WAITING[0][0], Frame(at_ps(-2 * AROUND_NS), 1, 9000, headers(1)), *_LEFT, _A_FRAME]


@example(events=_RETOLD, is_in_order=True)
@example(events=_WAITING[0], is_in_order=True)
@example(events=_WAITING[1], is_in_order=True)
@example(events=_LEFT, is_in_order=True)
@example(events=_PAUSED, is_in_order=True)
@given(events=_EVENTS, is_in_order=st.booleans())
def test_a_picture_is_the_same_as_of_the_whole_record(
    tmp_path_factory: pytest.TempPathFactory, events: list[Frame | Event], *, is_in_order: bool
) -> None:
    """Whatever happened before: what still waits or is paused when the picture begins is known."""
    told = sorted(events, key=lambda event: event.at_ps) if is_in_order else events
    frames = [Frame(at_ps(-4 * AROUND_NS), number, 1000 + number, headers(number)) for number in range(1, 5)]
    path = tmp_path_factory.getbasetemp() / "around.bin"
    path.write_bytes(written([*frames, *told]))
    from_ps, until_ps = at_ps(-AROUND_NS), at_ps(AROUND_NS + 1) - 1
    of_all, of_some = (
        moment("a moment", AT_NS, entries, WAY, READY_NS, AROUND_NS)
        for entries in (read_record(path), read_around(path, from_ps, until_ps))
    )
    assert of_some == of_all


def test_what_is_over_is_not_decoded(tmp_path: Path) -> None:
    """Neither what was sent and dropped before, nor frames of which nothing is told."""
    path = tmp_path / "record.bin"
    path.write_bytes(written())
    *_, last = record()
    assert isinstance(last, Event)
    told = list(read_around(path, last.at_ps, last.at_ps))
    assert [one.number for one in told if isinstance(one, Frame)] == [2, 1]
    kinds = [one.kind for one in told if isinstance(one, Event)]
    assert kinds == [Kind.QUEUED, Kind.PAUSED, Kind.PAUSED, Kind.TX_RING, Kind.ARRIVED]


@pytest.mark.parametrize(("port", "kind"), [(7, Kind.ARRIVED), (4, 99)])
def test_a_damaged_record_is_named_with_its_place(port: int, kind: int, tmp_path: Path) -> None:
    """An event at a port that was not told of, and one of no kind."""
    path = tmp_path / "record.bin"
    whole = written([])
    path.write_bytes(whole + HEAD.pack(at_ps(0), 0, port, kind, 0))
    with pytest.raises(LabError, match=rf"record.bin is damaged at byte {len(whole)}$"):
        list(read_around(path, at_ps(0), at_ps(0)))


def test_a_record_may_end_in_an_entry(tmp_path: Path) -> None:
    """What is whole counts."""
    path = tmp_path / "record.bin"
    path.write_bytes(written()[:-1])
    assert len(list(read_around(path, at_ps(-AROUND_NS), at_ps(20_000)))) == len(record()) - 1
