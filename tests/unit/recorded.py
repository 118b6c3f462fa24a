"""A raw folder by hand: the small network that the judging tests are about, and what it counted.

server --10G-- switch --10G-- module --2.5G-- client, an upload of 2 s and then a download of 2 s in
which the module drops frames. Every law holds in it; a test changes what it is about.
"""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from wirelab.plan.node import Host, Switch, Transceiver
from wirelab.plan.queue import Queue
from wirelab.plan.traffic import Iperf3, Ping
from wirelab.plan.types import Cable, Plan, Port

IPERF3 = Path(__file__).parent / "data" / "iperf3"

G = 1_000_000_000
DROPPED = 159
SEGMENTS = 200_000
ACKS = 20_000
FRAME_BYTES = 1514
SNAPSHOTS = ("start", "upload:start", "upload:end", "download:start", "download:end", "end")

Json = dict[str, Any]


def port(name: str, label: str, node: str, **settings: Any) -> Port:  # noqa: ANN401 - any of the settings
    """A 10G switch port without PAUSE, but for ``settings``."""
    plain = Port(
        name=name,
        label=label,
        node=node,
        role="forward",
        mac="02:00:00:00:00:01",
        address=None,
        speed_bps=10 * G,
        mtu_bytes=1500,
        pause_rx=False,
        pause_tx=False,
        rx_usecs=0,
        rx_frames=0,
        rx_ring_frames=1024,
        tx_ring_frames=256,
        buffer_bytes=1_569_792,
        xoff_bytes=108_700,
        xon_bytes=104_800,
        queue=Queue("bfifo", 107_520),
    )
    return replace(plain, **settings)


def flow(name: str, sender: str, receiver: str, start_s: int) -> Iperf3:
    """A CUBIC flow of 2 s."""
    return Iperf3(
        name=name,
        sender=sender,
        receiver=receiver,
        start_ns=start_s * G,
        duration_ns=2 * G,
        port=5201,
        client_port=40_000,
        congestion="cubic",
    )


def plan(variant: str = "main") -> Plan:
    """The network and its two flows."""
    fifo = Queue("bfifo", 16 * 1024)
    fast, slow = 10 * G, 5 * G // 2
    return Plan(
        scenario="sfp-mismatch",
        variant=variant,
        seed=1,
        drawing="server --10G-- switch --10G-- [module] --2.5G-- client",
        hosts=(Host("server", "ubuntu"), Host("client", "windows10")),
        switches=(Switch("switch", "rtl9303"),),
        modules=(Transceiver("module", "asf-10g-t", "module-host", "module-line"),),
        ports=(
            port("server-eth0", "server", "server", role="host", address="10.0.0.1/24", queue=None),
            port("switch-p1", "switch.p1", "switch"),
            port("switch-p2", "switch.p2", "switch"),
            port("module-host", "module.host", "module", role="through", queue=fifo, speed_bps=fast),
            port("module-line", "module.line", "module", role="through", queue=fifo, speed_bps=slow),
            port("client-eth0", "client", "client", role="host", queue=None, speed_bps=slow),
        ),
        cables=(
            Cable("server-eth0", "switch-p1", 15),
            Cable("switch-p2", "module-host", 0),
            Cable("module-line", "client-eth0", 15),
        ),
        traffic=(flow("upload", "client", "server", 1), flow("download", "server", "client", 4)),
    )


def with_ports(original: Plan, *names: str, **settings: Any) -> Plan:  # noqa: ANN401 - any of the settings
    """The Plan with ``settings`` on the named ports, on all of them if none is named."""
    ports = (
        replace(the_port, **settings) if not names or the_port.name in names else the_port
        for the_port in original.ports
    )
    return replace(original, ports=tuple(ports))


def iperf3(name: str) -> Json:
    """A file that iperf3 3.18 wrote."""
    document: Json = json.loads((IPERF3 / f"{name}.json").read_text(encoding="utf-8"))
    return document


