"""What the lab tests run: Plans made by hand, and scripts inside the lab."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wirelab.lab.command import run_command
from wirelab.lab.machine import Machine, guest_folder
from wirelab.plan.node import Host, Switch, Transceiver
from wirelab.plan.queue import Queue
from wirelab.plan.traffic import Flow, Iperf3
from wirelab.plan.types import Cable, Plan, Port

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from wirelab.lab.recording import Moments, Recording
    from wirelab.lab.select import Lab

GBPS = 1_000_000_000
MBPS = 1_000_000
NS_PER_S = 1_000_000_000
NS_PER_MS = 1_000_000

SCRIPTS = Path(__file__).parent / "scripts"

_WALL_LIMIT_S = 150

SYSCTLS = {"net.ipv4.tcp_no_metrics_save": "1", "net.ipv6.conf.all.disable_ipv6": "1"}


@dataclass(frozen=True)
class Output:
    """What a command inside the lab said, and how it ended."""

    code: int
    stdout: str
    stderr: str


class Rig:
    """Runs Plans and commands in a lab, in a folder of one test's own."""

    def __init__(self, lab: Lab, folder: Path, *, cpu: int) -> None:
        self.lab = lab
        self.folder = folder
        self.cpu = cpu
        self._runs = 0

    def _folder(self) -> Path:
        self._runs += 1
        return guest_folder(self.folder, f"lab-{self._runs}")

    def run(
        self,
        plan: Plan,
        *,
        seed: int = 1,
        slow: str = "",
        recording: Recording | Moments | None = None,
        on_poll: Callable[[Path], None] | None = None,
    ) -> Path:
        """Carry out ``plan`` and return the folder of raw files; ``on_poll`` gets it all the while.

        ``slow`` names the shortcuts that are not taken.
        """
        folder = self._folder()
        (folder / "plan" / "slow").write_text(slow)
        (folder / "plan" / "plan.json").write_text(plan.to_json())
        with Machine(
            self.lab.kernel,
            self.lab.root,
            folder,
            seed=seed,
            cpu=self.cpu,
            memory_bytes=plan.memory_bytes,
            recording=recording,
        ) as machine:
            machine.wait(_WALL_LIMIT_S, on_poll=on_poll and partial(on_poll, folder / "results"))
        return folder / "results"

    def execute(
        self,
        *argv: str,
        work: Path = SCRIPTS,
        seed: int = 1,
        wall_limit_s: float = _WALL_LIMIT_S,
        writable: Sequence[Path] = (),
        is_jailed: bool = True,
    ) -> Output:
        """Run a command inside a lab."""
        self._runs += 1
        folder = self.folder / f"lab-{self._runs}"
        folder.mkdir()
        out, err = io.BytesIO(), io.BytesIO()
        code = run_command(
            argv,
            self.lab,
            folder,
            work=work,
            writable=writable,
            seed=seed,
            cpu=self.cpu,
            wall_limit_s=wall_limit_s,
            stdout=out,
            stderr=err,
            is_jailed=is_jailed,
        )
        return Output(code, out.getvalue().decode(), err.getvalue().decode())

    def script(self, name: str, *arguments: str) -> dict[str, Any]:
        """Run a Python script of ``scripts/`` inside a lab; it prints one JSON object."""
        output = self.execute("python3", "-B", name, *arguments)
        assert output.code == 0, output.stderr
        answer: dict[str, Any] = json.loads(output.stdout)
        return answer

    def each(self, name: str, calls: Iterable[Sequence[object]]) -> list[dict[str, Any]]:
        """Run a Python script several times in one lab, each in a namespace of its own: what each answers."""
        argvs = [[name, *map(str, arguments)] for arguments in calls]
        output = self.execute("python3", "-B", "each.py", json.dumps(argvs))
        assert output.code == 0, output.stderr
        answers: list[dict[str, Any]] = json.loads(output.stdout)
        return answers


def host_port(name: str, number: int, speed_bps: int, **settings: Any) -> Port:  # noqa: ANN401 any field of a port
    """A host's only port, ``number`` making its address; a plain NIC unless ``settings`` say otherwise."""
    port = Port(
        name=f"{name}-eth0",
        label=name,
        node=name,
        role="host",
        mac=f"02:00:00:00:00:{number:02x}",
        address=f"10.0.0.{number}/24",
        speed_bps=speed_bps,
        mtu_bytes=1500,
        pause_rx=False,
        pause_tx=False,
        rx_usecs=20,
        rx_frames=0,
        rx_ring_frames=1024,
        tx_ring_frames=512,
        buffer_bytes=512 * 1024,
        xoff_bytes=384 * 1024,
        xon_bytes=256 * 1024,
        queue=Queue("fq_codel"),
    )
    return replace(port, **settings)


def forward_port(node: str, port: str, number: int, speed_bps: int, **settings: Any) -> Port:  # noqa: ANN401 any field of a port
    """A port of a switch or module."""
    made = Port(
        name=f"{node}-{port}",
        label=f"{node}.{port}",
        node=node,
        role="forward",
        mac=f"02:00:00:00:01:{number:02x}",
        address=None,
        speed_bps=speed_bps,
        mtu_bytes=9216,
        pause_rx=False,
        pause_tx=False,
        rx_usecs=0,
        rx_frames=0,
        rx_ring_frames=1024,
        tx_ring_frames=1,
        buffer_bytes=1_570_000,
        xoff_bytes=108_700,
        xon_bytes=104_800,
        queue=Queue("bfifo", 107_500),
    )
    return replace(made, **settings)


def drawn(plan: Plan, raw: Path) -> str:
    """What iperf3's clients drew from the lab's random numbers, to name their tests."""
    clients = [json.loads((raw / flow.sender_file).read_text()) for flow in plan.flows]
    return " ".join(client["start"]["cookie"] for client in clients)


def flow(
    name: str,
    sender: str,
    receiver: str,
    number: int,
    seconds: float,
    **choices: Any,  # noqa: ANN401 any field
) -> Flow:
    """A CUBIC flow from the first instant on, on ports made from ``number``."""
    made = Iperf3(
        name=name,
        sender=sender,
        receiver=receiver,
        protocol="tcp",
        start_ns=0,
        duration_ns=int(seconds * NS_PER_S),
        port=5200 + number,
        client_port=40000 + number,
        congestion="cubic",
    )
    return replace(made, **choices)


def plan(  # noqa: PLR0913 the parts of a network
    ports: list[Port],
    cables: list[Cable],
    flows: list[Flow],
    *,
    switches: tuple[Switch, ...] = (),
    modules: tuple[Transceiver, ...] = (),
    sample_interval_ns: int = 100 * NS_PER_MS,
) -> Plan:
    """A Plan of these ports and cables; every node that is no switch or module is a host."""
    others = {node.name for node in (*switches, *modules)}
    hosts = dict.fromkeys(port.node for port in ports if port.node not in others)
    return Plan(
        scenario="test",
        variant="",
        seed=1,
        drawing="",
        hosts=tuple(Host(name, "test") for name in hosts),
        switches=switches,
        modules=modules,
        ports=tuple(ports),
        cables=tuple(cables),
        traffic=tuple(flows),
        sysctls=SYSCTLS,
        sample_interval_ns=sample_interval_ns,
    )
