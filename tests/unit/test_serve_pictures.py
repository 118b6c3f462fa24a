"""Pictures of what was dropped, in the pages of a class: after the answers, and then in their place."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest
from browser import chromium
from bursts import picture
from served import PretendTestbed, Served, made_room, serving
from students import HERE, ready
from test_serve_browser import join

from wirelab.lab.machine import Progress
from wirelab.serve.bench import Bench
from wirelab.serve.pictures import pictures_spec
from wirelab.serve.runs import State

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from wirelab.report.picture import Picture
    from wirelab.runner.run_result import RunResult


@dataclass
class PretendLooks:
    """Finds the same picture in every run, as soon as ``go`` lets it."""

    go: threading.Event = field(default_factory=threading.Event)
    taken: list[str] = field(default_factory=list)

    def is_worth_it(self, run: RunResult) -> bool:
        """Something was dropped."""
        return any(variant.evidence for variant in run.variants)

    def pictures(self, run: RunResult, cpu: int, on_progress: Callable[[Progress], None]) -> list[Picture]:
        """The picture."""
        del cpu
        self.taken.append(run.scenario)
        on_progress(Progress(2.0, 4.0, 0.1))
        assert self.go.wait(60)
        return [picture()]


@pytest.fixture
def looks() -> PretendLooks:
    """Whoever looks closer."""
    return PretendLooks()


@pytest.fixture
def served(tmp_path: Path, looks: PretendLooks) -> Iterator[Served]:
    """A classroom with one lab and a course."""
    testbed = PretendTestbed()
    room = made_room(tmp_path / "class", testbed, cpus=1, looks=looks)
    room.courses.add("Networks 1")
    with serving(room, testbed) as answers:
        yield answers
        looks.go.set()


def spec(fifo: str) -> dict[str, object]:
    """A run of the bench."""
    return Bench.read("sfp-mismatch", "", {"module.fifo": fifo}).spec


def test_answers_come_before_pictures(tmp_path: Path, looks: PretendLooks) -> None:
    """Whoever waits for an answer comes first; a picture is made once, for all who asked."""
    testbed = PretendTestbed()
    room = made_room(tmp_path / "class", testbed, cpus=1, looks=looks)
    testbed.go.clear()
    looks.go.set()
    queue = room.queue
    runs = [queue.ask(spec(f"{size} KiB"), "ada") for size in (16, 20)]
    queue.ask(spec("16 KiB"), "bob")
    queue.start()
    ids = [queue.id_of(pictures_spec(run.spec)) for run in runs]
    assert [queue.status(one) for one in ids] == [None, None]
    testbed.go.set()
    while queue.counts() != (0, 0):
        threading.Event().wait(0.02)
    assert [room.runs.people(one) for one in ids] == [["ada", "bob"], ["ada"]]
    asked = room.database.rows("SELECT id, folder FROM run ORDER BY folder")
    assert {row["id"] for row in asked[2:]} == set(ids)
    assert len(looks.taken) == 2
    queue.stop()


def test_pictures_that_waited_are_made_by_the_next_server(tmp_path: Path, looks: PretendLooks) -> None:
    """As runs are."""
    testbed = PretendTestbed()
    first = made_room(tmp_path / "class", testbed, cpus=1, looks=looks)
    run = first.runs.ask("one", spec("16 KiB"), 1.0, "ada")
    asked = first.queue.ask(pictures_spec(run.spec), "ada")
    first.database.close()
    looks.go.set()
    second = made_room(tmp_path / "class", PretendTestbed(), cpus=1, looks=looks)
    second.queue.start()
    while second.queue.counts() != (0, 0):
        threading.Event().wait(0.02)
    status = second.queue.status(asked.id)
    assert status is not None
    assert status.state is State.DONE
    second.queue.stop()


def test_the_answer_is_there_first_and_the_picture_comes_to_it(served: Served, looks: PretendLooks) -> None:
    """Without the page being loaded again: what somebody types stays."""
    with chromium(served.url) as browser:
        ada = join(browser, served, "Ada")
        ada.goto(f"{served.url}/bench/sfp-mismatch")
        ada.get_by_role("button", name="Run it").click()
        ada.get_by_text("What bounds them").wait_for()
        ada.get_by_text("the network runs once more for it").wait_for()
        ada.get_by_text("Running: 2.0 of").wait_for()
        ada.evaluate("window.isTheSame = true")
        looks.go.set()
        ada.locator(".burst canvas").wait_for()
        assert ada.evaluate("window.isTheSame")
        assert ada.locator(".burst-tools button").count() > 3
        browser.look(ada, "bench-picture")


def test_the_whole_report_has_the_picture_as_soon_as_it_is_there(served: Served, looks: PretendLooks) -> None:
    """It is the report that `wirelab run` leaves; until then it has none."""
    ada = served.student("Ada")
    run = ada.post("/bench/sfp-mismatch").url.removeprefix(served.url)
    while served.room.queue.counts()[0] or not looks.taken:
        threading.Event().wait(0.02)
    assert "The burst" not in ada.get(f"{run}/report").text
    looks.go.set()
    served.wait_for_runs()
    whole = ada.get(f"{run}/report")
    assert "The burst" in whole.text
    assert "script-src 'sha256-" in whole.headers["content-security-policy"]
    assert ada.get(f"{run}/main/plan.json").status == 200
    with chromium(served.url) as browser:
        page = browser.person()
        page.goto(f"{served.url}{run}/report")
        page.locator(".burst canvas").wait_for()
        assert page.locator(".uplot").count() > 0
        browser.look(page, "whole-report")


def test_what_is_folded_away_comes_when_it_is_opened(served: Served, looks: PretendLooks) -> None:
    """Tables, charts, and the picture as soon as that is there; what somebody types stays."""
    looks.go.set()
    ada = ready(served, "Ada")
    looks.go.clear()
    served.testbed.go.clear()
    ada.post(f"{HERE}/experiment", set__module__fifo="64 KiB")
    ada.post(f"{HERE}/repair", doing="try", set__module__fifo="48 KiB")
    served.testbed.go.set()
    while len(looks.taken) < len(["run", "experiment"]):
        threading.Event().wait(0.02)
    with chromium(served.url) as browser:
        page = browser.person()
        cookies = [{"name": one.name, "value": str(one.value), "url": served.url} for one in ada.jar]
        page.context.add_cookies(cookies)
        page.goto(f"{served.url}{HERE}")
        experiment, repair = page.locator("#experiments .try"), page.locator("#repair .try")
        assert repair.locator(".uplot").count() > 0
        assert experiment.locator("table, .plots").count() == 0
        page.evaluate("window.isTheSame = true")
        experiment.get_by_text("Measurements").click()
        experiment.locator(".uplot").first.wait_for()
        experiment.get_by_text("the network runs once more for it").wait_for()
        looks.go.set()
        for one in (experiment, repair):
            one.locator(".burst canvas").wait_for()
        assert page.evaluate("window.isTheSame")
        browser.look(page, "exercise-folded")


def test_an_exercise_has_its_picture_and_a_hidden_fault_none(served: Served, looks: PretendLooks) -> None:
    """Those who may see the run may see it, and nobody else."""
    looks.go.set()
    ada, eve = ready(served, "Ada"), served.student("Eve")
    assert "burst-tools" in ada.get(HERE).text
    [one] = [
        row["id"] for row in served.room.database.rows("SELECT id FROM run WHERE spec LIKE '%pictures%'")
    ]
    assert ada.get(f"/runs/{one}").url.endswith(HERE)
    assert eve.get(f"/runs/{one}").status == 403
    assert eve.get(f"/runs/events?run={one}").status == 403