@dataclass
class Recording:
    """The raw files of one variant, as JSON values that a test may change."""

    settings: list[Json]
    flows: dict[str, Json]
    counters: Json
    samples: list[Json]
    status: Json
    pings: dict[str, str] = field(default_factory=dict)

    def snapshot(self, name: str) -> Json:
        """One snapshot."""
        return next(snapshot for snapshot in self.counters["snapshots"] if snapshot["name"] == name)

    def stats(self, snapshot: str, port_name: str) -> Json:
        """All that a port had counted, by any tool, at a snapshot."""
        stats: Json = self.snapshot(snapshot)["ports"][port_name]
        return stats

    def link_as(self, the_plan: Plan) -> None:
        """Give every port the link that a Plan forces it to."""
        for snapshot in self.counters["snapshots"]:
            snapshot["links"] = _links(the_plan)

    def cut(self, *port_names: str) -> None:
        """Take the link from ports, at all times."""
        for snapshot in self.counters["snapshots"]:
            for name in port_names:
                snapshot["links"][name] |= {"up": False, "speed_bps": None, "duplex": None}

    def qdisc(self, snapshot: str, port_name: str) -> Json:
        """The root qdisc of a port in a snapshot."""
        qdisc: Json = self.snapshot(snapshot)["qdiscs"][port_name][0]
        return qdisc

    def write(self, folder: Path) -> Path:
        """Write the files as the lab does."""
        (folder / "flows").mkdir(parents=True)
        for name, document in self.flows.items():
            (folder / "flows" / f"{name}.json").write_text(json.dumps(document), encoding="utf-8")
        (folder / "settings.json").write_text(json.dumps(self.settings), encoding="utf-8")
        (folder / "counters.json").write_text(json.dumps(self.counters), encoding="utf-8")
        for name, text in self.pings.items():
            (folder / "flows" / f"{name}.ping.txt").write_text(text, encoding="utf-8")
        lines = "".join(json.dumps(sample) + "\n" for sample in self.samples)
        (folder / "samples.jsonl").write_text(lines, encoding="utf-8")
        (folder / "status.json").write_text(json.dumps(self.status), encoding="utf-8")
        (folder / "console.log").write_text("Linux version 7.2.12\n", encoding="utf-8")
        return folder


def recording(the_plan: Plan | None = None, *, dropped: int = DROPPED) -> Recording:
    """What a lab that ran ``plan()`` leaves: ``dropped`` of the download's frames lost at module.line.

    Of the requests of a ping in it the first is answered, after 500 us.
    """
    the_plan = the_plan or plan()
    pings = {item.name: _echoes(item) for item in the_plan.traffic if isinstance(item, Ping)}
    snapshots = [_snapshot(the_plan, name, dropped) for name in SNAPSHOTS]
    for name in pings:
        snapshots += [snapshots[at] | {"name": f"{name}:{SNAPSHOTS[at]}"} for at in (0, len(SNAPSHOTS) - 1)]
    return Recording(
        settings=[
            {
                "port": the_port.name,
                "setting": "speed_bps",
                "asked": the_port.speed_bps,
                "actual": the_port.speed_bps,
            }
            for the_port in the_plan.ports
        ],
        flows={
            "upload.client": _client(0),
            "upload.server": _server(SEGMENTS),
            "download.client": _client(dropped + 2),
            "download.server": _server(SEGMENTS - dropped),
        },
        counters={"snapshots": snapshots},
        samples=[_sample(the_plan, tenth) for tenth in range(65)],
        status={
            "status": "done",
            "virtual_s": 37.5,
            "ready_ns": 30_000_000_000,
            "kernel": "7.2.12",
            "tools": {"iperf3": "3.18-2+deb13u1", "mininet": "2.3.0", "openvswitch-switch": "3.5.0"},
        },
        pings=pings,
    )


def _echoes(ping: Ping) -> str:
    answer = "64 bytes from 10.0.0.1: icmp_seq=1 ttl=64 time=0.500 ms"
    return f"{answer}\n\n{ping.count} packets transmitted, 1 received, 0% packet loss, time 1ms\n"


def _client(retransmits: int) -> Json:
    document = iperf3("tcp.client")
    document["end"]["sum_sent"]["retransmits"] = retransmits
    return document


def _server(segments: int) -> Json:
    document = iperf3("tcp.server")
    received = segments * 1448
    document["end"]["sum_received"] |= {"bytes": received, "bits_per_second": 8 * received / 2.002481}
    return document


