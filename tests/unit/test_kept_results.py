"""A result is made once: it is found again as long as nothing that decides it has changed."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pytest
from recorded import recording
from test_run import LOSSY, Listener, Playback, trial

from wirelab.errors import LabError
from wirelab.report.html import html_report
from wirelab.runner.entries import Entries
from wirelab.runner.job import Job
from wirelab.runner.kept_results import KeptResults
from wirelab.runner.matrix import Matrix
from wirelab.runner.measurement_cache import MeasurementCache
from wirelab.runner.store import Store
from wirelab.runner.trial import Runner
from wirelab.verdict.verdict import Verdict

if TYPE_CHECKING:
    from pathlib import Path

    from wirelab.runner.job import FinishedJob
    from wirelab.runner.run_result import RunResult

_CONTROL = trial("aquantia", LOSSY.name)
# What two variants differ in is physical: else they would be measured once.
CONTROL = replace(_CONTROL, plan=replace(_CONTROL.plan, seed=2))
JOB = Job("sfp-mismatch", 1, (trial(), CONTROL), story="A switch does not know.")


@dataclass
class House:
    """Runs jobs with what is kept in one folder, and counts what had to be made."""

    folder: Path
    code_id: str = "code"
    recordings: dict[str, object] = field(
        default_factory=lambda: {"main": recording(), "aquantia": recording(dropped=0)}
    )
    warnings: list[str] = field(default_factory=list)
    measured: list[str] = field(default_factory=list)
    drawn: int = 0

    def run(self, *jobs: Job) -> list[FinishedJob]:
        """Run them, in the same way each time."""
        testbed = Playback(self.recordings)  # type: ignore[arg-type]
        measurements = MeasurementCache(Entries(self.folder / "runs", self.warnings.append), "lab")
        matrix = Matrix(
            Runner(testbed, measurements),
            Store(self.folder / "results"),
            (0, 1),
            Listener(),
            self._page,
            kept=KeptResults(measurements, self.code_id),
        )
        self.drawn = 0
        finished = matrix.run(jobs)
        self.measured = sorted(testbed.cpus)
        return finished

    def entries(self) -> list[Path]:
        """The kept results: what is there beside the raw files of two variants."""
        return [path for path in (self.folder / "runs").iterdir() if path.read_bytes()[65:66] == b"{"]

    def _page(self, run: RunResult) -> str:
        self.drawn += 1
        return html_report(run)


@pytest.fixture
def house(tmp_path: Path) -> House:
    """One where the job was run once."""
    house = House(tmp_path)
    (finished,) = house.run(JOB)
    assert (house.measured, house.drawn, finished.run.cached) == (["aquantia", "main"], 1, False)
    return house


def files_of(finished: FinishedJob) -> dict[str, bytes]:
    """All files of a result but result.json."""
    folder = finished.folder
    assert folder is not None
    files = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    return {name: content for name, content in files.items() if name != "result.json"}


def told_by(finished: FinishedJob) -> dict[str, object]:
    """What its result.json tells, but how long it took and whether it was measured before."""
    assert finished.folder is not None
    told = json.loads((finished.folder / "result.json").read_text(encoding="utf-8"))
    for variant in told["variants"]:
        variant.pop("cached")
    return {name: value for name, value in told.items() if name != "wall_s"}


def test_what_is_kept_is_neither_measured_nor_judged_nor_drawn(house: House, tmp_path: Path) -> None:
    """Its folder has the same bytes as one where all was made, and the run says that it is cached."""
    (first,) = House(tmp_path / "elsewhere").run(JOB)
    (again,) = house.run(JOB)
    assert (house.measured, house.drawn) == ([], 0)
    assert again.run.cached
    assert files_of(again) == files_of(first)
    assert told_by(again) == told_by(first)
    assert again.folder is not None
    assert (tmp_path / "results" / "latest" / "sfp-mismatch").resolve() == again.folder


def test_a_changed_expectation_is_judged_on_what_was_measured(house: House) -> None:
    """So is a changed word of the story; the lab is not asked."""
    strict = replace(LOSSY, high=LOSSY.low)
    for changed in (
        replace(JOB, trials=(trial(expectation=strict), JOB.trials[1])),
        replace(JOB, story="Another story."),
    ):
        (finished,) = house.run(changed)
        assert (house.measured, house.drawn) == ([], 1)
        assert finished.run.story == changed.story
    assert house.run(replace(JOB, trials=(trial(expectation=strict),)))[0].run.verdict is Verdict.FAIL


def test_other_code_judges_anew(house: House) -> None:
    """Whatever was changed in it."""
    house.code_id = "other code"
    house.run(JOB)
    assert (house.measured, house.drawn) == ([], 1)


def test_raw_files_that_are_gone_are_measured_again(house: House) -> None:
    """A result without its proof is none; nothing of the attempt is left."""
    for path in (house.folder / "runs").iterdir():
        if path not in house.entries():
            path.unlink()
    (finished,) = house.run(JOB)
    assert house.measured == ["aquantia", "main"]
    assert not finished.run.cached
    assert not list((house.folder / "results").glob(".partial-*"))


@pytest.mark.parametrize(
    "content",
    [b"{}\0page", b"\xff\0page", b'{"schema": 1}', b"", "other variants"],
    ids=["nothing in it", "no text", "half of it", "empty", "other variants"],
)
def test_what_is_damaged_is_named_and_made_anew(house: House, content: bytes | str) -> None:
    """Even where its checksum is right."""
    (entry,) = house.entries()
    if isinstance(content, str):
        document, page = entry.read_bytes()[65:].split(b"\0")
        content = document.replace(b'"aquantia"', b'"another"') + b"\0" + page
    entry.write_bytes(hashlib.sha256(content).hexdigest().encode() + b"\n" + content)
    (finished,) = house.run(JOB)
    assert (house.measured, house.drawn, finished.run.verdict) == ([], 1, Verdict.PASS)
    (warning,) = house.warnings
    assert warning.startswith(f"{entry} is damaged (")
    assert house.run(JOB)[0].run.cached
    assert house.drawn == 0


def test_a_broken_lab_is_tried_again(tmp_path: Path) -> None:
    """The next one may not break."""
    house = House(tmp_path)
    house.recordings["aquantia"] = LabError("no carrier")
    assert house.run(JOB)[0].run.verdict is Verdict.ERROR
    house.recordings["aquantia"] = recording(dropped=0)
    assert house.run(JOB)[0].run.verdict is Verdict.PASS
    assert house.measured == ["aquantia"]


def test_others_are_measured_beside_it(house: House) -> None:
    """In the order in which they were asked for."""
    more = trial("more")
    other = replace(JOB, scenario="other", trials=(replace(more, plan=replace(more.plan, seed=3)),))
    house.recordings["more"] = recording(dropped=120)
    finished = house.run(other, JOB)
    assert [one.run.scenario for one in finished] == ["other", "sfp-mismatch"]
    assert [one.run.cached for one in finished] == [False, True]
    assert house.measured == ["more"]
