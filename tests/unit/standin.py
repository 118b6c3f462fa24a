"""The command line in a folder of its own, with a stand-in for the lab machine.

The stand-in is a program that leaves recorded files. It is started as the lab's kernel is, in a process
and a session of its own, and finds its plan and its results folder where the kernel does. What it does
with a variant the test says beforehand.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bursts import in_moments
from forked import server

UNIT = Path(__file__).parent
SOURCE = UNIT.parents[1] / "src"

SCENARIO = """
name: lossy
# A module drops what it cannot hold. And more.
source: {title: a test}
topology: sfp-home
traffic:
  - iperf3: {name: upload, from: client, to: server, time: 2 s, congestion: cubic}
  - iperf3: {name: download, from: server, to: client, time: 2 s, congestion: cubic}
expect:
  download: {retransmits: 100..200, why: the module drops frames}
controls:
  - name: deep
    with: {module.fifo: 64 KiB}
    breaks: download.retransmits
"""
PINGS = """
name: pings
source: {title: a test}
topology: sfp-home
traffic:
  - ping: {name: echo, from: server, to: client, time: 1 s}
expect:
  echo: {rtt: ..1 ms, why: the line is short}
"""
"""No flow is in it; the first of its requests is answered after 500 us, and no other."""
HOLDS: dict[str, dict[str, int | str]] = {"main": {"dropped": 159}, "deep": {"dropped": 0}}

PROGRAM = """#!{python}
import ctypes, json, os, sys, time
from pathlib import Path
sys.path[:0] = {paths!r}
from recorded import recording
from wirelab.plan.types import Plan
# As the kernel does that is told of its parent: PR_SET_PDEATHSIG, SIGKILL.
ctypes.CDLL(None).prctl(1, 9)
home = Path(__file__).parent
plan = Plan.from_json(Path("plan/plan.json").read_text())
variant = Path.cwd().parent.name
recorder = [word.removeprefix("record=") for word in sys.argv if word.startswith("record=")]
if recorder:
    # It runs in a folder that is not its variant's.
    deep = any(port.queue and port.queue.limit_bytes == 64 << 10 for port in plan.ports)
    variant = "deep" if deep else "main"
order = json.loads((home / "orders.json").read_text()).get(variant, {{"dropped": 159}})
assert os.path.isabs(os.environ["HOME"]), "the kernel dies of a relative $HOME"
(home / f"{{variant}}.pid").write_text(str(os.getpid()))
Path("results/progress").write_text("1000000000 7000000000")
if "hang" in order:
    time.sleep(order["hang"])
if "dropped" in order:
    folder = Path("results")
    recorded = recording(plan, dropped=order["dropped"])
    if "sampled" in order:
        for sample in recorded.samples[43:]:
            sample["ports"]["module-line"]["dropped_frames"] = order["sampled"]
    for file in recorder:
        Path(file).write_bytes((home / Path(file).name).read_bytes())
        (home / "recorded").open("a").write("x")
    if "frames" in order:
        recorded.stats("end", "client-eth0")["rx_frames"] += order["frames"]
    recorded.write(folder)
elif "message" in order:
    Path("results/status.json").write_text(json.dumps({{"status": "error", "hint": None, **order}}))
else:
    print("Kernel panic - not syncing: no init found")
"""

# It is a script: its interpreter and all that imports are files that no lab may reach.
UNCONFINED = """from wirelab.lab.jail import Jail
Jail.enter = lambda jail, confinement: None
"""
COMMAND_LINE = (
    UNCONFINED
    + """from wirelab.cli.app import main
main()
"""
)


def results_in(folder: Path) -> list[Path]:
    """The whole results in a folder, or the whole sweeps, oldest first."""
    return sorted(path.parent for path in folder.glob("[!.]*/*.json"))


@dataclass(frozen=True)
class StandIn:
    """A kernel and a root that look like a lab's; ``options`` are what ``wirelab run`` needs to use them."""

    home: Path

    @classmethod
    def make(cls, home: Path) -> StandIn:
        """Put the program into ``home``."""
        kernel = home / "linux"
        (home / "root" / "usr" / "sbin").mkdir(parents=True)
        (home / "root" / "usr" / "sbin" / "wirelab-init").touch()
        paths = [str(UNIT), str(SOURCE)]
        kernel.write_text(PROGRAM.format(python=sys.executable, paths=paths), encoding="utf-8")
        kernel.chmod(0o755)
        (home / "moments.bin").write_bytes(in_moments())
        stand_in = cls(home)
        stand_in.order({})
        return stand_in

    @property
    def options(self) -> list[str]:
        """The options that choose it."""
        return ["--kernel", str(self.home / "linux"), "--root", str(self.home / "root")]

    def order(self, orders: dict[str, dict[str, int | str]]) -> None:
        """Say what each variant does: ``dropped`` frames, ``hang`` seconds, a ``message``, or crash.

        With ``sampled`` its samples tell of drops from 4.3 s on. Where a record is asked for it leaves
        ``record.bin`` of its folder, whatever that is, and of moments ``moments.bin``, at first none.
        """
        (self.home / "orders.json").write_text(json.dumps(orders), encoding="utf-8")

    def pid_file(self, variant: str) -> Path:
        """Where the process of a variant leaves its number as soon as it runs."""
        return self.home / f"{variant}.pid"


@dataclass
class Wirelab:
    """The command line in a folder of its own."""

    folder: Path
    lab: StandIn

    @property
    def results(self) -> Path:
        """Where results are kept if nobody says otherwise."""
        return self.folder / "results"

    @property
    def environ(self) -> dict[str, str]:
        """Of commands."""
        return {**os.environ, "PYTHONPATH": str(SOURCE), "WIRELAB_CACHE": str(self.folder / "cache")}

    def start(self, *argv: str, stdout: int = subprocess.PIPE) -> subprocess.Popen[str]:
        """Start a command, in an interpreter of its own."""
        return subprocess.Popen(  # noqa: S603 - this is the program under test
            [sys.executable, "-c", COMMAND_LINE, *argv],
            cwd=self.folder,
            env=self.environ,
            stdout=stdout,
            stderr=subprocess.PIPE,
            text=True,
        )

    def __call__(self, *argv: str) -> tuple[int, str, str]:
        """Run a command to its end: exit code, standard output and standard error."""
        code, out, err = server().call(COMMAND_LINE, *argv, cwd=self.folder, env=self.environ)
        assert "Traceback" not in out + err
        return code, out, err

    def run(self, *argv: str, cache: bool = False) -> tuple[int, str, str]:
        """Run scenarios on the stand-in, which may be told to measure something else each time."""
        return self("run", *argv, "--cache" if cache else "--no-cache", *self.lab.options)

    def document(self) -> dict[str, Any]:
        """The newest result."""
        text = (self.results / "latest" / "lossy" / "result.json").read_text(encoding="utf-8")
        document: dict[str, Any] = json.loads(text)
        return document

    @classmethod
    def make(cls, folder: Path) -> Wirelab:
        """Make the folder, empty but for one scenario, ``lossy.yaml``, and the stand-in beside it."""
        (folder / "lab").mkdir()
        (folder / "work").mkdir()
        (folder / "work" / "lossy.yaml").write_text(SCENARIO, encoding="utf-8")
        lab = StandIn.make(folder / "lab")
        lab.order(HOLDS)
        return cls(folder / "work", lab)
