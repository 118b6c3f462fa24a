"""Pictures of runs: where something was dropped or paused, a run goes once more, with a recorder."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from wirelab.lab.machine import Progress
from wirelab.report.closer import CloserLook, worth_a_look
from wirelab.report.html import Burst
from wirelab.report.picture import Picture
from wirelab.runner.measurement_cache import MeasurementCache
from wirelab.runner.run_result import RunResult
from wirelab.runner.trial import LabTestbed
from wirelab.serve.carrier import Task
from wirelab.serve.runs import Spec
from wirelab.serve.templates import filled_in

KIND: Final = "pictures"


def pictures_spec(spec: Spec) -> dict[str, Any]:
    """What is asked of the queue for the pictures of what was asked for."""
    return {"kind": KIND, "of": dict(spec)}


def pictures_task(planners: Mapping[str, Callable[[Spec], Task]], spec: Spec) -> Task:
    """The planner of pictures: the same job, from what was measured before."""
    of = spec["of"]
    return replace(planners[of["kind"]](of), has_report=False, has_pictures=False, draws=drawn)


def drawn(pictures: list[Picture]) -> str:
    """Pictures as a piece of a page."""
    return filled_in("pictures.html.j2", bursts=[Burst.of(picture) for picture in pictures])


@dataclass(frozen=True, slots=True)
class Looker:
    """Looks closer at runs, in the labs of a testbed; what it sees is kept beside the measurements."""

    testbed: LabTestbed
    measurements: MeasurementCache

    def is_worth_it(self, run: RunResult) -> bool:
        """Whether there is anything to be seen."""
        return bool(worth_a_look(run))

    def pictures(self, run: RunResult, cpu: int, on_progress: Callable[[Progress], None]) -> list[Picture]:
        """The pictures of a run, with its evidence at hand. Raises LabError."""
        look = CloserLook(self.measurements)
        return look.pictures(run, self.testbed, self.measurements, cpu, on_progress)
