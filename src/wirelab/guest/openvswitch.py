"""Open vSwitch: its database and its daemon, as the distribution's own start script runs them."""

from __future__ import annotations

from pathlib import Path

from wirelab.guest import clock
from wirelab.guest.shell import run

# ovs-vswitchd counts the CPUs it may use at its start, and not again for 10 s; a count taken in the
# first 10 s of a machine's life is thrown away: it would run without a single upcall handler.
_UPTIME_NS = 11 * clock.NS_PER_S

_DATABASE = Path("/etc/openvswitch/conf.db")
_SCHEMA = Path("/usr/share/openvswitch/vswitch.ovsschema")
_RUN = Path("/run/openvswitch")


def start() -> None:
    """Start the database and the switch daemon and wait until they answer.

    Raises CommandError when one of them does not start.
    """
    clock.sleep_until(_UPTIME_NS)
    _RUN.mkdir(exist_ok=True)
    run(["ovsdb-tool", "create", str(_DATABASE), str(_SCHEMA)])
    run(
        [
            "ovsdb-server",
            str(_DATABASE),
            f"--remote=punix:{_RUN}/db.sock",
            "--pidfile",
            "--detach",
            "--log-file",
            "-vconsole:off",
        ]
    )
    # One thread of each kind: the lab has one CPU, and more only pass frames to each other.
    run(
        [
            "ovs-vsctl",
            "--no-wait",
            "init",
            "--",
            "set",
            "Open_vSwitch",
            ".",
            "other_config:n-handler-threads=1",
            "other_config:n-revalidator-threads=1",
        ]
    )
    run(["ovs-vswitchd", "--pidfile", "--detach", "--log-file", "-vconsole:off"])
