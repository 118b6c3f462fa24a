"""A Plan, from bare lab to raw files."""

import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

from wirelab.guest import bonds, clock, events, hardware, links, openvswitch, readback, settings
from wirelab.guest.measure import Probe
from wirelab.guest.network import Network
from wirelab.guest.readback import Readback
from wirelab.guest.schedule import Schedule
from wirelab.guest.shortcuts import Shortcuts
from wirelab.guest.traces import Followers
from wirelab.plan.event import opened, shutting
from wirelab.plan.types import Plan

# The network is ready at the first of these instants that is still ahead: whatever the set-up took
# in virtual time, and whatever a change of it would add, the traffic starts at the same instant.
_READY_STEP_NS = 30 * clock.NS_PER_S

# Its timers are of high resolution from then on. What is set up before may be reckoned for a kernel whose
# timers come with its ticks: /proc/net/psched tells tc so.
_SETTLED_NS = clock.NS_PER_S

_DPKG_STATUS = Path("/var/lib/dpkg/status")
_TOOLS = ("ethtool", "iperf3", "iproute2", "mininet", "openvswitch-switch", "python3")


def set_up(plan: Plan, results: Path) -> Network:
    """Build the network of a Plan and verify it: it is as the Plan says, and its ways are known."""
    clock.sleep_until(_SETTLED_NS)
    # Draws nothing, and waits for the kernel's random numbers to be ready: before 7.2, iperf3 would wait.
    os.getrandom(0)
    settings.silence_switches()
    if plan.switches:
        openvswitch.start(refresh=False)
    # With all its links: what is shut in the beginning has its ways known, too, when an event opens it.
    network = Network(opened(plan), hardware.configure)
    settings.apply(network)
    in_force = settings.read_back(network)
    _keep(in_force, results)
    links.await_links(network)
    if plan.bonds:
        in_force += bonds.settle(network)
        _keep(in_force, results)
    links.require_ways(network)
    links.warm_arp(network)
    if shut := shutting(plan):
        _keep(events.shut(network, shut), results)
    return network


def _keep(in_force: list[Readback], results: Path) -> None:
    """Leave what was read back, first of all: it tells why, where it is not what was asked for.

    Raises SettingsMismatchError.
    """
    (results / "settings.json").write_text(readback.to_json(in_force))
    readback.verify(in_force)


def run(plan_folder: Path, results: Path) -> dict[str, Any]:
    """Build the network of ``plan.json``, verify it, run its traffic and leave the raw files."""
    plan = Plan.from_json((plan_folder / "plan.json").read_text())
    (results / "flows").mkdir()
    shortcuts = Shortcuts.of(plan_folder)
    network = set_up(plan, results)

    probe = Probe(network)
    ready_ns = next_ready_ns()
    whole_ns = max((item.end_ns for item in plan.traffic), default=0)

    def tell(at_ns: int) -> None:
        """Say how far the traffic is, by a file that the host can watch: "<done> <whole>" in virtual ns."""
        # Who is late is waited for.
        (results / "progress").write_text(f"{at_ns} {max(at_ns, whole_ns)}\n")

    schedule = Schedule(network, probe, events.Events(network), results, shortcuts, tell)
    followers = Followers(network)
    followers.start(ready_ns, results)
    try:
        if not plan.traffic:
            probe.sample(0)
        schedule.run(ready_ns)
    except Exception:
        # What broke the run may break the writing, too: the first error is the one that is told.
        with suppress(Exception):
            followers.stop(results)
        with suppress(Exception):
            schedule.write(results)
        raise
    followers.stop(results)
    schedule.write(results)
    return {
        "status": "done",
        "counted_from_ns": schedule.counted_from_ns,
        "ready_ns": ready_ns,
        "kernel": os.uname().release,
        "tools": tools(),
    }


def next_ready_ns() -> int:
    """The instant at which the network is ready, from which the traffic counts."""
    return (clock.now_ns() // _READY_STEP_NS + 1) * _READY_STEP_NS


def tools() -> dict[str, str]:
    """The versions of what produced the figures, as the root image's package database has them."""
    database = _DPKG_STATUS.read_text(errors="replace")
    versions = dict(re.findall(r"^Package: (\S+)$.*?^Version: (\S+)$", database, re.MULTILINE | re.DOTALL))
    return {name: versions[name] for name in _TOOLS}