def _crossed(name: str) -> tuple[int, int]:
    """Whether the upload and the download have been, at a snapshot."""
    order = SNAPSHOTS.index(name)
    return int(order >= SNAPSHOTS.index("upload:end")), int(order >= SNAPSHOTS.index("download:end"))


def _snapshot(the_plan: Plan, name: str, dropped: int) -> Json:
    up, down = _crossed(name)
    lost = dropped * down
    towards_server = SEGMENTS * up + ACKS * down
    towards_client = ACKS * up + SEGMENTS * down
    counted = {
        "server-eth0": (towards_client, towards_server, 0),
        "switch-p1": (towards_server, towards_client, 0),
        "switch-p2": (towards_client, towards_server, 0),
        "module-host": (towards_server, towards_client, 0),
        "module-line": (towards_client - lost, towards_server, lost),
        "client-eth0": (towards_server, towards_client - lost, 0),
    }
    return {
        "name": name,
        "at_ns": {
            "start": 0,
            "upload:start": 1 * G,
            "upload:end": 3 * G + G // 10,
            "download:start": 4 * G,
            "download:end": 6 * G + G // 10,
            "end": 7 * G + G // 5,
        }[name],
        "ports": {port_name: _stats(sent, received) for port_name, (sent, received, _) in counted.items()},
        "links": _links(the_plan),
        "qdiscs": {
            the_port.name: [_qdisc(the_port, counted[the_port.name][0], counted[the_port.name][2])]
            for the_port in the_plan.ports
        },
    }


def _links(the_plan: Plan) -> Json:
    return {
        the_port.name: {
            "up": True,
            "speed_bps": the_port.speed_bps,
            "duplex": the_port.duplex,
            "pause_rx": the_port.pause_rx,
            "pause_tx": the_port.pause_tx,
        }
        for the_port in the_plan.ports
    }


def _stats(sent: int, received: int) -> Json:
    return {
        "tx_frames": sent,
        "tx_bytes": sent * FRAME_BYTES,
        "tx_dropped_down": 0,
        "tx_dropped_error": 0,
        "tx_pause_frames": 0,
        "rx_wire_frames": received,
        "rx_frames": received,
        "rx_bytes": received * FRAME_BYTES,
        "rx_dropped_buffer": 0,
        "rx_dropped_oversize": 0,
        "rx_dropped_down": 0,
        "rx_dropped_error": 0,
        "rx_pause_frames": 0,
        "interrupts": received // 10,
        "tx_paused_ns": 0,
        "tx_paused": 0,
        "tx_ring_frames": 0,
        "tx_flight_frames": 0,
        "rx_ring_frames": 0,
        "buffer_bytes": 0,
        "buffer_high_water_bytes": 15_140,
        "queue_bytes": 0,
        "queue_high_water_bytes": 15_140,
        "queue_dropped_frames": 0,
    }


def _qdisc(of: Port, sent: int, dropped: int) -> Json:
    return {
        "kind": of.queue.kind if of.queue else "pfifo_fast",
        "handle": "8001:",
        "dev": of.name,
        "root": True,
        "refcnt": 2,
        "options": {},
        "bytes": sent * FRAME_BYTES,
        "packets": sent,
        "drops": dropped,
        "overlimits": 0,
        "requeues": 0,
        "backlog": 0,
        "qlen": 0,
    }


def _sample(the_plan: Plan, tenth: int) -> Json:
    at_ns = tenth * G // 10
    idle = {
        "queue_bytes": 0,
        "buffer_bytes": 0,
        "paused": 0,
        "dropped_frames": 0,
        "tx_bytes": 0,
        "rx_bytes": 0,
    }
    ports = {the_port.name: copy.copy(idle) for the_port in the_plan.ports}
    if 4 * G <= at_ns <= 6 * G:
        ports["module-line"]["queue_bytes"] = 15_140
    running = next(
        (
            the_flow
            for the_flow in the_plan.flows
            if the_flow.start_ns <= at_ns < the_flow.start_ns + the_flow.duration_ns
        ),
        None,
    )
    tcp = {"cwnd_segments": 42, "rtt_us": 312, "bytes_acked": at_ns // 10, "retransmits": 0}
    return {"at_ns": at_ns, "ports": ports, "flows": {running.name: tcp} if running else {}}
