"""``wirelab.run``: a scenario, run once, and what was measured."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeVar

from wirelab.api.bench import Bench, checked_seed, checked_settings, chosen
from wirelab.api.flow import Flow
from wirelab.api.frames import frame_table, window_at
from wirelab.api.tables import pandas, sample_frame
from wirelab.errors import InputError, unknown
from wirelab.model.cases import varied
from wirelab.plan.build import build_plan
from wirelab.report.html import run_panel
from wirelab.results.ping import PingResult
from wirelab.results.port import PortResult
from wirelab.results.result import Result
from wirelab.runner.job import DEFAULT_SEED
from wirelab.runner.run_result import VariantResult
from wirelab.runner.trial import Trial
from wirelab.runner.window import port_called
from wirelab.verdict.checks import Check
from wirelab.verdict.verdict import Verdict

if TYPE_CHECKING:  # pandas is an extra, imported when a table is asked for
    import pandas as pd

T = TypeVar("T")

_DIGEST_DIGITS: Final = 12


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Run:
    """What one variant of a scenario measured with one seed. Made by ``wirelab.run``.

    Notebooks show it as a panel of its verdict, flows and checks.
    """

    settings: Mapping[str, str]
    _judged: VariantResult
    _known: Result
    _trial: Trial
    _bench: Bench

    @property
    def scenario(self) -> str:
        """The scenario's name."""
        return self._trial.plan.scenario

    @property
    def variant(self) -> str:
        """The name of the variant or control that was run."""
        return self._judged.name

    @property
    def seed(self) -> int:
        """What the lab's randomness grew from."""
        return self._trial.plan.seed

    @property
    def verdict(self) -> Verdict:
        """Whether all that the scenario expects of it holds: pass, fail, or error if a law broke."""
        return self._judged.verdict

    @property
    def digest(self) -> str:
        """SHA-256 over all that was measured in virtual time: the same for the same plan, on any machine."""
        return self._known.digest

    @property
    def cached(self) -> bool:
        """Whether it had been measured before."""
        return self._judged.cached

    @property
    def virtual_s(self) -> float:
        """How long the network ran, in virtual time."""
        return self._judged.virtual_s

    @property
    def checks(self) -> tuple[Check, ...]:
        """What was judged: what was expected, what was measured, and the sentence that proves it."""
        return self._judged.checks

    @property
    def flows(self) -> Mapping[str, Flow]:
        """All flows, by the names that the scenario gives them."""
        return MappingProxyType({flow.name: Flow.of(flow) for flow in self._judged.flows})

    @property
    def pings(self) -> Mapping[str, PingResult]:
        """All pings, by the names that the scenario gives them."""
        return MappingProxyType({ping.name: ping for ping in self._judged.pings})

    @property
    def ports(self) -> Mapping[str, PortResult]:
        """All ports, such as `module.line`, with their counters over the whole run."""
        return MappingProxyType(self._judged.ports)

    def flow(self, name: str) -> Flow:
        """What a flow achieved. Raises InputError, with the nearest right word, where there is none."""
        return _named("flow", name, self.flows)

    def ping(self, name: str) -> PingResult:
        """What became of a ping. Raises InputError, with the nearest right word, where there is none."""
        return _named("ping", name, self.pings)

    def port(self, label: str) -> PortResult:
        """What a port counted. Raises InputError, with the nearest right word, where there is none."""
        return _named("port", label, self.ports)

    def samples(self) -> "pd.DataFrame":
        """Ports and flows over virtual time: a row for each sample, by seconds since the network was ready.

        Its columns are such as ``module.line.queue_bytes`` and ``download.cwnd_segments``; counters count
        from the beginning. Raises LabError where pandas is not installed.
        """
        return sample_frame(self._trial.plan, self._known.samples)

    def frames(self, port: str | Sequence[str], window: str = "first drop ± 1 ms") -> "pd.DataFrame":
        """The frames that ports send, receive and drop in a window: it is run again, with a recorder.

        ``window`` is ``first drop ± 1 ms`` (of this port, or the first of several),
        ``first module.line.drops ± 1 ms`` (of another), ``12.9 s..13.1 s``, or ``all``. A row for each frame
        at each port, by the time at which its last bit has left or come, ``at_ns`` after the network was
        ready, with its length and headers as they are there. ``frame`` is its number: in one table it is the
        same at every port, in another it is not.

        Raises InputError for a port or a window that does not exist, or in which too much happens; LabError
        if the lab has changed since, so that it is another run, or where pandas is not installed.
        """
        asked = [port] if isinstance(port, str) else _ports(port)
        if not asked:
            raise InputError("no port is named: expected one, such as module.line, or several")
        if not isinstance(window, str):
            raise InputError(f"window {window!r}: expected text such as `first drop ± 1 ms`")
        ports = {port.name: port for port in (port_called(self._trial.plan, label) for label in asked)}
        table = partial(frame_table, ports=ports, ready_ns=self._known.status.ready_ns)
        pandas()
        return self._bench.record(self._trial, self._known, window_at(asked[0], window), table)

    def __repr__(self) -> str:
        with_settings = "".join(f", {key} {value}" for key, value in self.settings.items())
        digest = self.digest[:_DIGEST_DIGITS]
        what = f"{self.scenario}, {self.variant}{with_settings}, seed {self.seed}"
        return f"<Run of {what}: {self.verdict}, digest {digest}>"

    def _repr_html_(self) -> str:
        return run_panel(self.scenario, self.seed, self.settings, self._judged)


def run(  # noqa: PLR0913 - the options of `wirelab run`
    scenario: str | Path,
    settings: Mapping[str, str] | None = None,
    *,
    variant: str | None = None,
    seed: int = DEFAULT_SEED,
    use_cache: bool = True,
    progress: bool = False,
    kernel: str | Path | None = None,
    root: str | Path | None = None,
) -> Run:
    """Run one variant of a scenario, and judge it.

    ``scenario`` is a name or a file, ``variant`` a variant or a control of it, by default the first variant.
    ``settings`` go on top of its ``with``, in the same words and with their units:
    ``{"module.fifo": "32 KiB"}``. What was measured before is recalled unless ``use_cache`` is False; a bar
    on standard error tells how far it is if ``progress``. ``kernel`` and ``root`` are another lab, as for the
    command line.

    A scenario that does not hold is no error: see ``Run.verdict``. Raises InputError for what is wrong in the
    scenario or the settings, with the nearest right word; LabError where the lab is missing or broke.
    """
    experiment, case = chosen(scenario, variant)
    on_top = _checked({} if settings is None else settings)
    case = replace(varied(case, on_top), name=case.name) if on_top else case
    trial = Trial(build_plan(experiment, case, checked_seed(seed)), case.expectations, case.breaks)
    bench = Bench(kernel, root, use_cache, progress)
    judged, known = bench.measure(trial)
    return Run(MappingProxyType(on_top), judged, known, trial, bench)


def _checked(settings: Mapping[str, str]) -> dict[str, str]:
    checked_settings("settings", settings, {"module.fifo": "32 KiB"})
    for key, value in settings.items():
        if not isinstance(value, str):
            raise InputError(f'{key}: expected text such as "32 KiB", with its unit, not {value!r}')
    return dict(settings)


def _ports(named: object) -> list[str]:
    several = list(named) if isinstance(named, Iterable) else [named]
    texts = [one for one in several if isinstance(one, str)]
    if len(texts) < len(several):
        raise InputError(f"port {named!r}: expected one, such as module.line, or several")
    return texts


def _named(what: str, name: str, known: Mapping[str, T]) -> T:
    if name not in known:
        raise InputError(unknown(what, name, known))
    return known[name]
