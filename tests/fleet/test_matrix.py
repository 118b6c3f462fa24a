"""matrix.yml: one verdict from many machines, whatever becomes of some of them."""

from __future__ import annotations

import json
import re
import subprocess
import time
from typing import TYPE_CHECKING

from tests.fleet.conftest import QUICK, QUICKEST
from tests.fleet.hosts import checked

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from tests.fleet.conftest import Fleet
    from tests.fleet.hosts import Host

LIMIT_S = 240


def results(folder: Path) -> dict[str, str]:
    """The digests in a folder of results, in which must be one for each scenario and nothing else."""
    digests = {}
    for path in sorted(folder.iterdir()):
        if path.name != "latest":
            document = json.loads((path / "result.json").read_text(encoding="utf-8"))
            assert document["scenario"] not in digests
            assert document["verdict"] == "pass"
            assert (path / "report.html").is_file()
            assert all((path / variant["name"] / "plan.json").is_file() for variant in document["variants"])
            digests[document["scenario"]] = document["digest"]
    return digests


def is_at_work(host: Host) -> bool:
    """Whether it is in the middle of a scenario."""
    return any((host.fleet_home / "runs").glob("*/.partial-*"))


def play_until(
    fleet: Fleet, when: Callable[[], bool], then: Callable[[], None], *options: str
) -> tuple[int, str]:
    """Run a matrix, and ``then`` do something as soon as ``when`` holds."""
    argv = fleet.controller.argv("matrix", fleet.inventory, *options)
    with subprocess.Popen(
        argv,
        cwd=fleet.controller.folder,
        env=fleet.controller.environ(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        end_s = time.monotonic() + LIMIT_S
        while not when():
            assert process.poll() is None, process.communicate()[0]
            assert time.monotonic() < end_s
            time.sleep(0.05)
        then()
        out, _ = process.communicate(timeout=LIMIT_S)
        return process.returncode, out


def test_a_worker_that_is_cut_off_costs_nothing(fleet: Fleet, digests: Mapping[str, str]) -> None:
    """Its cable is pulled in the middle of a scenario: that one goes to another, and all of them pass.

    Each has one whole result with the digest that it has here, the summary names the lost worker, and the
    exit code is 0.
    """
    lost = fleet.hosts[1]
    folder, junit = fleet.controller.folder / "cut", fleet.controller.folder / "cut.xml"
    code, text = play_until(
        fleet,
        lambda: is_at_work(lost),
        lambda: fleet.controller.switch.cut(lost),
        *("-e", json.dumps({"scenarios": " ".join(QUICK), "wirelab_use_cache": False})),
        *("-e", f"wirelab_results={folder}", "-e", f"junit={junit}"),
    )
    fleet.controller.switch.mend(lost)
    assert code == 0, text
    assert results(folder) == digests
    assert re.search(rf"lost: {lost.name}: .+: is its cable in, is it on\?", text), text
    assert f"{len(QUICK)} pass" in text
    assert junit.read_text(encoding="utf-8").count("<testsuite ") >= len(QUICK)
    assert {path.name for path in (folder / "latest").iterdir()} == set(QUICK)


def test_an_older_worker_and_a_full_disk_cost_nothing(fleet: Fleet, digests: Mapping[str, str]) -> None:
    """One has another wirelab and gets nothing to do; one fills its disk half way; the third does it all.

    provision.yml brings the older one up to date, and touches no other.
    """
    anna, bert, cora = fleet.hosts
    module = next(bert.fleet_home.glob("venv/lib/python3.*/site-packages/wirelab/results/flow.py"))
    module.write_text(module.read_text(encoding="utf-8") + "# older\n", encoding="utf-8")
    work = f"/home/student/{cora.fleet_home.relative_to(cora.home)}/runs"
    inside = ["nsenter", f"--mount=/proc/{cora.process.pid}/ns/mnt", "--"]
    checked([*inside, "mount", "-t", "tmpfs", "-o", "size=40m,mode=777", "none", work])

    def is_cora_at_work() -> bool:
        listing = subprocess.run(
            [*inside, "find", work, "-name", ".partial-*"], capture_output=True, text=True, check=False
        )
        return bool(listing.stdout)

    def fill() -> None:
        subprocess.run([*inside, "dd", "if=/dev/zero", f"of={work}/full"], capture_output=True, check=False)

    folder = fleet.controller.folder / "older"
    code, text = play_until(
        fleet,
        is_cora_at_work,
        fill,
        *("-e", json.dumps({"scenarios": "sfp-native-2g5,driver-bound", "wirelab_use_cache": False})),
        *("-e", f"wirelab_results={folder}"),
    )
    checked([*inside, "umount", work])
    assert code == 0, text
    assert results(folder) == {name: digests[name] for name in ("sfp-native-2g5", "driver-bound")}
    assert f"lost: {bert.name}: it has wirelab " in text
    assert "run provision.yml again" in text
    assert f"lost: {cora.name}: the disk of {work} is full: " in text
    assert f"{anna.name}: 2 results" in text

    played = fleet.controller.play("provision", fleet.inventory)
    assert played.code == 0, played.text
    assert played.recap[bert.name]["changed"] > 0
    assert played.recap[anna.name]["changed"] == played.recap[cora.name]["changed"] == 0


def test_without_any_worker_it_fails(fleet: Fleet) -> None:
    """What has no result is an error of the summary, and the worker that could not be used is told."""
    stranger = fleet.controller.switch.add("stranger")
    inventory = fleet.controller.inventory("strangers", {"workers": [stranger]}, wirelab_home="/srv/wirelab")
    played = fleet.controller.play("matrix", inventory, "-e", f"scenarios={QUICKEST}")
    assert played.code != 0
    assert f"lost: {stranger.name}: " in played.text
    assert "/srv/wirelab/venv/bin/python" in played.text
    assert "run provision.yml" in played.text
    assert "no result of it came" in played.text


def test_check_mode_says_what_would_be_run(fleet: Fleet) -> None:
    """In which order, and runs nothing."""
    folder = fleet.controller.folder / "nothing"
    options = ("--check", "-e", "scenarios=sfp-*", "-e", f"wirelab_results={folder}")
    played = fleet.controller.play("matrix", fleet.inventory, *options)
    assert played.code == 0, played.text
    assert "- sfp-mismatch" in played.text
    assert played.changed == 0
    assert not folder.exists()


def test_what_cannot_begin_says_why(fleet: Fleet) -> None:
    """An unknown scenario, a file, and results that cannot be kept: the name or the path, and the fix."""
    unknown = fleet.controller.play("matrix", fleet.inventory, "-e", "scenarios=sfp-missmatch")
    assert unknown.code != 0
    assert "did you mean `sfp-mismatch`?" in unknown.text
    file = fleet.controller.play("matrix", fleet.inventory, "-e", "scenarios=./mine.yaml")
    assert "put it in scenarios/ and run provision.yml again" in " ".join(file.text.split())
    unwritable = fleet.controller.play("matrix", fleet.inventory, "-e", "wirelab_results=/proc/results")
    assert unwritable.code != 0
    assert "/proc/results: cannot write results: " in " ".join(unwritable.text.split())
