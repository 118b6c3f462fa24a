"""Real playbooks against the hosts of a switch, by the command that people use."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tests.fleet.hosts import USER

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tests.fleet.hosts import Host, Switch

CHECKOUT = Path(__file__).resolve().parents[2]
PLAYBOOKS = CHECKOUT / "playbooks"
LIMIT_S = 280
_RECAP = re.compile(r"^(\S+)\s+: (ok=.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Played:
    """What a playbook said, and its exit code."""

    code: int
    text: str

    @property
    def recap(self) -> dict[str, dict[str, int]]:
        """The counts of each host."""
        return {
            host: {name: int(count) for name, count in (word.split("=") for word in counts.split())}
            for host, counts in _RECAP.findall(self.text)
        }

    @property
    def changed(self) -> int:
        """How much was changed, on all hosts and on the controller."""
        assert self.recap, self.text
        return sum(counts["changed"] for counts in self.recap.values())


@dataclass(frozen=True)
class Controller:
    """Where ansible-playbook is called: in ``folder``, on the network of ``switch``."""

    switch: Switch
    folder: Path

    @property
    def exports(self) -> Path:
        """What is made for workers."""
        return self.folder / "exports"

    def hang_up(self) -> None:
        """End the connections that are kept for the next playbook."""
        for control in (self.folder / "ansible/cp").glob("*"):
            argv = [
                *self.switch.enter,
                "ssh",
                "-F",
                "none",
                "-o",
                f"ControlPath={control}",
                "-O",
                "exit",
                "host",
            ]
            subprocess.run(argv, capture_output=True, check=False)

    def inventory(
        self,
        name: str,
        groups: Mapping[str, Iterable[Host]],
        of_each: Mapping[str, Mapping[str, object]] | None = None,
        **variables: object,
    ) -> Path:
        """Write an inventory; ``variables`` are those of all hosts, ``of_each`` has some by their names."""
        own = of_each or {}
        tree = {
            group: {
                "hosts": {
                    host.name: {"ansible_host": host.address, **own.get(host.name, {})} for host in hosts
                }
            }
            for group, hosts in groups.items()
        }
        common = {"ansible_user": USER, "ansible_ssh_common_args": self.switch.ssh_args(), **variables}
        path = self.folder / f"{name}.json"
        path.write_text(json.dumps({**tree, "all": {"vars": common}}), encoding="utf-8")
        return path

    def argv(self, playbook: str, inventory: Path, *options: str) -> list[str]:
        """The command line of a playbook."""
        command = Path(sys.executable).with_name("ansible-playbook")
        made = ["-e", f"wirelab_exports={self.exports}"]
        return [
            *self.switch.enter,
            *map(str, (command, "-i", inventory, PLAYBOOKS / f"{playbook}.yml", *made, *options)),
        ]

    def environ(self) -> dict[str, str]:
        """Ansible's own files are in ``folder``, and nothing of the caller's configuration is read."""
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("ANSIBLE_")}
        own = {
            "ANSIBLE_CONFIG": str(PLAYBOOKS / "ansible.cfg"),
            "ANSIBLE_HOME": str(self.folder / "ansible"),
            "ANSIBLE_NOCOLOR": "1",
            "PWD": str(self.folder),
            "PYTHONPATH": str(CHECKOUT / "src"),
        }
        return {**inherited, **own}

    def play(self, playbook: str, inventory: Path, *options: str) -> Played:
        """Run a playbook to its end."""
        done = subprocess.run(
            self.argv(playbook, inventory, *options),
            cwd=self.folder,
            env=self.environ(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=LIMIT_S,
        )
        assert "Traceback" not in done.stdout, done.stdout
        return Played(done.returncode, done.stdout)
