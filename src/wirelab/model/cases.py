"""Cases: the variants and controls of a scenario, each with its own wiring and expectations."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeVar

from wirelab.errors import InputError, Problem, unknown
from wirelab.model.check.traffic import transfer_problems
from wirelab.model.check.wiring import wiring_conflicts
from wirelab.model.events import Event, EventReader, is_so, states
from wirelab.model.expect import Expectation
from wirelab.model.expect_reader import ExpectReader, mappings, written_expectations
from wirelab.model.overruled import overruled
from wirelab.model.parts import Parts
from wirelab.model.published import Published, read_published
from wirelab.model.scenario import Control, Scenario
from wirelab.model.scenario import Event as WrittenEvent
from wirelab.model.settings import INSTEAD, Setting, SettingReader
from wirelab.model.timetable import starts_ns
from wirelab.model.topology import Topology
from wirelab.model.trace_file import Traces
from wirelab.model.wiring import Wiring
from wirelab.model.yamlfile import Document, Loc
from wirelab.units import TIME, Quantity, show

MAIN: Final = "main"
"""The name of the one case of a scenario without variants."""
MOST_CASES: Final = 200
"""Variants, and controls, of one scenario; a sweep takes more."""

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Case:
    """One way to run a scenario: a variant, or a control if ``breaks`` names what it must break.

    The ``expectations`` of a control are those of its variant.
    """

    name: str
    wiring: Wiring
    expectations: tuple[Expectation, ...]
    breaks: str | None = None
    events: tuple[Event, ...] = ()

    @property
    def is_control(self) -> bool:
        """Whether this must fail an expectation for the scenario to pass."""
        return self.breaks is not None


@dataclass(frozen=True, slots=True)
class _Draft:
    """A variant before its wiring is looked at."""

    settings: tuple[Setting, ...]
    expectations: tuple[Expectation, ...]
    events: Sequence[WrittenEvent]
    events_loc: Loc


def quantity_of(case: Case, key: str) -> Quantity | None:
    """What a setting of the case is measured in, None for words. Raises InputError if there is none."""
    try:
        return _reader(case).quantity(key)
    except ValueError as error:
        raise InputError(f"{key}: {error}") from None


def is_replaced(case: Case, key: str, by: str) -> bool:
    """Whether a setting of the case is no more where another is set: the same, or what excludes it.

    False for what is none, as a series of nodes.
    """
    try:
        (target, name), other = (_reader(case).place(one) for one in (key, by))
    except ValueError:
        return False
    return other in {(target, name), (target, INSTEAD.get(name))}


def fixed(case: Case, key: str) -> str:
    """Why a setting cannot change while the network is up, empty if it can. Raises InputError for none."""
    try:
        return _reader(case).fixed(key)
    except ValueError as error:
        raise InputError(f"{key}: {error}") from None


def _reader(case: Case) -> SettingReader:
    return SettingReader(case.wiring.topology, case.wiring.parts, case.wiring.traces)


def read_settings(case: Case, settings: Mapping[str, str]) -> tuple[Setting, ...]:
    """Settings in base units. Raises InputError for one that is none, or that cannot have such a value."""
    reader = _reader(case)
    sound = []
    for key, text in settings.items():
        try:
            sound.append(reader.setting(key, text))
        except ValueError as error:
            raise InputError(f"{key}={text}: {error}") from None
    return tuple(sound)


def varied(case: Case, settings: Mapping[str, str]) -> Case:
    """The case with ``settings`` on top, named after them. Raises InputError for what does not fit."""
    on_top = read_settings(case, settings)
    wiring = case.wiring.changed(on_top)
    shown = ", ".join(f"{key} {text}" for key, text in settings.items())
    for key, setting in zip(settings, on_top, strict=True):
        if problem := overruled(wiring, setting):
            raise InputError(f"{key}: {problem}")
    for state in (wiring, *(event.wiring(wiring) for event in states(case.events))):
        for conflict in wiring_conflicts(state):
            raise InputError(f"{shown}: {conflict.message}")
    return replace(case, name=shown, wiring=wiring)


class CaseReader:
    """Reads the cases of one scenario, collecting ``problems`` on the way."""

    def __init__(self, scenario: Scenario, topology: Topology, parts: Parts, document: Document) -> None:
        self.problems: list[Problem] = []
        self._scenario = scenario
        self._topology = topology
        self._parts = parts
        self._document = document
        self._traces = Traces(Path(document.file).parent)
        self._settings = SettingReader(topology, parts, self._traces)
        self._expect = ExpectReader(scenario, topology, document, self._report)
        self._events = EventReader(scenario.items, self._settings, self._report)

    def read(self) -> tuple[Case, ...]:
        """Every case: the variants, then the controls. Sound only if there are no problems."""
        drafts = self._variants()
        cases = [self._case(name, draft) for name, draft in drafts.items()]
        for index, control in enumerate(self._limited("controls", self._scenario.controls)):
            case = self._control(index, control, drafts)
            if case is None:
                continue
            if case.name in {other.name for other in cases}:
                loc: Loc = ("controls", index, "name")
                self._report(loc, f"duplicate name: there is a variant or control `{case.name}` already")
            cases.append(case)
        if not self.problems:
            self._report_overruled()
            self._report_unchanged(drafts)
        return tuple(cases)

    def published(self, cases: Sequence[Case]) -> tuple[Published, ...]:
        """What was published of each row, with the case that imitates it."""
        variants = tuple(case.name for case in cases if not case.is_control)
        return read_published(self._scenario, variants, self._expect, self._report)

    def _variants(self) -> dict[str, _Draft]:
        scenario = self._scenario
        base = _Draft(
            self._settings.read(scenario.settings, ("with",), self._report),
            self._expect.read(scenario.expect, ("expect",)),
            scenario.events,
            ("events",),
        )
        if not self._document.tree.get("variants"):
            if not scenario.expect and not self._document.tree.get("expect") and not scenario.published:
                self._report(("expect",), "is empty: nothing would be judged")
            return {MAIN: base}
        drafts: dict[str, _Draft] = {}
        for index, variant in enumerate(self._limited("variants", scenario.variants)):
            loc: Loc = ("variants", index)
            settings = self._settings.read(variant.settings, (*loc, "with"), self._report)
            own = self._expect.read(variant.expect, (*loc, "expect"))
            expectations = {expectation.name: expectation for expectation in (*base.expectations, *own)}
            if not (expectations or variant.expect or scenario.expect or scenario.published):
                self._report(loc, "expects nothing: nothing would be judged")
            if variant.name in drafts:
                self._report((*loc, "name"), f"duplicate name: there is a variant `{variant.name}` already")
            happens = _instead(variant.events, (*loc, "events"), base)
            drafts[variant.name] = _Draft((*base.settings, *settings), tuple(expectations.values()), *happens)
        return drafts

    def _control(self, index: int, control: Control, drafts: dict[str, _Draft]) -> Case | None:
        loc: Loc = ("controls", index)
        settings = self._settings.read(control.settings, (*loc, "with"), self._report)
        if not control.settings and control.events is None:
            self._report((*loc, "with"), "changes nothing, so it can break nothing")
        variant = control.variant or next(iter(drafts), None)
        if variant not in drafts:
            written = mappings(self._document.tree.get("variants"))
            if variant is not None and variant not in [str(other.get("name")) for other in written]:
                self._report((*loc, "variant"), unknown("variant", variant, drafts))
            return None
        draft = drafts[variant]
        breaks = self._expect.full_name(control.breaks)
        names = tuple(expectation.name for expectation in draft.expectations)
        if breaks not in names and breaks not in self._unsound_expectations(drafts):
            self._report((*loc, "breaks"), unknown("expectation", control.breaks, names))
        name = control.name or f"control-{int(self._document.written(loc)[1]) + 1}"
        happens = _instead(control.events, (*loc, "events"), draft)
        return self._case(name, _Draft((*draft.settings, *settings), draft.expectations, *happens), breaks)

    def _report_overruled(self) -> None:
        """What the scenario, or a variant on top of it, sets although something nearer to the ports holds."""
        base = self._settings.read(self._scenario.settings, ("with",), self._report)
        self._report_without_effect(base, base)
        for index, variant in enumerate(self._scenario.variants):
            own = self._settings.read(variant.settings, ("variants", index, "with"), self._report)
            self._report_without_effect(own, (*base, *own))

    def _report_without_effect(self, settings: Sequence[Setting], among: tuple[Setting, ...]) -> None:
        wiring = Wiring.of(self._topology, self._parts, among, self._traces)
        for one in settings:
            if problem := overruled(wiring, one):
                self._report(one.loc, problem)

    def _report_unchanged(self, drafts: Mapping[str, _Draft]) -> None:
        """Where a control is its variant, whatever breaks that is not what it says."""
        for index, control in enumerate(self._scenario.controls):
            draft = drafts.get(control.variant or next(iter(drafts)))
            if draft is None:
                continue
            loc: Loc = ("controls", index, "with" if control.settings else "events")
            variant = Wiring.of(self._topology, self._parts, draft.settings, self._traces)
            settings = self._settings.read(control.settings, loc, self._report)
            after = variant.changed(settings)
            told = [(one.loc, problem) for one in settings if (problem := overruled(after, one))]
            others = control.events is not None and control.events != draft.events
            if not told and not others and all(is_so(variant, one) for one in settings):
                told = [(loc, "changes nothing: it is so already")]
            for place, problem in told:
                self._report(place, problem)

    def _case(self, name: str, draft: _Draft, breaks: str | None = None) -> Case:
        """A variant or a control with its wiring, and what becomes of that while it runs."""
        wiring = self._wiring(draft.settings)
        events: tuple[Event, ...] = ()
        if draft.events and not self.problems:
            events = self._events.read(draft.events, draft.events_loc, wiring)
            for event in states(events) if not self.problems else ():
                for conflict in wiring_conflicts(event.wiring(wiring)):
                    self._report(conflict.setting.loc if conflict.setting else event.loc, conflict.message)
        if not self.problems:
            known = (wiring, *(event.wiring(wiring) for event in states(events)))
            self.problems += transfer_problems(self._scenario, known, self._document)
        if breaks is None and bool(events) == bool(draft.events):
            self._report_unharmed(name, draft.expectations, events)
        return Case(name, wiring, draft.expectations, breaks, events)

    def _report_unharmed(
        self, name: str, expectations: Sequence[Expectation], events: Sequence[Event]
    ) -> None:
        """What is to recover although nothing happens to it."""
        longest_ns = {item.name: item.longest_ns for item in self._scenario.items}
        began_ns = starts_ns(self._scenario.items)
        for one in expectations:
            if one.metric != "recovers_within":
                continue
            from_ns = began_ns[one.subject]
            to_ns = from_ns + longest_ns[one.subject]
            if not any(from_ns < event.at_ns < to_ns for event in events):
                when = f" from {show(from_ns, TIME)} to {show(to_ns, TIME)}" if events else ""
                message = f"nothing happens in `{name}`{when} that it could recover from: give `events`"
                self._report(("expect", one.subject, one.metric), message)

    def _wiring(self, settings: tuple[Setting, ...]) -> Wiring:
        wiring = Wiring.of(self._topology, self._parts, settings, self._traces)
        written = self._document.tree.get("with") or ()
        for conflict in wiring_conflicts(wiring):
            if conflict.setting is not None:
                self._report(conflict.setting.loc, conflict.message)
            elif conflict.missing_part and conflict.missing_part not in written:
                self._report(("with",) if written else ("topology",), conflict.message)
        return wiring

    def _limited(self, key: str, items: Sequence[Item]) -> Sequence[Item]:
        if len(items) > MOST_CASES:
            self._report((key, MOST_CASES), f"is one of {len(items)} {key}; the limit is {MOST_CASES}")
        return items[:MOST_CASES]

    def _report(self, loc: Loc, message: str) -> None:
        self.problems.append(self._document.problem(loc, message))

    def _unsound_expectations(self, drafts: dict[str, _Draft]) -> set[str]:
        tree = self._document.tree
        owners = (tree, *mappings(tree.get("variants")))
        written = {name for owner in owners for name in written_expectations(owner.get("expect"))}
        return written - {sound.name for draft in drafts.values() for sound in draft.expectations}


def _instead(
    events: Sequence[WrittenEvent] | None, loc: Loc, of: _Draft
) -> tuple[Sequence[WrittenEvent], Loc]:
    """The events of a case, and where they are: its own, if it has any said, else those of what it is on."""
    return (of.events, of.events_loc) if events is None else (events, loc)
