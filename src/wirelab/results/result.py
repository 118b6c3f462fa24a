"""Raw files of one variant -> Result: frozen, complete, or a LabError that names the file."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from wirelab.errors import LabError
from wirelab.model.expect import PRIORITIES
from wirelab.plan.traffic import Copy
from wirelab.results import counters, samples
from wirelab.results.copy import parse_copy
from wirelab.results.counters import END, START, PortCounters, Snapshot, flow_window, parse_snapshots
from wirelab.results.digest import digest
from wirelab.results.flow import FlowResult
from wirelab.results.iperf3 import connected, parse_flow, read_report
from wirelab.results.ping import PingResult, file_of, read_ping
from wirelab.results.rawjson import Field, read_json, read_text
from wirelab.results.samples import Sample, parse_lines, parse_sample

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from wirelab.plan.traffic import Flow
    from wirelab.plan.types import Duplex, Plan, Port
    from wirelab.results.counters import Link

STATUS_FILE = "status.json"
SETTINGS_FILE = "settings.json"


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting of a port as it was asked for and as it was read back."""

    port: str
    name: str
    asked: object
    actual: object


@dataclass(frozen=True, slots=True)
class Status:
    """How the lab ended, and what it was made of."""

    virtual_s: float
    kernel: str
    tools: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Change:
    """What one port counted between two snapshots."""

    first: PortCounters
    last: PortCounters
    elapsed_ns: int

    def __getitem__(self, stat: str) -> int:
        """By how much a counter has grown."""
        return self.last[stat] - self.first[stat]

    def get(self, stat: str) -> int:
        """The same for a counter that not every port has: 0 where there is none."""
        return self.last.get(stat) - self.first.get(stat)

    @property
    def queue_drops(self) -> dict[str, int]:
        """Frames lost in the egress qdiscs: ``queue``, and ``netem`` where one loses some on purpose.

        netem counts what the queue below it drops as its own, too.
        """
        first, last = self.first.root, self.last.root
        dropped = last.dropped_frames - (first.dropped_frames if first else 0) if last else 0
        if not last or last.kind != "netem":
            return {"queue": dropped}
        below = self.last.dropped_below_root - self.first.dropped_below_root
        return {"queue": below, "netem": dropped - below}

    def sent_of(self, priority: int) -> int:
        """Frames that the queue of one priority handed to the port; 0 without such a queue."""
        first, last = (each.of_priority(priority) for each in (self.first, self.last))
        return (last.sent_frames if last else 0) - (first.sent_frames if first else 0)

    def queue_drops_of(self, priority: int) -> int:
        """Frames that the queue of one priority dropped; 0 without such a queue."""
        first, last = (each.of_priority(priority) for each in (self.first, self.last))
        return (last.dropped_frames if last else 0) - (first.dropped_frames if first else 0)

    def drops(self, direction: str) -> dict[str, int]:
        """Frames that the port dropped in ``rx`` or ``tx`` direction, by the driver's cause."""
        before = self.first.drops(direction)
        return {cause: n - before.get(cause, 0) for cause, n in self.last.drops(direction).items()}


@dataclass(frozen=True, slots=True)
class PortResult:
    """One port over the whole run.

    ``drops`` counts frames by cause: ``queue`` (the egress qdisc), ``netem`` (lost on purpose), and the
    port's own, ``rx_buffer``, ``rx_oversize``, ``tx_error`` ... ``paused_ns`` is how long its peer kept
    it silent, ``priority_paused_ns`` the same for each priority (PFC). ``speed_bps`` and ``duplex`` are
    what the link came to, None without a link. ``collisions`` counts those that frames of this port
    met on a shared medium, ``late_collisions`` those after 512 bit times, when no frame should meet one
    any more. ``cpu_busy_ns`` is how long the CPU was busy with frames of this port. ``ecn_marks`` counts
    frames that its queue marked instead of dropping them.
    """

    label: str
    tx_frames: int
    rx_frames: int
    tx_bytes: int
    rx_bytes: int
    drops: Mapping[str, int]
    tx_pause_frames: int
    rx_pause_frames: int
    paused_ns: int
    queue_high_water_bytes: int
    buffer_high_water_bytes: int
    link: bool
    speed_bps: int | None
    duplex: Duplex | None
    collisions: int = 0
    late_collisions: int = 0
    cpu_busy_ns: int = 0
    tx_pfc_frames: int = 0
    rx_pfc_frames: int = 0
    priority_paused_ns: tuple[int, ...] = (0,) * PRIORITIES
    ecn_marks: int = 0


