"""What SECURITY.md says of a lab, looked at from the host while one is running, and from inside."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tests.lab.processes import children, processes_in

if TYPE_CHECKING:
    from tests.lab.rig import Rig

INTERFACES = Path("/sys/class/net")
OF_MININET = "mn --topo single,3 --test none >/dev/null 2>&1; ip link add p1 type etherport; echo up; "


def namespaces(process: str) -> dict[str, str]:
    """The namespaces a process of the host lives in, by kind."""
    folder = Path("/proc", process, "ns")
    return {kind.name: str(kind.readlink()) for kind in folder.iterdir()}


def test_the_host_gets_no_interface_and_no_namespace(tmp_path: Path) -> None:
    """While switches, ports and nodes are made in a lab, the host has the interfaces it had before.

    Every process of the lab lives in the namespaces of whoever started it, and is the same user.
    """
    before = sorted(path.name for path in INTERFACES.iterdir())
    script = OF_MININET + "while :; do :; done"
    argv = [sys.executable, "-m", "wirelab", "exec", "--limit", "60", "--", "sh", "-c", script]
    with subprocess.Popen(argv, cwd=tmp_path, stdout=subprocess.PIPE) as wirelab:
        try:
            assert wirelab.stdout is not None
            assert wirelab.stdout.readline() == b"up\n"
            labs = [process for child in children(wirelab.pid) for process in processes_in(child)]
            assert len(labs) > 1
            for process in labs:
                assert namespaces(str(process)) == namespaces("self")
                assert Path("/proc", str(process)).stat().st_uid == os.getuid()
            assert sorted(path.name for path in INTERFACES.iterdir()) == before
        finally:
            wirelab.terminate()


def test_a_lab_has_no_way_to_the_hosts_network(rig: Rig) -> None:
    """None of its interfaces leads out, it has no default route, and its first process is its own."""
    link = rig.execute("ip", "-json", "link")
    assert {interface["ifname"] for interface in json.loads(link.stdout)} == {"lo", "dummy0", "ifb0", "ifb1"}
    assert rig.execute("ip", "route", "show", "table", "all").stdout.count("default") == 0
    assert rig.execute("sh", "-c", "cat /proc/1/cmdline").stdout.startswith("python3\0-B\0-m\0wirelab.guest")


def test_a_lab_has_the_memory_it_was_given(rig: Rig) -> None:
    """Less than 768 MiB, whatever the host has: asking for more fails inside and costs nothing outside."""
    output = rig.execute("sh", "-c", "grep MemTotal /proc/meminfo")
    assert 700_000 < int(output.stdout.split()[1]) < 768 * 1024


def test_a_command_reaches_what_its_user_may(rig: Rig, tmp_path: Path) -> None:
    """It is root of a kernel that mounts folders of the host: it is not shut in, and SECURITY.md says so."""
    (tmp_path / "notes.txt").write_text("mine\n")
    mount = 'mkdir /tmp/there; LIBMOUNT_FORCE_MOUNT2=always mount -t hostfs -o "$1" none /tmp/there'
    output = rig.execute("sh", "-c", f"{mount} && cat /tmp/there/notes.txt", "sh", str(tmp_path))
    assert (output.stdout, output.code) == ("mine\n", 0)
