"""Events: what changes in a network while it runs, and the settings that hold after each of them."""

import contextlib
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from wirelab.model.metric import LINK
from wirelab.model.overruled import overruled, ports_of
from wirelab.model.scenario import Event as Written
from wirelab.model.settings import PART, Setting, SettingReader, Target, Value
from wirelab.model.timetable import end_ns
from wirelab.model.topology import PortRef
from wirelab.model.traffic import Item
from wirelab.model.wiring import Wiring
from wirelab.model.yamlfile import Loc, Report
from wirelab.units import TIME, show

MOST_EVENTS: Final = 10_000
"""Of one case; a flap counts each time, and its end as well."""

_SHAPERS: Final = {"shape.rate": "shape.kind", "shape.burst": "shape.kind", "rate": ""}
"""What there is to change only where it is from the beginning, and where its kind is."""
_OFF: Final = ("delay", "jitter", "loss", "reorder", "bit_error_rate")
"""What is 0 where nobody says anything."""

Key = tuple[Target, str]


@dataclass(frozen=True, slots=True)
class Event:
    """What changes at ``at_ns``: ``what``, in the scenario's words, and each change with its line.

    ``settings`` is all that events have set by then, those of this one included: one object for all events
    after which the same holds.
    """

    at_ns: int
    what: str
    settings: Mapping[Key, Setting]
    loc: Loc

    def wiring(self, before: Wiring) -> Wiring:
        """The wiring of a case from then on."""
        return before.changed(self.settings.values())


@dataclass(frozen=True, slots=True)
class _Change:
    """One setting at one instant: what it is set to, or None where what was before holds again.

    ``over_ns`` is when that is, None where it is set for good.
    """

    at_ns: int
    key: Key
    setting: Setting | None
    name: str
    text: str
    loc: Loc
    over_ns: int | None = None


@dataclass(frozen=True, slots=True)
class _Timeline:
    """Events, and each change with what others have set before it: once, however often it happens."""

    events: tuple[Event, ...] = ()
    steps: tuple[tuple[Mapping[Key, Setting], Setting], ...] = ()


