"""Machines with an ssh server each, on a switch, all of them namespaces of this machine.

A switch is a network namespace with a bridge; a host has a network, processes, mounts and a name of its own,
its users and homes among them, and the programs of this machine or those of another release. Nothing of this
machine is changed: no interface, no user, no file outside of one folder. What is made ends with the processes
that are started here.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Sequence

USER = "student"
UID = 61001
_READY_S = 20.0

# Run as root in fresh namespaces: $1 its folder, $2 its name, $3 its address, $4 what it must not see, $5 its
# root, empty where that is this machine's, $6 its first process, empty for an ssh server. With a root of its
# own it leaves ours for good at the end: in a mere chroot there are no user namespaces. systemd wants a tree
# of control groups of its own.
BOOT = """
set -eu
root=$5
mount --make-rprivate /
if [ "$root" ]; then
	mount --bind "$root" "$root"
	mount --rbind /dev "$root/dev"
fi
mount -t proc proc "$root/proc"
hostname "$2"
for name in passwd group shadow; do
	if [ "$root" ]; then cp "$1/etc/$name" "$root/etc"; else mount --bind "$1/etc/$name" "/etc/$name"; fi
done
mount --bind "$1/ssh" "$root/etc/ssh"
mount --bind "$1/home" "$root/home"
mount -t tmpfs -o mode=755 none "$root/run"
mkdir "$root/run/sshd"
. "$1/quirks"
[ "$root" ] || [ ! -d "$4" ] || mount -t tmpfs -o mode=755 none "$4"
mount -t tmpfs -o mode=1777 none "$root/tmp"
until ip link show eth0 > /dev/null 2>&1; do sleep 0.05; done
ip link set lo up
ip address add "$3/24" dev eth0
ip link set eth0 up
if [ "$root" ]; then
	if [ "$6" ]; then
		mount -t sysfs none "$root/sys"
		groups="$root/sys/fs/cgroup"
		mount -t cgroup2 none "$groups"
		mkdir -p "$groups/$2"
		echo 0 > "$groups/$2/cgroup.procs"
		mount --bind "$groups/$2" "$groups"
		rm -f "$root/etc/machine-id"
	fi
	cd "$root"
	mkdir old
	pivot_root . old
	exec chroot . sh -c '
		umount --lazy /old && rmdir /old
		if [ "$1" ]; then exec unshare --cgroup env container=other "$1"; fi
		exec /usr/sbin/sshd -D -e' boot "$6"
fi
exec /usr/sbin/sshd -D -e
"""

# Remove the control groups of hosts, whose processes have been told to end.
NO_GROUPS = """
mount -t cgroup2 none /sys/fs/cgroup
cd /sys/fs/cgroup
for name; do
	for _ in $(seq 100); do
		find "$name" -depth -type d -exec rmdir {} + 2> /dev/null && break
		sleep 0.1
	done
done
"""

SSHD = """
HostKey /etc/ssh/host_key
AuthorizedKeysFile /etc/ssh/authorized_keys
PasswordAuthentication no
UsePAM no
StrictModes no
PidFile none
MaxStartups 100
Subsystem sftp internal-sftp
"""


class CannotError(Exception):
    """What this machine cannot have such hosts for."""


def checked(argv: Sequence[str | Path]) -> None:
    """Run a program that must succeed."""
    done = subprocess.run(list(map(str, argv)), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CannotError(f"{' '.join(map(str, argv))}: {done.stderr.strip()}")


@dataclass
class Host:
    """One machine: ``process`` holds its namespaces, ``port`` is its end of the cable at the switch."""

    name: str
    address: str
    folder: Path
    port: str
    process: subprocess.Popen[bytes]

    @property
    def home(self) -> Path:
        """The user's home, as this machine sees it."""
        return self.folder / "home" / USER

    @property
    def fleet_home(self) -> Path:
        """Where the playbooks put what they make."""
        return self.home / ".local/share/wirelab"


