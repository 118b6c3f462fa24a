"""What helps a figure, what it costs others, and which of several is the best: pure functions."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Annotated, Final

from pydantic import Field

from wirelab.model.metric import METRICS
from wirelab.results.flow import FlowResult
from wirelab.results.ping import PingResult
from wirelab.results.port import PortResult
from wirelab.results.values import Amount, Count, Digest, Text
from wirelab.units import COUNT, NS_PER_US, PPM, RATE, RATIO, TIME, rounded
from wirelab.verdict.trouble import GOODPUT, Trouble
from wirelab.verdict.words import count_of

_LEAST_GAIN: Final = 0.02
"""What gains less does not help: another seed may do as much."""
HELPS_FROM: Final = 1 + _LEAST_GAIN
_TIE: Final = 0.01
_GIVEN_UP: Final = 0.9
"""Who keeps less of its goodput for another figure is not helped: who hardly sends waits for nothing."""
_LESS: Final = 0.98
_LONGER: Final = 1.5
_LEAST_LONGER_US: Final = 20
_PAUSED_PPM: Final = 10_000
_MORE_DROPS: Final = 1.5
_LEAST_DROPS: Final = 10
_MOST_COSTS: Final = 6


class Effort(IntEnum):
    """What a change takes: a setting, other hardware of the same kind, another device."""

    SETTING = 0
    HARDWARE = 1
    PART = 2


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured of a network: the same figures as a variant's."""

    flows: Mapping[str, FlowResult]
    pings: Mapping[str, PingResult]
    ports: Mapping[str, PortResult]
    elapsed_ns: int


@dataclass(frozen=True, slots=True)
class Remedy:
    """A change that helps: what is set, and what came of it.

    ``before`` and ``after`` are the figure that was in trouble, in its base unit, ``goodput_bps`` is what the
    flow has with it. ``then`` is what bounds the flow now, ``costs`` what others pay, in words. ``digest`` is
    that of the run that shows it. ``rank`` is its place, the same for those that are ``tied``.
    """

    settings: Annotated[dict[Text, Text], Field(max_length=100)]
    effort: Effort
    before: Amount
    after: Amount
    goodput_bps: Amount
    then: Text
    costs: Annotated[tuple[Text, ...], Field(max_length=100)]
    digest: Digest
    what: Text = ""
    rank: Count = 0
    tied: bool = False

    @property
    def gain(self) -> float | None:
        """How much more it is, as a share of what it was, or less: below 0; None of what was nothing."""
        return self.after / self.before - 1 if self.before else None


@dataclass(frozen=True, slots=True)
class Tried:
    """A change that does not help: what the figure is ``after`` it, and ``why`` it is no help all the same.

    Without a figure ``why`` is why nobody knows.
    """

    settings: Annotated[dict[Text, Text], Field(max_length=100)]
    after: Amount | None
    why: Text = ""


def helps(metric: str, before: float, after: float) -> bool:
    """Whether a figure is so much better that the change is to thank for it.

    That is 2 %, and of what is counted two standard deviations of such a count as well.
    """
    gained = _sign(metric) * (after - before)
    return gained > 0 and gained >= _noise(metric, before, _LEAST_GAIN)


def given_up(before_bps: float, goodput_bps: float) -> bool:
    """Whether a flow has lost so much goodput for another figure that it is no help."""
    return goodput_bps < before_bps * _GIVEN_UP


def ranked(metric: str, remedies: Sequence[Remedy]) -> tuple[Remedy, ...]:
    """The best first, with their ranks; those that are as good as the best of them are tied.

    That is within 1 %, and of what is counted within two standard deviations. Of these it is the one that
    takes the least, then the one that changes least, then the one that costs others least, then the name.
    """
    left = sorted(remedies, key=lambda one: -_sign(metric) * one.after)
    order: list[Remedy] = []
    while left:
        best = left[0].after
        tied = [one for one in left if abs(one.after - best) <= _noise(metric, best, _TIE)]
        rank = len(order) + 1
        order += [replace(one, rank=rank, tied=len(tied) > 1) for one in sorted(tied, key=_smallest)]
        left = left[len(tied) :]
    return tuple(order)


def _smallest(one: Remedy) -> tuple[int, int, int, list[str]]:
    return one.effort, len(one.settings), len(one.costs), sorted(one.settings)


def _sign(metric: str) -> int:
    return -1 if METRICS[metric].better == "less" else 1


def _noise(metric: str, value: float, share: float) -> float:
    """By how much a figure may be different for no reason."""
    counted = 2 * math.sqrt(value) if METRICS[metric].quantity is COUNT else 0
    return max(share * value, counted)


def costs(flow: str, helped: Trouble, before: Measured, after: Measured) -> tuple[str, ...]:
    """What a change for a figure of one flow costs: goodput, round trips, pauses and drops of anybody."""
    told = [
        *_slower(flow, helped, before, after),
        *_later(flow, before, after),
        *_paused(before, after),
        *_dropped(before, after),
    ]
    return tuple(told[:_MOST_COSTS])


def _slower(flow: str, helped: Trouble, before: Measured, after: Measured) -> Iterator[str]:
    for name, was in before.flows.items():
        now = after.flows[name]
        is_helped = (name, GOODPUT) == (helped.subject, helped.metric)
        if not is_helped and (was.goodput_bps or 0) * _LESS > (now.goodput_bps or 0):
            rates = (rounded(one.goodput_bps or 0, RATE) for one in (now, was))
            yield f"{'it' if name == flow else name} has {' instead of '.join(rates)}"


def _later(flow: str, before: Measured, after: Measured) -> Iterator[str]:
    """Round trips that are longer: of pings, and of what TCP itself sees."""
    for name, was in before.pings.items():
        yield from _longer(f"the echo of {name}", was.rtt, after.pings[name].rtt)
    for name, flow_was in before.flows.items():
        whose = "its round trip" if name == flow else f"the round trip of {name}"
        yield from _longer(whose, flow_was.rtt, after.flows[name].rtt)


def _longer(whose: str, was: object, now: object) -> Iterator[str]:
    was_us, now_us = getattr(was, "p50_us", None), getattr(now, "p50_us", None)
    if was_us and now_us and now_us > was_us * _LONGER and now_us - was_us > _LEAST_LONGER_US:
        times = (rounded(one * NS_PER_US, TIME) for one in (now_us, was_us))
        yield f"{whose} is {' instead of '.join(times)}"


def _paused(before: Measured, after: Measured) -> Iterator[str]:
    shares = {
        label: (
            before.ports[label].paused_ns * PPM / max(before.elapsed_ns, 1),
            port.paused_ns * PPM / max(after.elapsed_ns, 1),
        )
        for label, port in after.ports.items()
        if label in before.ports
    }
    for label, (was, now) in sorted(shares.items(), key=lambda one: one[1][0] - one[1][1]):
        if now - was >= _PAUSED_PPM:
            words = f"{label} is paused {rounded(now, RATIO, 2)} of the time"
            yield f"{words} instead of {rounded(was, RATIO, 2)}" if was else words


def _dropped(before: Measured, after: Measured) -> Iterator[str]:
    for label, port in after.ports.items():
        was, now = before.ports[label].dropped_frames if label in before.ports else 0, port.dropped_frames
        if now >= was * _MORE_DROPS and now - was >= _LEAST_DROPS:
            yield f"{count_of(now)} frames are lost at {label}" + (
                f" instead of {count_of(was)}" if was else ""
            )
