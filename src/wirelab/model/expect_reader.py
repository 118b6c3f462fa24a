"""Expectations as a scenario writes them, turned into objects that can be judged."""

from collections.abc import Callable, Mapping
from typing import Final

from wirelab.errors import unknown
from wirelab.model.expect import FROM, Expectation
from wirelab.model.metric import METRICS, NETWORK, PAUSED_PRIORITY, PORT, PRIORITIES, SubjectKind, metrics_of
from wirelab.model.scenario import Bounds, Scenario, Window
from wirelab.model.timetable import end_ns, starts_ns
from wirelab.model.topology import Topology
from wirelab.model.traffic import Iperf3, Item, Ping
from wirelab.model.yamlfile import Document, Loc, Report
from wirelab.units import NS_PER_S, TIME, show

_FOLLOWED: Final = ("longest_gap", "recovers_within", "rtt_p50", "rtt_p90", "rtt_p99")
_SAMPLED: Final = (*METRICS["goodput_first"].subjects, "ping", PORT)

_SUMS: Final[Mapping[str, tuple[Callable[[Item], bool], str]]] = {
    "goodput": (lambda item: not isinstance(item, Ping), "no flow brings any payload"),
    "retransmits": (
        lambda item: item.subject in METRICS["retransmits"].subjects,
        "no flow is of TCP, which alone sends again",
    ),
    "duration": (
        lambda item: not isinstance(item, Ping) and item.size_bytes is not None,
        "no flow transfers `bytes`",
    ),
}
"""Which items of the traffic a metric of the network is made of, and what is said where there are none."""


class ExpectReader:
    """Turns ``expect:`` of one scenario into expectations, and reports what is wrong with it."""

    def __init__(self, scenario: Scenario, topology: Topology, document: Document, report: Report) -> None:
        self._items = {item.name: item for item in scenario.items}
        self._written = written_flows(document)
        self._flows_unknown = not self._written and document.tree.get("traffic") != []
        self._topology = topology
        self._report = report

    def read(self, expect: Mapping[str, Bounds], loc: Loc) -> tuple[Expectation, ...]:
        """The sound ranges of the mapping at ``loc``."""
        sound: list[Expectation] = []
        seen: set[str] = set()
        for subject, bounds in expect.items():
            here = (*loc, subject)
            try:
                named = self._subject(subject)
            except ValueError as error:
                self._report(here, str(error))
                continue
            if named is None:
                continue
            kind, name = named
            if name in seen:
                self._report(here, f"duplicate name: `{name}` has expectations already")
            seen.add(name)
            if not bounds.windows or any(getattr(bounds, metric) is not None for metric in METRICS):
                sound += self._metrics(kind, name, bounds, here)
            told: set[str] = set()
            for index, window in enumerate(bounds.windows):
                own = self._in_window(kind, name, window, (*here, "windows", index))
                for twice in (one for one in own if one.name in told):
                    place = (*here, "windows", index, twice.metric)
                    self._report(place, f"is said already of the time{twice.when}")
                told |= {one.name for one in own}
                sound += own
        return tuple(sound)

    def _metrics(
        self,
        kind: SubjectKind,
        name: str,
        bounds: Bounds | Window,
        loc: Loc,
        when: tuple[int, int] | None = None,
    ) -> list[Expectation]:
        """The sound ranges of a subject, of all of the time or of a part."""
        sound = []
        metrics = [metric for metric in METRICS if getattr(bounds, metric) is not None]
        if not metrics:
            self._report(loc, "expects nothing: give a metric and its range")
        for metric in metrics:
            try:
                sound.append(self._expectation(kind, name, metric, bounds, when))
            except ValueError as error:
                self._report((*loc, metric), str(error))
        return sound

    def _in_window(self, kind: SubjectKind, name: str, window: Window, loc: Loc) -> list[Expectation]:
        """The sound ranges of a window in which the subject does something."""
        from_ns, to_ns = window.from_ns, window.to_ns
        began_ns, over_ns = 0, end_ns(tuple(self._items.values()))
        if name in self._items:
            began_ns = starts_ns(tuple(self._items.values()))[name]
            over_ns = began_ns + self._items[name].longest_ns
        if from_ns >= to_ns:
            self._report((*loc, "to"), f"the window ends before it begins, at {show(from_ns, TIME)}")
        elif from_ns >= over_ns or to_ns <= began_ns:
            runs = f"from {show(began_ns, TIME)} to {show(over_ns, TIME)}"
            words = f"`{name}` runs {runs}" if name in self._items else f"there is traffic {runs}"
            self._report((*loc, "from"), f"there is nothing in the window: {words}")
        elif kind == "UDP flow" and (part := _part_of_a_second(from_ns, to_ns, began_ns, over_ns)):
            began = f"`{name}`, which begins at {show(began_ns, TIME)}"
            self._report((*loc, part), f"a receiver of UDP tells of whole seconds of {began}")
        elif every := _between_requests(self._items.get(name), max(from_ns, began_ns), min(to_ns, over_ns)):
            self._report((*loc, "to"), f"no echo may be asked for in it: `{name}` asks every {every}")
        else:
            return self._metrics(kind, name, window, loc, (from_ns, to_ns))
        return []

    def full_name(self, name: str) -> str:
        """An expectation's name with its port's label: ``client.drops`` for ``client.eth0.drops``."""
        whole, begins, rest = name.partition(FROM)
        subject, _, metric = whole.rpartition(".")
        try:
            named = self._subject(subject)
        except ValueError:
            return name
        return f"{named[1]}.{metric}{begins}{rest}" if named else name

    def _expectation(
        self, kind: SubjectKind, name: str, metric: str, bounds: Bounds | Window, when: tuple[int, int] | None
    ) -> Expectation:
        item = self._items.get(name)
        if when and not METRICS[metric].in_windows:
            own = ", ".join(metric.name for metric in METRICS.values() if metric.in_windows)
            raise ValueError(f"is not known of a part of the time; a window has {own}")
        if when and kind not in _SAMPLED:
            raise ValueError(f"nobody samples a {kind}; windows are for flows, pings and ports")
        if problem := unfollowed(item, metric, in_window=when is not None):
            raise ValueError(problem)
        if metric == "duration" and isinstance(item, Iperf3) and item.size_bytes is None:
            raise ValueError(f"`{name}` has no duration but its `time`; give it `bytes` to transfer instead")
        if kind == NETWORK and (missing := self._missing(metric)):
            raise ValueError(f"there is none: {missing}")
        if kind not in METRICS[metric].subjects:
            owner = f"a {kind}" if kind != NETWORK else "the network"
            known = [own.name for own in metrics_of(kind)]
            words = [word for word in known if not word.startswith(PAUSED_PRIORITY)]
            if len(words) < len(known):
                words.append(f"{PAUSED_PRIORITY}0..{PRIORITIES - 1}")
            raise ValueError(f"{owner} has no {metric}; it has {', '.join(words)}")
        bound = getattr(bounds, metric)
        low, high = bound.range
        return Expectation(name, metric, low, high, bound.why or bounds.why, when)

    def _missing(self, metric: str) -> str:
        """What of the traffic would have to be there for a metric of the network; empty if it may be."""
        items = tuple(self._items.values())
        if self._flows_unknown or len(items) < len(self._written) or metric not in _SUMS:
            return ""
        of, words = _SUMS[metric]
        return "" if any(map(of, items)) else words

    def _subject(self, subject: str) -> tuple[SubjectKind, str] | None:
        """The kind and the full name of a subject, None if why it is none is said elsewhere.

        Raises ValueError for what is no subject.
        """
        if subject in self._items:
            return self._items[subject].subject, subject
        if subject == NETWORK:
            return "network", subject
        if subject in self._written or (self._flows_unknown and "." not in subject):
            return None
        topology = self._topology
        labels = tuple(topology.label(ref) for ref in topology.ports())
        if subject.partition(".")[0] not in topology.nodes:
            raise ValueError(unknown("flow or port", subject, (*self._written, *labels, NETWORK)))
        ref = topology.resolve(subject)
        if ref not in topology.ports():
            raise ValueError(f"no cable is in `{subject}`; there is one in {', '.join(labels)}")
        return "port", topology.label(ref)


