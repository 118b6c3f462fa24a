"""A class without a lab: the sample exercise, recorded files for its networks, and a diligent student."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from examples import ROOT
from recorded import recording

from wirelab.exercise import steps
from wirelab.exercise.draw import drawn
from wirelab.exercise.network import Networks
from wirelab.exercise.work import Predicted, Work
from wirelab.model.exercise_reader import load_exercise
from wirelab.runner.trial import judge

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from wirelab.exercise.measure import Results
    from wirelab.exercise.network import Setup
    from wirelab.model.assignment import Assignment

NOW = datetime(2026, 11, 24, 9, 30, tzinfo=UTC)
COURSE = "networks-1"
DIGEST = "0" * 64
PREDICTIONS = {"burst": "20 kB", "upload": "2.3 Gbit/s", "download": "1.2 Gbit/s", "retransmits": "2500"}
ANSWERS = {
    "where": "module.line",
    "mechanism": "FIFO",
    "dropped": "159",
    "helps": "2",
    "upload-why": "from a slow line to a fast one nothing waits",
}
REPAIR = {"module": "aqr113c", "module.fifo": "64 KiB"}


def sample() -> Assignment:
    """The exercise that is shipped as an example."""
    return load_exercise("shallow-buffer", ROOT)


def predicted(values: Mapping[str, str] = PREDICTIONS) -> dict[str, Predicted]:
    """Predictions, each with a reason."""
    return {name: Predicted(value, "because") for name, value in values.items()}


def diligent(exercise: Assignment, student: str = "grace") -> Work:
    """A work in which everything is done."""
    work = steps.started(exercise, COURSE, student, NOW)
    work = steps.sealed(exercise, work, predicted(), NOW)
    for run in exercise.said.networks:
        work = steps.ran(exercise, work, "run", run.name, DIGEST, now=NOW + timedelta(minutes=1))
    for name, text in ANSWERS.items():
        work = steps.answered(exercise, work, name, text, NOW + timedelta(minutes=2))
    return steps.repaired(exercise, work, REPAIR, NOW + timedelta(minutes=3))


def measured(exercise: Assignment, setups: Mapping[str, Setup], folder: Path) -> Results:
    """What the networks measure: the module drops frames, but for the one that can say stop."""
    results = {}
    for number, (name, setup) in enumerate(setups.items()):
        trial = setup.trial(exercise, name)
        pauses = ("module", "aqr113c") in setup.settings and (
            "switch.flow_control",
            "off",
        ) not in setup.settings
        raw = recording(trial.plan, dropped=0 if pauses else 159).write(folder / f"{number}")
        results[setup] = judge(trial, raw)
    return results


def needed(exercise: Assignment, work: Work) -> dict[str, Setup]:
    """All that a work is marked by."""
    return Networks(exercise, drawn(exercise, work.course, work.student)).needed(work)