@dataclass(frozen=True, slots=True)
class Result:
    """Everything one variant measured.

    ``ports`` is by the port's label, everything else by interface name, as the lab wrote it; ``flows``
    and ``pings`` are by the name that the scenario gives them.
    ``digest`` is SHA-256 over what was measured in virtual time, nothing of the host.
    """

    status: Status
    settings: tuple[Setting, ...]
    flows: Mapping[str, FlowResult]
    ports: Mapping[str, PortResult]
    snapshots: Mapping[str, Snapshot]
    samples: tuple[Sample, ...]
    digest: str
    pings: Mapping[str, PingResult] = field(default_factory=dict)

    def rtts_us(self, name: str) -> tuple[float, ...]:
        """The round-trip times of a ping, or of a flow: its smoothed RTT (``tcpi_rtt``) at each sample."""
        if name in self.pings:
            return self.pings[name].rtts_us
        return tuple(sample.flows[name].rtt_us for sample in self.samples if name in sample.flows)

    @property
    def elapsed_ns(self) -> int:
        """Virtual time between the first and the last snapshot."""
        return self.snapshots[END].at_ns - self.snapshots[START].at_ns

    def linked(self, plan: Plan) -> Plan:
        """``plan`` with what the ports agreed on in the place of what they offered.

        A cable on which there is no link leads nowhere, and is left out.
        """
        links = {name: counted.link for name, counted in self.snapshots[END].ports.items()}
        return replace(
            plan,
            ports=tuple(_linked(port, links[port.name]) for port in plan.ports),
            cables=tuple(each for each in plan.cables if links[each.a].up or links[each.b].up),
        )

    def blocked(self, flow: str | None = None) -> dict[str, dict[str, int]]:
        """Frames that the rules of each firewall dropped during ``flow``, or the whole run."""
        first, last = (self.snapshots[name] for name in (flow_window(flow) if flow else (START, END)))
        return {
            firewall: {rule: n - first.blocked.get(firewall, {}).get(rule, 0) for rule, n in rules.items()}
            for firewall, rules in last.blocked.items()
        }

    def change(self, port: str, flow: str | None = None) -> Change:
        """What the port with interface name ``port`` counted during ``flow``, or the whole run."""
        first, last = (self.snapshots[name] for name in (flow_window(flow) if flow else (START, END)))
        return Change(first.ports[port], last.ports[port], last.at_ns - first.at_ns)


def read_status(raw: Path) -> Status:
    """How the lab ended. Raises LabError with the lab's own message when it ended in an error."""
    document = read_json(raw, STATUS_FILE)
    status = document["status"]
    if status.text() == "error":
        hint = document.get("hint")
        raise LabError(document["message"].text(), hint=hint.text() if hint and hint.value else None)
    if status.text() != "done":
        msg = f"expected `done` or `error`, found {status.text()!r}"
        raise status.broken(msg)
    return Status(
        virtual_s=document["virtual_s"].number(),
        kernel=document["kernel"].text(),
        tools={name: version.text() for name, version in document["tools"].members()},
    )


