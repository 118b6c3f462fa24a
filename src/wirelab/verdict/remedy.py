"""What helps a flow, what it costs others, and which of several is the best: pure functions."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Annotated, Final

from pydantic import Field

from wirelab.results.flow import FlowResult
from wirelab.results.ping import PingResult
from wirelab.results.port import PortResult
from wirelab.results.values import Amount, Digest, Text
from wirelab.units import COUNT, NS_PER_US, PPM, RATE, RATIO, TIME, rounded

HELPS_FROM: Final = 1.02
"""What is not faster by so much does not help: another seed may do as much."""
_TIE: Final = 0.01
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
    """A change that makes a flow faster: what is set, and what came of it.

    ``goodput_bps`` is the flow's with it, ``before_bps`` without. ``then`` is what bounds it now, ``costs``
    what others pay, in words. ``digest`` is that of the run that shows it.
    """

    settings: Annotated[dict[Text, Text], Field(max_length=100)]
    effort: Effort
    before_bps: Amount
    goodput_bps: Amount
    then: Text
    costs: Annotated[tuple[Text, ...], Field(max_length=100)]
    digest: Digest
    what: Text = ""

    @property
    def gain(self) -> float | None:
        """How much faster it is, as a share of what it was; None of what was nothing."""
        return self.goodput_bps / self.before_bps - 1 if self.before_bps else None


@dataclass(frozen=True, slots=True)
class Tried:
    """A change that does not help: what the flow has with it, or ``why`` nobody knows."""

    settings: Annotated[dict[Text, Text], Field(max_length=100)]
    goodput_bps: Amount | None
    why: Text = ""


def helps(before_bps: float, goodput_bps: float) -> bool:
    """Whether a flow is so much faster that the change is to thank for it."""
    return goodput_bps >= before_bps * HELPS_FROM and goodput_bps > before_bps


def ranked(remedies: Sequence[Remedy]) -> tuple[Remedy, ...]:
    """The best first.

    Of those within 1 % of each other it is the one that takes the least, then the one that costs others
    least, then the one that changes least.
    """
    left = sorted(remedies, key=lambda one: -one.goodput_bps)
    order: list[Remedy] = []
    while left:
        tied = [one for one in left if one.goodput_bps >= left[0].goodput_bps * (1 - _TIE)]
        order += sorted(tied, key=lambda one: (one.effort, len(one.costs), len(one.settings)))
        left = left[len(tied) :]
    return tuple(order)


def costs(flow: str, before: Measured, after: Measured) -> tuple[str, ...]:
    """What a change for one flow costs others: goodput, round trips, pauses and drops that were not there."""
    told = [
        *_slower(flow, before, after),
        *_later(flow, before, after),
        *_paused(before, after),
        *_dropped(before, after),
    ]
    return tuple(told[:_MOST_COSTS])


def _slower(flow: str, before: Measured, after: Measured) -> Iterator[str]:
    for name, was in before.flows.items():
        now = after.flows[name]
        if name != flow and (was.goodput_bps or 0) * _LESS > (now.goodput_bps or 0):
            rates = (rounded(one.goodput_bps or 0, RATE) for one in (now, was))
            yield f"{name} has {' instead of '.join(rates)}"


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
            yield f"{rounded(now, COUNT)} frames are lost at {label}" + (
                f" instead of {rounded(was, COUNT)}" if was else ""
            )
