"""ns-3's side of a comparison: its program compiled, and run with what a Plan says of a flow."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from wirelab.plan.path import flow_path

if TYPE_CHECKING:
    from wirelab.plan.types import Plan

_SOURCE = Path(__file__).parent / "peers" / "ns3" / "flow.cc"
_MODULES = ("applications", "bridge", "core", "internet", "network", "traffic-control")
# From this one on its headers need C++20; the older ones are not C++20.
_NEEDS_CPP20 = (3, 42)
_TIMESTAMPS = "net.ipv4.tcp_timestamps"


class Ns3:
    """ns-3 on one CPU of this machine."""

    def __init__(self, folder: Path, cpu: int) -> None:
        """Compile its program in a folder. PKG_CONFIG_PATH may lead to another ns-3 than the system's.

        Ends with the packages that are missing.
        """
        self._program = folder / "flow"
        self._cpu = cpu
        names = [f"ns3-{module}" for module in _MODULES]
        if not all(map(shutil.which, ("g++", "pkg-config"))) or not _exist(names):
            sys.exit("error: there is no ns-3 to measure: apt install g++ pkg-config libns3-dev")
        self._version = _output("pkg-config", "--modversion", "ns3-core").strip()
        told = shlex.split(_output("pkg-config", "--cflags", "--libs", *names))
        # Debian's ns-3 also names files of libraries whose development packages it does not ask for.
        flags = [flag for flag in told if flag.startswith(("-I", "-L", "-l"))]
        # As an old tag, for that also leads one library of ns-3 to the other.
        places = [f"-Wl,--disable-new-dtags,-rpath,{flag[2:]}" for flag in flags if flag.startswith("-L")]
        new = tuple(map(int, self._version.split(".")[:2])) >= _NEEDS_CPP20
        standard = "-std=c++20" if new else "-std=c++17"
        _output("g++", standard, "-O2", "-o", str(self._program), str(_SOURCE), *flags, *places)

    def __str__(self) -> str:
        """Its version and where it is; and whether it has logs, which take time though nobody reads them."""
        libraries = _output("ldd", str(self._program)).splitlines()
        internet = next(line.split()[2] for line in libraries if "ns3" in line and "-internet" in line)
        calls = _output("nm", "--dynamic", "--undefined-only", internet)
        logs = "with logs compiled in, and off" if "LogComponent9IsEnabled" in calls else "without logs"
        return f"ns-3 {self._version}, {logs}: {internet}"

    def run(self, plan: Plan, seconds: float) -> tuple[float, int]:
        """Goodput and retransmits of the one flow of a Plan. Ends when frames were lost, as none must be."""
        flow = plan.flows[0]
        way = flow_path(plan, flow)
        ends = [host for host in plan.hosts if host.name in {flow.sender, flow.receiver}]
        stamped = all({**plan.sysctls, **host.sysctls}[_TIMESTAMPS] == "1" for host in ends)
        told = json.loads(
            _output(
                *("taskset", "--cpu-list", str(self._cpu), str(self._program), f"--seconds={seconds}"),
                f"--rates={','.join(str(hop.rate_bps) for hop in way)}",
                f"--delays={','.join(str(hop.delay_ns + hop.into.forward_latency_ns) for hop in way)}",
                f"--mtu={way[0].out.mtu_bytes}",
                f"--timestamps={int(stamped)}",
            )
        )
        if told["dropped_frames"]:
            sys.exit(f"ns-3 dropped {told['dropped_frames']} frames: that is another flow")
        return told["goodput_bps"], told["retransmits"]


def _exist(names: list[str]) -> bool:
    """Whether pkg-config knows libraries of these names."""
    argv = ["pkg-config", "--exists", *names]
    return subprocess.run(argv, check=False).returncode == 0


def _output(*argv: str) -> str:
    """What a program prints. Ends with its own words if it fails."""
    done = subprocess.run(argv, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(argv)}: exit {done.returncode}: {done.stderr}")
    return done.stdout