class EventReader:
    """Reads ``events:`` of one scenario, and reports what is wrong with them."""

    def __init__(self, items: Sequence[Item], settings: SettingReader, report: Report) -> None:
        self._end_ns = end_ns(items)
        self._settings = settings
        self._report = report
        self._timelines: dict[Loc, _Timeline] = {}

    def read(self, written: Sequence[Written], loc: Loc, wiring: Wiring) -> tuple[Event, ...]:
        """The events at ``loc`` that befall ``wiring``, instant by instant."""
        # Variants and controls inherit events: what is in them is the same for all.
        if loc not in self._timelines:
            self._timelines[loc] = self._timeline(written, loc)
        timeline = self._timelines[loc]
        for before, setting in timeline.steps:
            if problem := _problem(wiring.changed(before.values()), setting):
                self._report(setting.loc, problem)
        return timeline.events

    def _timeline(self, written: Sequence[Written], loc: Loc) -> _Timeline:
        changes: list[_Change] = []
        for index, event in enumerate(written):
            changes += self._changes(event, (*loc, index))
            if len(changes) > MOST_EVENTS:
                self._report((*loc, index), f"makes more than {MOST_EVENTS} events")
                return _Timeline()
        # What ends at an instant ends before anything begins.
        changes.sort(key=lambda change: (change.at_ns, change.setting is not None))
        self._report_overlaps(changes)
        return self._in_force(changes)

    def _changes(self, event: Written, loc: Loc) -> Iterator[_Change]:
        sound = self._sound(event, loc)
        instants_ns = list(self._instants_ns(event, loc))
        for at_ns in instants_ns:
            for setting in sound:
                name = str(setting.loc[-1])
                key = (setting.target, setting.name)
                text = f"{name} {event.settings[name]}"
                over_ns = None if event.for_ns is None else at_ns + event.for_ns
                yield _Change(at_ns, key, setting, name, text, setting.loc, over_ns)
                if over_ns is not None:
                    yield _Change(over_ns, key, None, name, f"{name} as before", (*loc, "for"))

    def _sound(self, event: Written, loc: Loc) -> list[Setting]:
        """The settings of an event that can change."""
        if not event.settings:
            self._report((*loc, "with"), "changes nothing: say which setting of what, as `patch.link: down`")
        may_change = {}
        for key, text in event.settings.items():
            # What is no setting at all is told by the reader.
            with contextlib.suppress(ValueError):
                if reason := self._settings.fixed(key):
                    message = f"cannot change while the network runs: {reason}"
                    self._report((*loc, "with", key), message)
                    continue
            may_change[key] = text
        return list(self._settings.read(may_change, (*loc, "with"), self._report))

    def _instants_ns(self, event: Written, loc: Loc) -> Iterator[int]:
        """When it happens, each time; what is wrong with that is reported."""
        longest_ns, every_ns = event.for_ns or 0, event.every_ns
        end = f"the end of the traffic, {show(self._end_ns, TIME)}"
        if event.at_ns >= self._end_ns:
            self._report((*loc, "at"), f"`{show(event.at_ns, TIME)}` is not before {end}")
            return
        if every_ns is None:
            if event.until_ns is not None:
                self._report((*loc, "until"), "is for what happens again and again: give `every`, too")
            if event.at_ns + longest_ns > self._end_ns:
                self._report((*loc, "for"), f"ends at {show(event.at_ns + longest_ns, TIME)}, after {end}")
            yield event.at_ns
            return
        if longest_ns >= every_ns:
            self._report(
                (*loc, "every"), "it happens again before it is over: `every` must be more than `for`"
            )
            return
        if event.for_ns is None:
            self._report((*loc, "every"), "changes nothing the second time: say `for` how long it lasts")
            return
        until_ns = min(event.until_ns or self._end_ns, self._end_ns)
        if event.until_ns is not None and not event.at_ns < event.until_ns <= self._end_ns:
            where = "before its first time" if event.until_ns <= event.at_ns else f"after {end}"
            self._report((*loc, "until"), f"`{show(event.until_ns, TIME)}` is {where}")
            return
        if (until_ns - event.at_ns) // every_ns > MOST_EVENTS:
            self._report((*loc, "every"), f"makes more than {MOST_EVENTS} events")
            return
        # Each time with its end, so that all is as before in the end.
        last_ns = until_ns - longest_ns
        if event.at_ns > last_ns:
            over = show(event.at_ns + longest_ns, TIME)
            limit = end if event.until_ns is None else f"`until`, {show(event.until_ns, TIME)}"
            self._report((*loc, "for"), f"never happens: its first time would end at {over}, after {limit}")
        yield from range(event.at_ns, last_ns + 1, every_ns)

    def _in_force(self, changes: Sequence[_Change]) -> _Timeline:
        """What holds after each instant."""
        events: list[Event] = []
        steps: dict[object, tuple[Mapping[Key, Setting], Setting]] = {}
        states: dict[object, Mapping[Key, Setting]] = {}
        overlay: dict[Key, Setting] = {}
        before: dict[Key, list[Setting | None]] = {}
        for at_ns, together in itertools.groupby(changes, key=lambda change: change.at_ns):
            now = list(together)
            self._report_contradictions(now)
            for change in now:
                if change.setting is None:
                    restored = before[change.key].pop()
                    overlay.pop(change.key, None)
                    if restored is not None:
                        overlay[change.key] = restored
                    continue
                steps.setdefault((_mark(overlay), id(change.setting)), (dict(overlay), change.setting))
                before.setdefault(change.key, []).append(overlay.get(change.key))
                overlay[change.key] = change.setting
            what = ", ".join(dict.fromkeys(change.text for change in now))
            settings = states.setdefault(_mark(overlay), dict(overlay))
            events.append(Event(at_ns, what, settings, now[-1].loc))
        return _Timeline(tuple(events), tuple(steps.values()))

    def _report_overlaps(self, changes: Sequence[_Change]) -> None:
        """Of two events of which one begins within the other nobody can say what holds where that is over."""
        lasting: dict[Key, list[_Change]] = {}
        told: set[Loc] = set()
        for change in changes:
            within = [other for other in lasting.get(change.key, ()) if other.over_ns != change.at_ns]
            lasting[change.key] = within
            if change.setting is None:
                continue
            if within and change.loc not in told and _outlasts(change, within[-1]):
                told.add(change.loc)
                other = f"`{within[-1].text}`, which is over at {show(within[-1].over_ns or 0, TIME)}"
                self._report(change.loc, f"overlaps with {other}: begin then, or end by then")
            if change.over_ns is not None:
                within.append(change)

    def _report_contradictions(self, now: Sequence[_Change]) -> None:
        seen: dict[Key, _Change] = {}
        for change in now:
            other = seen.setdefault(change.key, change)
            if other.setting and change.setting and other.setting.value != change.setting.value:
                at = show(change.at_ns, TIME)
                self._report(change.loc, f"contradicts `{other.text}`, which happens at {at}, too")