def unfollowed(item: Item | None, metric: str, *, in_window: bool = False) -> str:
    """Why samples do not tell a metric of a flow that has several connections; empty if they do."""
    if not isinstance(item, Iperf3) or item.protocol != "tcp" or item.parallel == 1:
        return ""
    if not in_window and metric not in _FOLLOWED:
        return ""
    return f"samples follow one connection, and `{item.name}` has {item.parallel}"


def _between_requests(item: Item | None, from_ns: int, to_ns: int) -> str:
    """How long a ping waits from one request to the next, if a time may lie in between; else empty."""
    if not isinstance(item, Ping) or to_ns - from_ns >= item.interval_ns:
        return ""
    return show(item.interval_ns, TIME)


def _part_of_a_second(from_ns: int, to_ns: int, began_ns: int, over_ns: int) -> str | None:
    """Which end of a window lies within a second of a flow; None if neither does."""
    if from_ns > began_ns and (from_ns - began_ns) % NS_PER_S:
        return "from"
    return "to" if to_ns < over_ns and (to_ns - began_ns) % NS_PER_S else None


def written_flows(document: Document) -> tuple[str, ...]:
    """The names of all flows the file has, sound or not."""
    flows = [flow for item in mappings(document.tree.get("traffic")) for flow in item.values()]
    return tuple(str(flow["name"]) for flow in mappings(flows) if isinstance(flow.get("name"), str))


def mappings(items: object) -> tuple[dict[str, object], ...]:
    """The mappings among the items of what may be a list."""
    return tuple(item for item in items if isinstance(item, dict)) if isinstance(items, list) else ()


def written_expectations(tree: object) -> tuple[str, ...]:
    """The names ``subject.metric`` of all expectations in a tree of ``expect:``, sound or not."""
    if not isinstance(tree, dict):
        return ()
    return tuple(
        f"{subject}.{metric}"
        for subject, metrics in tree.items()
        if isinstance(metrics, dict)
        for metric in metrics
    )
