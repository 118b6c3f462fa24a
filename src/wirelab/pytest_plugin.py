"""Scenarios as tests: ``pytest scenarios/`` runs every YAML file there, each variant and control a test.

A failure's text is the sentence that explains it, not a traceback. With xdist each worker has a CPU for
itself.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wirelab.model.cases import Case
    from wirelab.model.experiment import Experiment
    from wirelab.runner.record import VariantRecord

# Loaded by every pytest of an environment that has wirelab: nothing heavier than this is imported before
# there is a scenario.

_FOLDER = "scenarios"
_SUFFIXES = (".yaml", ".yml")
_WORKER = "PYTEST_XDIST_WORKER"


class ScenarioFailed(Exception):  # noqa: N818 - it is what pytest calls the outcome
    """A variant does not hold, or its lab broke: the message says how."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options for those who choose their lab."""
    group = parser.getgroup("wirelab", "scenarios of wirelab")
    group.addoption("--wirelab-seed", type=int, default=1, help="seed of the labs")
    group.addoption("--wirelab-no-cache", action="store_true", help="measure again what was measured before")
    group.addoption("--wirelab-kernel", type=Path, default=None, help="another lab kernel")
    group.addoption("--wirelab-root", type=Path, default=None, help="another root image")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> ScenarioFile | None:
    """A YAML file in a folder called ``scenarios``."""
    if file_path.suffix in _SUFFIXES and file_path.parent.name == _FOLDER:
        found: ScenarioFile = ScenarioFile.from_parent(parent, path=file_path)
        return found
    return None


class ScenarioFile(pytest.File):
    """A scenario."""

    def collect(self) -> Iterator[pytest.Item]:
        """A test for each variant and each control."""
        from wirelab.errors import InputError  # noqa: PLC0415 - see above
        from wirelab.model.catalogue import beside  # noqa: PLC0415 - see above
        from wirelab.model.experiment import load_file  # noqa: PLC0415 - see above

        try:
            experiment = load_file(self.path, beside(self.path))
        except InputError as error:
            raise self.CollectError("\n".join(map(str, error.problems))) from None
        for case in experiment.cases:
            name = f"control {case.name}" if case.is_control else case.name
            yield ScenarioItem.from_parent(self, name=name, experiment=experiment, case=case)


class ScenarioItem(pytest.Item):
    """One variant or control."""

    def __init__(self, *, experiment: Experiment, case: Case, **kwargs: Any) -> None:  # noqa: ANN401 - pytest's
        super().__init__(**kwargs)
        self._experiment = experiment
        self._case = case

    def runtest(self) -> None:
        """Carry it out and judge it."""
        from wirelab.errors import SkipError, WirelabError  # noqa: PLC0415 - see above
        from wirelab.verdict.verdict import Verdict  # noqa: PLC0415 - see above

        try:
            record = self._record()
        except SkipError as error:
            pytest.skip(str(error))
        except WirelabError as error:
            raise ScenarioFailed(f"{error}\nhint: {error.hint}" if error.hint else str(error)) from None
        bad = [
            f"{check.verdict} {check.name}: {check.explanation or check.measured}"
            + (f"\n  {check.why}" if check.why else "")
            for check in record.checks
            if check.verdict in (Verdict.FAIL, Verdict.ERROR)
        ]
        if bad:
            raise ScenarioFailed("\n".join(bad))

    def _record(self) -> VariantRecord:
        from datetime import UTC, datetime  # noqa: PLC0415 - see above

        from wirelab.lab.cache import Cache  # noqa: PLC0415 - see above
        from wirelab.lab.scratch import scratch_folder  # noqa: PLC0415 - see above
        from wirelab.lab.select import select  # noqa: PLC0415 - see above
        from wirelab.plan.build import build_plan  # noqa: PLC0415 - see above
        from wirelab.runner.measurement_cache import Recall  # noqa: PLC0415 - see above
        from wirelab.runner.store import Store  # noqa: PLC0415 - see above
        from wirelab.runner.testbed import LabBench  # noqa: PLC0415 - see above
        from wirelab.runner.trial import Runner, Trial  # noqa: PLC0415 - see above

        option = self.config.getoption
        plan = build_plan(self._experiment, self._case, option("--wirelab-seed"))
        lab = select(option("--wirelab-kernel"), option("--wirelab-root"))
        recall = None
        if not option("--wirelab-no-cache"):
            recall = Recall.of(Cache.at(os.environ).root, lab, self._warn)
        trial = Trial(plan, self._case.expectations, self._case.breaks)
        with (
            lab.in_use(),
            scratch_folder() as folder,
            Store(folder).begin(plan.scenario, datetime.now(UTC)) as draft,
        ):
            return Runner(LabBench(lab), recall).run(trial, draft, cpu=_cpu(), on_progress=lambda _: None)

    def _warn(self, message: str) -> None:
        print(f"warning: {message}", file=sys.stderr)  # noqa: T201 - pytest keeps it with the test

    def repr_failure(  # type: ignore[override]
        self,
        excinfo: pytest.ExceptionInfo[BaseException],
        style: Any = None,  # noqa: ANN401 - pytest's
    ) -> object:
        """The explanation."""
        if isinstance(excinfo.value, ScenarioFailed):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """The file, and the name as pytest shows it."""
        return self.path, None, f"{self._experiment.scenario.name}: {self.name}"


def _cpu() -> int:
    """A CPU for each worker of xdist: two labs on one CPU only wait for each other."""
    cpus = sorted(os.sched_getaffinity(0))
    worker = os.environ.get(_WORKER, "gw0").removeprefix("gw")
    return cpus[int(worker) % len(cpus)]
