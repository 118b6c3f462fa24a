"""teardown.yml: what the others made goes, all else stays."""

from __future__ import annotations

import fcntl
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fleet.conftest import Fleet


def tree(folder: Path) -> list[str]:
    """All that is in a folder, but for what Ansible keeps for itself."""
    names = (str(path.relative_to(folder)) for path in folder.rglob("*"))
    return sorted(name for name in names if not name.startswith(".ansible"))


def test_only_what_is_ours_goes(fleet: Fleet) -> None:
    """Files that somebody put among ours stay with their folders; where there are none, nothing is left.

    With them stays the mark, so that the folder can be made a worker's again. What `wirelab shell` keeps is
    ours, and so is what an install left that was cut off. A check changes nothing, nor does a second time; a
    run that is under way is not disturbed.
    """
    planted, plain, busy = fleet.hosts
    theirs = ("notes", "cache/notes", "venv/notes", "another/notes")
    for name in theirs:
        path = planted.fleet_home / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("mine", encoding="utf-8")
    for host in (planted, plain):
        (host.fleet_home / "cache/shell-history").write_text("run 1 ms", encoding="utf-8")
        (host.fleet_home / "venv.before").mkdir()
    (planted.home / ".local/bin/other").touch()
    (planted.home / ".cache/wirelab").mkdir(parents=True)
    ours = str(planted.fleet_home.relative_to(planted.home))
    run = busy.fleet_home / "runs/run"
    run.mkdir(parents=True)
    descriptor = os.open(run, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)

    before = [tree(host.home) for host in fleet.hosts]
    checked = fleet.controller.play("teardown", fleet.inventory, "--check")
    assert checked.changed == 2, checked.text
    assert [tree(host.home) for host in fleet.hosts] == before

    played = fleet.controller.play("teardown", fleet.inventory)
    assert f"a run is under way in /home/student/{ours}/runs: wait for its end" in played.text
    assert tree(busy.home) == before[2]
    assert tree(plain.home) == []
    left = {str(path.relative_to(planted.home)) for path in planted.home.rglob("*") if path.is_file()}
    assert {name for name in left if not name.startswith(".ansible")} == {
        ".local/bin/other",
        *(f"{ours}/{name}" for name in (*theirs, "fleet.json")),
    }
    assert (planted.home / ".cache/wirelab").is_dir()
    for name in theirs:
        assert f"/{ours}/{name}" in played.text

    os.close(descriptor)
    assert fleet.controller.play("teardown", fleet.inventory).changed == 1
    last = fleet.controller.play("teardown", fleet.inventory)
    assert last.code == 0, last.text
    assert last.changed == 0
    assert tree(busy.home) == []