def states(events: Sequence[Event]) -> tuple[Event, ...]:
    """Of the events of a case the first that leads to each of its networks: a flap has two of them."""
    return tuple({id(event.settings): event for event in reversed(events)}.values())[::-1]


def _mark(settings: Mapping[Key, Setting]) -> frozenset[int]:
    """What tells settings of one timeline from others, of which each is one object."""
    return frozenset(map(id, settings.values()))


def _outlasts(one: _Change, other: _Change) -> bool:
    """Whether what begins within another is not over by the end of that; the same again changes nothing."""
    if one.setting and other.setting and one.setting.value == other.setting.value:
        return False
    return one.over_ns is None or (other.over_ns is not None and one.over_ns > other.over_ns)


def _problem(wiring: Wiring, setting: Setting) -> str | None:
    """Why a setting has nothing to change in a wiring; None if it has."""
    target, name = setting.target, setting.name
    refs = ports_of(wiring, target)
    if name in _SHAPERS and refs:
        missing = [ref for ref in refs if wiring.value(ref, name.replace("burst", "rate")) is None]
        if missing:
            label = wiring.topology.label(missing[0])
            return f"there is no shaper at `{label}` to change: give it a `{name}` in `with`, too"
    if name == "queue_limit" and any(wiring.value(ref, name) is None for ref in refs):
        return "has no limit to come back to: give it one in `with`, too"
    return overruled(wiring, setting) or (
        "changes nothing: it is so already" if is_so(wiring, setting) else None
    )


def is_so(wiring: Wiring, setting: Setting) -> bool:
    """Whether a wiring has what a setting would make of it."""
    target, name = setting.target, setting.name
    refs = ports_of(wiring, target)
    prior = wiring.settings.get((target, name))
    if prior is not None:
        return prior.value == setting.value
    if name == PART:
        return wiring.part_name(target.name) == setting.value
    if name == LINK.name:
        return bool(setting.value)
    if name in _OFF:
        return bool(refs) and all(_of_path(wiring, ref, target, name) == setting.value for ref in refs)
    if name in {"flow_control", "pause_rx", "pause_tx"}:
        ways = ("pause_rx", "pause_tx") if name == "flow_control" else (name,)
        return all(wiring.pause(ref, way) == setting.value for ref in refs for way in ways)
    return bool(refs) and all(wiring.value(ref, name) == setting.value for ref in refs)


def _of_path(wiring: Wiring, ref: PortRef, target: Target, name: str) -> Value:
    """What holds of the path that begins at a port, or of the cable in it."""
    if name == "bit_error_rate":
        return wiring.bits_per_error(ref)
    if name == "loss":
        return wiring.loss_ppm(ref)
    cable = wiring.topology.cable_of(ref)
    if name == "delay" and target.name == cable.name:
        return wiring.delay_ns(cable)
    said = wiring.setting(ref, name)
    return 0 if said is None else said.value
