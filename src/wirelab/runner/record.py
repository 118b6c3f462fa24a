"""A whole run, judged: what ``result.json`` says."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from wirelab.results.digest import combined
from wirelab.results.ping import mean, percentile
from wirelab.units import NS_PER_S
from wirelab.verdict.verdict import Verdict, worst

if TYPE_CHECKING:
    from wirelab.plan.types import Plan
    from wirelab.results.flow import FlowResult
    from wirelab.results.ping import PingResult
    from wirelab.results.result import PortResult, Result
    from wirelab.verdict.checks import Check

SCHEMA: Final = 1


@dataclass(frozen=True, slots=True)
class VariantRecord:
    """One variant of a run, or one of its controls.

    ``breaks`` names the expectation that a control must fail, and is None for a variant. ``result`` is
    None where the lab broke: then a check says how. ``cached`` is True where it had been measured before.
    """

    plan: Plan
    breaks: str | None
    checks: tuple[Check, ...]
    result: Result | None
    cached: bool = False

    @property
    def name(self) -> str:
        """The variant's name in its scenario."""
        return self.plan.variant

    @property
    def verdict(self) -> Verdict:
        """The worst of its checks."""
        return worst(check.verdict for check in self.checks)


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One run of a scenario: its variants in the scenario's order, controls after them.

    ``measured`` names the rows of the measurements that it reproduces, ``fitted`` those of them that a
    figure was fitted to.
    """

    scenario: str
    seed: int
    variants: tuple[VariantRecord, ...]
    wall_s: float
    measured: tuple[str, ...] = ()
    fitted: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """The worst of its variants and controls."""
        return worst(variant.verdict for variant in self.variants)

    @property
    def virtual_s(self) -> float:
        """Virtual seconds that the networks of all variants and controls ran, added up."""
        return sum(each.result.elapsed_ns for each in self.variants if each.result) / NS_PER_S

    @property
    def kernel(self) -> str | None:
        """The version of the lab kernel, None if no lab came as far as telling it."""
        return next((each.result.status.kernel for each in self.variants if each.result), None)

    @property
    def cached(self) -> bool:
        """Whether nothing of it had to be measured."""
        return all(each.cached for each in self.variants)

    @property
    def digest(self) -> str | None:
        """SHA-256 over all that was measured in virtual time, None if a lab measured nothing."""
        digests = {each.name: each.result.digest for each in self.variants if each.result}
        return combined(digests) if len(digests) == len(self.variants) else None

    def document(self) -> dict[str, Any]:
        """The record as JSON values, by the names that other programs rely on."""
        return {
            "schema": SCHEMA,
            "scenario": self.scenario,
            "verdict": self.verdict,
            "seed": self.seed,
            "kernel": self.kernel,
            "wall_s": round(self.wall_s, 3),
            "virtual_s": round(self.virtual_s, 6),
            "digest": self.digest,
            "measured": list(self.measured),
            "fitted": list(self.fitted),
            "variants": [_variant(each) for each in self.variants],
        }

    def to_json(self) -> str:
        """The text of ``result.json``."""
        return json.dumps(self.document(), indent=1) + "\n"


def _variant(record: VariantRecord) -> dict[str, Any]:
    result = record.result
    return {
        "name": record.name,
        "breaks": record.breaks,
        "verdict": record.verdict,
        "digest": result.digest if result else None,
        "virtual_s": round(result.elapsed_ns / NS_PER_S, 6) if result else 0.0,
        "cached": record.cached,
        "flows": [_flow(each) for each in result.flows.values()] if result else [],
        "pings": [_ping(each) for each in result.pings.values()] if result else [],
        "ports": {label: _port(each) for label, each in result.ports.items()} if result else {},
        "blocked": result.blocked() if result else {},
        "checks": [_check(each) for each in record.checks],
    }


def _flow(flow: FlowResult) -> dict[str, Any]:
    rtt = flow.rtt
    return {
        "name": flow.name,
        "from": flow.sender,
        "to": flow.receiver,
        "goodput_bps": round(flow.goodput_bps),
        "retransmits": flow.retransmits,
        "lost_datagrams": flow.lost_datagrams,
        "sent_datagrams": flow.sent_datagrams,
        "duration_s": flow.duration_s,
        "connected": flow.connected,
        "rtt_us": {"min": rtt.min_us, "mean": rtt.mean_us, "max": rtt.max_us} if rtt else None,
        "intervals": [round(each) for each in flow.intervals_bps],
    }


def _ping(ping: PingResult) -> dict[str, Any]:
    rtts = ping.rtts_us
    return {
        "name": ping.name,
        "from": ping.sender,
        "to": ping.receiver,
        "sent": ping.sent,
        "received": len(rtts),
        "rtt_us": {
            "min": min(rtts),
            "mean": mean(rtts),
            **{f"p{percent}": percentile(rtts, percent) for percent in (50, 90, 99)},
            "max": max(rtts),
        }
        if rtts
        else None,
    }


def _port(port: PortResult) -> dict[str, Any]:
    return {
        "tx_frames": port.tx_frames,
        "rx_frames": port.rx_frames,
        "tx_bytes": port.tx_bytes,
        "rx_bytes": port.rx_bytes,
        "drops": dict(port.drops),
        "tx_pause_frames": port.tx_pause_frames,
        "rx_pause_frames": port.rx_pause_frames,
        "paused_ns": port.paused_ns,
        "queue_high_water_bytes": port.queue_high_water_bytes,
        "buffer_high_water_bytes": port.buffer_high_water_bytes,
        "link": port.link,
        "speed_bps": port.speed_bps,
        "duplex": port.duplex,
        "collisions": port.collisions,
        "late_collisions": port.late_collisions,
        "cpu_busy_ns": port.cpu_busy_ns,
        "tx_pfc_frames": port.tx_pfc_frames,
        "rx_pfc_frames": port.rx_pfc_frames,
        "priority_paused_ns": list(port.priority_paused_ns),
        "ecn_marks": port.ecn_marks,
    }


def _check(check: Check) -> dict[str, Any]:
    return {
        "name": check.name,
        "expected": check.expected,
        "measured": check.measured,
        "verdict": check.verdict,
        "why": check.why,
        "explanation": check.explanation,
        "value": check.value,
    }
