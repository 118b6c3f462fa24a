"""classroom.yml: who is ready, and for who is not, why and what helps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.fleet.conftest import NO_PYTHON, NO_VENV, QUICKEST

if TYPE_CHECKING:
    from tests.fleet.conftest import Fleet


def test_the_list_says_who_is_ready(fleet: Fleet) -> None:
    """One is, and gives the controller's digest; three are not, and neither stops it nor each other."""
    switch = fleet.controller.switch
    off = switch.add("off")
    switch.cut(off)
    hosts = (fleet.hosts[2], switch.add("desk1", NO_VENV), switch.add("desk2", NO_PYTHON), off)
    inventory = fleet.controller.inventory("room", {"students": hosts})
    played = fleet.controller.play("classroom", inventory, "-e", f"wirelab_verify={QUICKEST}")
    assert played.code != 0
    lines = [line.strip() for line in played.text.partition("TASK [List who is ready]")[2].splitlines()]
    assert f"{fleet.hosts[2].name}: ready" in lines, played.text
    assert "desk1: not ready: python3-venv is missing: sudo apt-get install python3-venv" in lines
    assert any(line.startswith("desk2: not ready: `/usr/bin/python3` does not work there") for line in lines)
    assert any(line.startswith("off: not ready: no ssh: ") and "is it on" in line for line in lines)
    assert not (fleet.controller.exports / "verify").exists()
    assert played.recap[fleet.hosts[2].name]["changed"] == 0