def read_result(plan: Plan, raw: Path) -> Result:
    """What the lab that ran ``plan`` left in the folder ``raw``.

    Raises LabError when the lab says that it failed, or when a file is missing, cut short or holds
    something else than it should: then the lab broke, and nothing is known about the network.
    """
    status = read_status(raw)
    documents = {name: document for flow in plan.flows for name, document in _documents(raw, flow).items()}
    pings = {ping.name: read_ping(ping, raw) for ping in plan.pings}
    counted = read_json(raw, counters.FILE)
    lines = parse_lines(samples.FILE, read_text(raw, samples.FILE))
    flows = {flow.name: _flow(flow, documents) for flow in plan.flows}
    snapshots = parse_snapshots(plan, counted)
    return Result(
        status=status,
        settings=_settings(read_json(raw, SETTINGS_FILE)),
        flows=flows,
        ports=_ports(plan, snapshots),
        snapshots=snapshots,
        samples=tuple(parse_sample(plan, line) for line in lines),
        pings=pings,
        digest=digest(
            {
                **{name: document.value for name, document in documents.items()},
                **{file_of(name): {"rtts_us": each.rtts_us} for name, each in pings.items()},
            },
            counted.value,
            (line.value for line in lines),
        ),
    )


def _linked(port: Port, link: Link) -> Port:
    return replace(
        port,
        speed_bps=link.speed_bps or port.speed_bps,
        duplex=link.duplex or port.duplex,
        pause_rx=link.pause_rx,
        pause_tx=link.pause_tx,
    )


def _documents(raw: Path, flow: Flow) -> dict[str, Field]:
    """The files of both ends; of the client alone where it never reached the server."""
    client, server = _files_of(flow.name)
    found = {client: read_report(raw, client)}
    if connected(found[client]):
        found[server] = read_report(raw, server)
    return found


def _flow(flow: Flow, documents: Mapping[str, Field]) -> FlowResult:
    client, server = (documents.get(name) for name in _files_of(flow.name))
    assert client is not None  # noqa: S101 - _documents has read it
    if server is None:
        return FlowResult.unconnected(flow)
    return (parse_copy if isinstance(flow, Copy) else parse_flow)(flow, client, server)


def _files_of(flow: str) -> tuple[str, str]:
    return f"flows/{flow}.client.json", f"flows/{flow}.server.json"


def _settings(document: Field) -> tuple[Setting, ...]:
    return tuple(
        Setting(each["port"].text(), each["setting"].text(), each["asked"].value, each["actual"].value)
        for each in document.elements()
    )


def _ports(plan: Plan, snapshots: Mapping[str, Snapshot]) -> dict[str, PortResult]:
    first, last = snapshots[START], snapshots[END]
    found = {}
    for port in plan.ports:
        change = Change(first.ports[port.name], last.ports[port.name], last.at_ns - first.at_ns)
        found[port.label] = PortResult(
            label=port.label,
            tx_frames=change["tx_frames"],
            rx_frames=change["rx_frames"],
            tx_bytes=change["tx_bytes"],
            rx_bytes=change["rx_bytes"],
            drops=drops_by_cause(change),
            tx_pause_frames=change["tx_pause_frames"],
            rx_pause_frames=change["rx_pause_frames"],
            paused_ns=change["tx_paused_ns"],
            queue_high_water_bytes=change.last["queue_high_water_bytes"],
            buffer_high_water_bytes=change.last["buffer_high_water_bytes"],
            link=change.last.link.up,
            speed_bps=change.last.link.speed_bps,
            duplex=change.last.link.duplex,
            collisions=change.get("tx_collisions"),
            late_collisions=change.get("tx_late_collisions"),
            cpu_busy_ns=change.get("cpu_busy_ns"),
            tx_pfc_frames=change.get("tx_pfc_frames"),
            rx_pfc_frames=change.get("rx_pfc_frames"),
            priority_paused_ns=tuple(
                change.get(f"tx_paused_ns_prio{priority}") for priority in range(PRIORITIES)
            ),
            ecn_marks=change.last.marked_frames - change.first.marked_frames,
        )
    return found


def drops_by_cause(change: Change) -> dict[str, int]:
    """Frames dropped at a port, by cause, those of the egress queue first."""
    found = change.queue_drops
    for direction in ("rx", "tx"):
        found |= {f"{direction}_{cause}": n for cause, n in change.drops(direction).items()}
    return found
