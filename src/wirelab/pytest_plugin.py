"""Scenarios as tests, where somebody asks for them: each variant and control is a test.

The ini option ``wirelab_scenarios`` holds patterns of files, relative to the rootdir. Without it a file
is collected that is named on the command line, or lies in a folder that is, and says that it is a
scenario: by ``topology:`` and another key of one. Any other YAML is left alone.

A failure's text is the sentence that explains it, not a traceback. With xdist each worker has a CPU for
itself.
"""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wirelab.model.cases import Case
    from wirelab.model.experiment import Experiment

# Loaded by every pytest of an environment that has wirelab: nothing heavier than this is imported before
# there is a scenario.

_INI = "wirelab_scenarios"
_NAMED = "wirelab_named"
_SEED = "--wirelab-seed"
_DEFAULT_SEED = 1
_SUFFIXES = (".yaml", ".yml")
_WORKER = "PYTEST_XDIST_WORKER"
# Read off the text: a scenario with a mistake in it is one, too.
_KEYS = re.compile(rb"^(topology|traffic|expect|variants|controls)[ \t]*:", re.MULTILINE)
_LISTED_PATHS = pytest.StashKey[frozenset[Path]]()
_NAMED_PATHS = pytest.StashKey[frozenset[Path]]()


class ScenarioFailed(Exception):  # noqa: N818 - it is what pytest calls the outcome
    """A variant does not hold, or its lab broke: the message says how."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Which files are scenarios, and options for those who choose their lab."""
    parser.addini(_INI, "files that are scenarios: patterns relative to the rootdir", "args", [])
    group = parser.getgroup("wirelab", "scenarios of wirelab")
    group.addoption(_SEED, type=int, default=_DEFAULT_SEED, help="seed of the labs")
    group.addoption("--wirelab-no-cache", action="store_true", help="measure again what was measured before")
    group.addoption("--wirelab-kernel", type=Path, default=None, help="another lab kernel")
    group.addoption("--wirelab-root", type=Path, default=None, help="another root image")


def pytest_configure(config: pytest.Config) -> None:
    """Note what is asked for. Raises UsageError for a pattern that is not relative, or no seed."""
    if (seed := config.getoption(_SEED)) != _DEFAULT_SEED:
        from wirelab.runner.job import SEED_MAX  # noqa: PLC0415 - see above

        if not 0 <= seed <= SEED_MAX:
            raise pytest.UsageError(f"{_SEED} {seed}: expected 0 to {SEED_MAX}")
    listed: set[Path] = set()
    for pattern in config.getini(_INI):
        try:
            listed.update(config.rootpath.glob(pattern))
        except (NotImplementedError, ValueError) as error:
            raise pytest.UsageError(f"{_INI}: `{pattern}`: {error}") from None
    config.stash[_LISTED_PATHS] = frozenset(listed)
    # A worker of xdist is given arguments where the user gave none.
    named = config.workerinput[_NAMED] if hasattr(config, "workerinput") else _named(config)
    config.stash[_NAMED_PATHS] = frozenset(map(Path, named))


def _named(config: pytest.Config) -> list[str]:
    """The files and folders on the command line. Before pytest 7.2 nobody knows whether they stood there."""
    if getattr(getattr(config, "args_source", None), "name", "") != "ARGS":
        return []
    return [os.path.abspath(config.invocation_params.dir / arg.partition("::")[0]) for arg in config.args]  # noqa: PTH100 - a link keeps the name it was given


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:  # noqa: ANN401 - xdist's
    """Tell a worker of xdist what was named."""
    node.workerinput[_NAMED] = list(map(str, node.config.stash[_NAMED_PATHS]))


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> ScenarioFile | None:
    """A YAML file that somebody asked for."""
    if file_path.suffix not in _SUFFIXES:
        return None
    named = not parent.config.stash[_NAMED_PATHS].isdisjoint((file_path, file_path.parent))
    if file_path not in parent.config.stash[_LISTED_PATHS] and not (named and _is_scenario(file_path)):
        return None
    scenario: ScenarioFile = ScenarioFile.from_parent(parent, path=file_path)
    return scenario


def _is_scenario(path: Path) -> bool:
    try:
        keys = set(_KEYS.findall(path.read_bytes()))
    except OSError:
        return False
    return b"topology" in keys and len(keys) > 1


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
        from wirelab.lab.first_use import select_or_take  # noqa: PLC0415 - see above
        from wirelab.lab.scratch import scratch_folder  # noqa: PLC0415 - see above
        from wirelab.plan.build import build_plan  # noqa: PLC0415 - see above
        from wirelab.report.text import warn  # noqa: PLC0415 - see above
        from wirelab.runner.store import Store  # noqa: PLC0415 - see above
        from wirelab.runner.trial import Runner, Trial  # noqa: PLC0415 - see above
        from wirelab.verdict.verdict import Verdict, worst  # noqa: PLC0415 - see above

        try:
            option = self.config.getoption
            plan = build_plan(self._experiment, self._case, option(_SEED))
            lab = select_or_take(option("--wirelab-kernel"), option("--wirelab-root"), say=warn)
            runner = Runner.of(lab, warn, use_cache=not option("--wirelab-no-cache"))
            trial = Trial(plan, self._case.expectations, self._case.breaks)
            with (
                lab.in_use(),
                scratch_folder() as folder,
                Store(folder).begin(plan.scenario, datetime.now(UTC)) as draft,
            ):
                variant = runner.run(trial, draft, cpu=_cpu(), on_progress=lambda _: None)
        except SkipError as error:
            pytest.skip(str(error))
        except WirelabError as error:
            raise ScenarioFailed(f"{error}\nhint: {error.hint}" if error.hint else str(error)) from None
        told = worst(check.verdict for check in variant.checks)
        if told is Verdict.SKIP:
            pytest.skip("; ".join(check.explanation or check.name for check in variant.checks))
        bad = [
            f"{check.verdict} {check.name}: {check.explanation or check.measured}"
            + (f"\n  {check.why}" if check.why else "")
            for check in variant.checks
            if check.verdict in (Verdict.FAIL, Verdict.ERROR)
        ]
        if bad:
            raise ScenarioFailed("\n".join(bad))

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
