"""provision.yml: a machine becomes a worker, once."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

from tests.fleet.conftest import NO_PYTHON, NO_VENV
from tests.fleet.hosts import USER
from wirelab.fleet.identity import Identity

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fleet.conftest import Fleet
    from tests.fleet.play import Controller


def test_check_mode_on_a_fresh_machine_changes_nothing(fleet: Fleet) -> None:
    """It says what would be changed, and afterwards the homes are as empty as before."""
    assert fleet.checked_fresh.code == 0, fleet.checked_fresh.text
    assert fleet.checked_fresh.changed > 0
    assert fleet.untouched


def test_a_worker_has_what_the_controller_has(fleet: Fleet) -> None:
    """The same code, the same lab, for an ordinary user without sudo and without a package index."""
    assert fleet.first.code == 0, fleet.first.text
    wanted = Identity.here()
    for host in fleet.hosts:
        hello = f"{remote_home()}/venv/bin/python -m wirelab.fleet.agent hello"
        line = (
            f"cd /; ~/.local/bin/wirelab lab id; env WIRELAB_CACHE={remote_home()}/cache {hello}; which sudo"
        )
        told = ssh(fleet.controller, host.address, line)
        assert told.splitlines()[0] == wanted.lab
        assert json.loads(told.splitlines()[1])["code"] == wanted.code
        assert "sudo" not in told


def test_the_second_time_changes_nothing(fleet: Fleet) -> None:
    """Neither on a worker nor on the controller; and check mode agrees."""
    assert fleet.second.code == 0, fleet.second.text
    assert fleet.second.changed == 0, fleet.second.text
    assert fleet.checked.code == 0, fleet.checked.text
    assert fleet.checked.changed == 0


def test_an_install_that_fails_leaves_what_was_there(fleet: Fleet) -> None:
    """The worker is as it was and works, the others had nothing to do; the next time brings it up to date."""
    _, bert, _ = fleet.hosts
    module = next(bert.fleet_home.glob("venv/lib/python3.*/site-packages/wirelab/results/flow.py"))
    newest = module.read_text(encoding="utf-8")
    module.write_text(newest + "# older\n", encoding="utf-8")
    failed = fleet.controller.play("provision", fleet.inventory, "-e", json.dumps({"wirelab_extra": "==0"}))
    assert failed.code != 0
    assert {name for name, counts in failed.recap.items() if counts["failed"]} == {bert.name}
    said = " ".join(failed.text.split())
    assert "the code was not brought, that of before is back: ERROR: " in said, failed.text
    assert "wirelab==0" in said
    assert module.read_text(encoding="utf-8").endswith("# older\n")
    assert ssh(fleet.controller, bert.address, "~/.local/bin/wirelab lab id").strip() == Identity.here().lab
    assert sorted(path.name for path in bert.fleet_home.glob("venv*")) == ["venv"]

    again = fleet.controller.play("provision", fleet.inventory)
    assert again.code == 0, again.text
    assert module.read_text(encoding="utf-8") == newest


def test_what_is_wrong_with_a_machine_is_said_and_others_go_on(fleet: Fleet) -> None:
    """No ssh, no Python, no python3-venv and no sudo, a folder that is not ours: each with the fix."""
    switch = fleet.controller.switch
    foreign = switch.add("foreign")
    (foreign.fleet_home).mkdir(parents=True)
    (foreign.fleet_home / "theirs").touch()
    hosts = (
        fleet.hosts[0],
        switch.add("nopython", NO_PYTHON),
        switch.add("novenv", NO_VENV),
        foreign,
        gone := switch.add("gone"),
    )
    switch.cut(gone)
    inventory = fleet.controller.inventory("wrong", {"workers": hosts})
    played = fleet.controller.play("provision", inventory)
    assert played.code != 0
    said = " ".join(played.text.split())
    for words in (
        "sudo apt-get install python3",
        "python3-venv is missing and cannot be installed by us (/bin/sh: 1: sudo: not found)",
        "sudo apt-get install python3-venv",
        f"{remote_home()} is there and is not ours: -e wirelab_home=",
        "no ssh: ",
        "is it on",
    ):
        assert words in said, played.text
    assert played.recap[fleet.hosts[0].name]["failed"] == 0
    assert {name: counts["failed"] for name, counts in played.recap.items() if counts["failed"]} == {
        "nopython": 1,
        "novenv": 1,
        "foreign": 1,
        "gone": 1,
    }
    assert [path.name for path in foreign.fleet_home.iterdir()] == ["theirs"]


def test_an_inventory_without_workers_is_an_error(controller: Controller, tmp_path: Path) -> None:
    """It names the file, and where an example is; so does one that is not there."""
    played = controller.play("provision", controller.inventory("empty", {"students": ()}))
    assert played.code != 0
    said = " ".join(played.text.split())
    assert "empty.json: no host in the group `workers`; playbooks/inventory/example.yml shows one" in said
    played = controller.play("provision", tmp_path / "nowhere.yml")
    assert played.code != 0
    assert "nowhere.yml" in played.text


def remote_home() -> str:
    """Where the playbooks put what they make, as a host sees it."""
    return f"/home/{USER}/.local/share/wirelab"


def ssh(controller: Controller, address: str, line: str) -> str:
    """What a line says on a host."""
    switch = controller.switch
    argv = [*switch.enter, "ssh", *switch.ssh_args().split(), f"{USER}@{address}", line]
    return subprocess.run(argv, capture_output=True, text=True, check=False).stdout