@dataclass
class Switch:
    """A network, and the hosts on it: a context that ends all of them."""

    folder: Path
    hidden: Path
    hosts: dict[str, Host] = field(default_factory=dict)
    _groups: list[str] = field(default_factory=list)

    def __enter__(self) -> Self:
        if os.geteuid() != 0:
            raise CannotError("namespaces with users of their own need root")
        for tool in ("unshare", "nsenter", "ip", "ssh-keygen", "/usr/sbin/sshd"):
            if shutil.which(tool) is None:
                raise CannotError(f"{tool} is not installed: python3 -m wirelab.lab.packages fleet")
        key = self.folder / "key"
        checked(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key])
        self._process = subprocess.Popen(["unshare", "--net", "sleep", "infinity"])
        try:
            self._wait(lambda: self._namespace(self._process.pid) != self._namespace(os.getpid()))
            for line in (
                "link set lo up",
                "link add fleet0 type bridge",
                "address add 192.0.2.1/24 dev fleet0",
                "link set fleet0 up",
            ):
                checked([*self.enter, "ip", *line.split()])
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for process in (*(host.process for host in self.hosts.values()), self._process):
            process.kill()
            process.wait()
        if self._groups:
            checked(["unshare", "--mount", "sh", "-c", NO_GROUPS, "groups", *self._groups])

    @property
    def enter(self) -> list[str]:
        """What a program is started with that is to be on this network: the controller's end of it."""
        return ["nsenter", f"--net=/proc/{self._process.pid}/ns/net", "--"]

    @property
    def pid(self) -> int:
        """The process that holds the network."""
        return self._process.pid

    def add(self, name: str, quirks: str = ":", root: Path | None = None, init: str = "") -> Host:
        """Another host, with an ssh server that answers; ``quirks`` are commands of its start.

        ``root`` is a folder with its programs, which is its own from then on; else it has this machine's.
        There ``init`` may be its first process, which starts the ssh server by itself.
        """
        number = len(self.hosts) + 11
        folder = self.folder / name
        address, port = f"192.0.2.{number}", f"port{number}"
        self._lay_out(folder, quirks, root or Path("/"))
        self._groups += [name] if init else []
        log = (folder / "log").open("wb")
        spaces = ("--net", "--mount", "--pid", "--uts", "--fork", "--kill-child")
        with log:
            process = subprocess.Popen(
                [
                    "unshare",
                    *spaces,
                    "sh",
                    "-c",
                    BOOT,
                    "boot",
                    folder,
                    name,
                    address,
                    self.hidden,
                    root or "",
                    init,
                ],
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
            )
        host = self.hosts[name] = Host(name, address, folder, port, process)
        self._wait(lambda: self._namespace(process.pid) not in (None, self._namespace(os.getpid())))
        peer = ["peer", "name", "eth0", "netns", str(process.pid)]
        checked([*self.enter, "ip", "link", "add", port, "type", "veth", *peer])
        checked([*self.enter, "ip", "link", "set", port, "master", "fleet0", "up"])
        self._wait(lambda: self._answers(host))
        return host

    def cut(self, host: Host) -> None:
        """Pull its cable."""
        checked([*self.enter, "ip", "link", "set", host.port, "down"])

    def mend(self, host: Host) -> None:
        """Plug it in again."""
        checked([*self.enter, "ip", "link", "set", host.port, "up"])

    def ssh_args(self) -> str:
        """Options for ssh: this key, a file of known hosts of its own, nobody's configuration."""
        known = self.folder / "known_hosts"
        return (
            f"-F none -o IdentityFile={self.folder}/key -o UserKnownHostsFile={known} -o IdentitiesOnly=yes"
        )

    def _lay_out(self, folder: Path, quirks: str, root: Path) -> None:
        for name in ("etc", "ssh", f"home/{USER}"):
            (folder / name).mkdir(parents=True)
        os.chown(folder / "home" / USER, UID, UID)
        lines = {"passwd": f"{USER}:x:{UID}:{UID}::/home/{USER}:/bin/sh", "group": f"{USER}:x:{UID}:"}
        for name, line in lines.items():
            text = (root / "etc" / name).read_text(encoding="utf-8")
            (folder / "etc" / name).write_text(f"{text}{line}\n", encoding="utf-8")
        # "*" is no password: there is none to log in with, and sudo asks for none.
        (folder / "etc/shadow").write_text(f"root:*:1::::::\n{USER}:*:1::::::\n", encoding="utf-8")
        (folder / "quirks").write_text(quirks + "\n", encoding="utf-8")
        (folder / "ssh/sshd_config").write_text(SSHD, encoding="utf-8")
        checked(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / "ssh/host_key"])
        shutil.copy(self.folder / "key.pub", folder / "ssh/authorized_keys")

    def _answers(self, host: Host) -> bool:
        if host.process.poll() is not None:
            raise CannotError(f"{host.name}: {(host.folder / 'log').read_text(errors='replace').strip()}")
        known = self.folder / "known_hosts"
        scan = subprocess.run(
            [*self.enter, "ssh-keyscan", "-T", "1", "-t", "ed25519", host.address],
            capture_output=True,
            text=True,
            check=False,
        )
        with known.open("a", encoding="utf-8") as file:
            file.write(scan.stdout)
        return bool(scan.stdout)

    @staticmethod
    def _namespace(pid: int) -> str | None:
        with contextlib.suppress(OSError):
            return str(Path(f"/proc/{pid}/ns/net").readlink())
        return None

    @staticmethod
    def _wait(ready: object) -> None:
        end_s = time.monotonic() + _READY_S
        assert callable(ready)
        while not ready():
            if time.monotonic() > end_s:
                raise CannotError(f"a host did not start within {_READY_S:g} s")
            time.sleep(0.05)
