"""Open vSwitch: its database and its daemon, as the distribution's own start script runs them."""

from pathlib import Path

from wirelab.guest import clock
from wirelab.guest.shell import run

# ovs-vswitchd counts the CPUs it may use at its start, and not again for 10 s; a count taken in the
# first 10 s of a machine's life is thrown away: it would run without a single upcall handler.
_UPTIME_NS = 11 * clock.NS_PER_S

_DATABASE = "/etc/openvswitch/conf.db"
_SCHEMA = "/usr/share/openvswitch/vswitch.ovsschema"
_RUN = Path("/run/openvswitch")
_DAEMON = ("--pidfile", "--detach", "--log-file", "-vconsole:off")
# One thread of each kind: the lab has one CPU, and more only pass frames to each other.
_THREADS = ("other_config:n-handler-threads=1", "other_config:n-revalidator-threads=1")
_NO_REFRESH = "other_config:stats-update-interval=86400000"


def start(*, refresh: bool) -> None:
    """Start the database and the switch daemon and wait until they answer.

    With ``refresh`` the daemon tells the database every five seconds what each port counts, and whether
    controllers are connected, for which a script of Mininet's may wait. Raises CommandError when one of them
    does not start.
    """
    clock.sleep_until(_UPTIME_NS)
    _RUN.mkdir(exist_ok=True)
    run(["ovsdb-tool", "create", _DATABASE, _SCHEMA])
    run(["ovsdb-server", _DATABASE, f"--remote=punix:{_RUN}/db.sock", *_DAEMON])
    options = _THREADS if refresh else (*_THREADS, _NO_REFRESH)
    run(["ovs-vsctl", "--no-wait", "init", "--", "set", "Open_vSwitch", ".", *options])
    run(["ovs-vswitchd", *_DAEMON])
