"""A machine that serves a class, by systemd: `make test-releases`."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.fleet import roots
from tests.fleet.conftest import QUICKEST, make_export
from tests.fleet.hosts import CannotError

if TYPE_CHECKING:
    from tests.fleet.hosts import Host
    from tests.fleet.play import Controller

RELEASE = "bookworm"
PACKAGES = (*roots.PACKAGES, "systemd-sysv", "dbus", "python3-venv", "curl")
INIT = "/lib/systemd/systemd"
MAIN_PID = "systemctl show --property MainPID --value wirelab-serve"
FIRST_HOUR = Path(__file__).parents[1] / "serve/first_hour.py"
WAIT_S = 60


def digest_of_the_first_variant(controller: Controller) -> str:
    """That of the same scenario, run on this machine: the bench runs no controls."""
    [result] = (controller.folder / "local").glob(f"*-{QUICKEST}/result.json")
    return str(json.loads(result.read_text(encoding="utf-8"))["variants"][0]["digest"])


@dataclass(frozen=True)
class Server:
    """The machine that serves, as its administrator and its class see it."""

    controller: Controller
    host: Host

    def says(self, line: str) -> str:
        """What a line says there, to root."""
        switch = self.controller.switch
        argv = ["ssh", *switch.ssh_args().split(), f"root@{self.host.address}", line]
        done = subprocess.run([*switch.enter, *argv], capture_output=True, text=True, check=False)
        return done.stdout.strip()

    def wait_until_it_answers(self) -> None:
        """With the front page."""
        deadline_s = time.monotonic() + WAIT_S
        while "Join your class" not in self.says(f"curl --silent http://{self.host.address}:8080/"):
            assert time.monotonic() < deadline_s, self.says("journalctl --unit wirelab-serve")
            time.sleep(0.5)

    def first_hour(self, key: str) -> str:
        """The page of the first run of a class."""
        argv = [sys.executable, str(FIRST_HOUR), f"http://{self.host.address}:8080", key, QUICKEST]
        done = subprocess.run(
            [*self.controller.switch.enter, *argv], capture_output=True, text=True, check=False
        )
        return done.stdout + done.stderr


@pytest.mark.usefixtures("digests")
def test_it_serves_a_class_and_comes_up_by_itself(controller: Controller, release: str) -> None:
    """From a minimal system with systemd to a run of a student's, over a crash, and to nothing."""
    if release != RELEASE:
        pytest.skip(f"tried on {RELEASE}")
    root = controller.folder / "root-serve"
    try:
        roots.make(RELEASE, root, packages=PACKAGES, hooks=[roots.CLEAN])
        host = controller.switch.add("serve", roots.FRESH_INDEX, root, INIT)
    except CannotError as error:
        pytest.skip(f"no {RELEASE} with systemd here: {error}")
    make_export(controller, roots.RELEASES[RELEASE])
    inventory = controller.inventory(
        "serve",
        {"servers": [host]},
        ansible_user="root",
        wirelab_home="/opt/wirelab",
        wirelab_launcher="/usr/local/bin/wirelab",
        wirelab_listen=host.address,
    )
    here = Server(controller, host)

    closed = controller.play("serve", inventory, "-e", "wirelab_home=~/.local/share/wirelab")
    assert closed.code != 0
    assert "/root/.local/share/wirelab is closed to wirelab, which the server runs as" in closed.text
    assert here.says("ls -A /root/.local") == ""

    first = controller.play("serve", inventory)
    assert first.code == 0, first.text
    here.wait_until_it_answers()
    second = controller.play("serve", inventory)
    assert (second.code, second.changed) == (0, 0), second.text

    before = here.says(MAIN_PID)
    here.says("echo '# older' >> /opt/wirelab/venv/lib/python3*/site-packages/wirelab/__init__.py")
    newer = controller.play("serve", inventory)
    assert newer.code == 0, newer.text
    assert here.says(MAIN_PID) not in {before, "0"}
    here.wait_until_it_answers()

    key = re.search(r"/set-up/(\w+)", here.says("journalctl --unit wirelab-serve --output cat"))
    assert key is not None
    page = here.first_hour(key[1])
    assert page.startswith("200 "), page
    assert f"digest <code>{digest_of_the_first_variant(controller)[:12]}<" in page, page

    silent = controller.play(
        "serve", inventory, "-e", "wirelab_tls_cert=/nothing", "-e", "wirelab_tls_key=/nothing"
    )
    assert silent.code != 0
    assert "nothing answers at" in silent.text
    assert "/nothing" in silent.text.partition("its last words")[2]
    again = controller.play("serve", inventory)
    assert again.code == 0, again.text

    before = here.says(MAIN_PID)
    here.says(f"kill -KILL {before}")
    here.wait_until_it_answers()
    assert here.says(MAIN_PID) not in {before, "0"}

    gone = controller.play("teardown", inventory)
    assert gone.code == 0, gone.text
    assert here.says("systemctl list-unit-files --no-legend 'wirelab*'; ls -A /opt") == ""
