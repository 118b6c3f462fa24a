"""What became of a job, kept: neither judged nor drawn again while all that decides is the same.

A result is a pure function of the job, the lab and this package's code. All of them are in the name of what
is kept: with another word in a scenario, a part or a source file it is judged and drawn anew.

```
<cache>/runs/<key>   the SHA-256 of the rest, a newline, result.json, a NUL, report.html
```
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from wirelab.runner.code import package_id
from wirelab.runner.job import Job
from wirelab.runner.measurement_cache import MeasurementCache
from wirelab.runner.run_result import RunResult, parse_run
from wirelab.verdict.verdict import Verdict

# Between the two: no JSON has it in it.
_END: Final = b"\0"


@dataclass(frozen=True, slots=True)
class KeptResult:
    """A run, all of whose variants were measured before, and the text of its report."""

    run: RunResult
    page: str


@dataclass(frozen=True, slots=True)
class KeptResults:
    """The results of jobs whose ``measurements`` are kept; may be asked from any thread.

    ``code_id`` tells what judges and draws.
    """

    measurements: MeasurementCache
    code_id: str = field(default_factory=package_id)

    def recall(self, job: Job) -> KeptResult | None:
        """What became of an equal job; None where that is not known. How long it took is not its own."""
        name = self._name(job)
        content = self.measurements.entries.read(name)
        if content is None:
            return None
        document, _, page = content.partition(_END)
        try:
            run, text = parse_run(document), page.decode()
            if [variant.name for variant in run.variants] != [trial.plan.variant for trial in job.trials]:
                raise ValueError("it has other variants")  # noqa: TRY301 - as any other thing that is wrong
        except ValueError as error:
            self.measurements.entries.forget(name, str(error))
            return None
        self.measurements.entries.used(name)
        cached = tuple(replace(variant, cached=True) for variant in run.variants)
        return KeptResult(replace(run, variants=cached), text)

    def keep(self, job: Job, run: RunResult, page: str) -> None:
        """Keep what became of a job, unless its lab broke: the next one may not."""
        if run.verdict is not Verdict.ERROR:
            self.measurements.entries.write(self._name(job), run.to_json().encode() + _END + page.encode())

    def restore(self, job: Job, raw_of: Callable[[str], Path]) -> bool:
        """Put the raw files of each variant where ``raw_of`` says. False: they are not all known any more."""
        plans = [trial.plan for trial in job.trials]
        return all(self.measurements.restore(plan, raw_of(plan.variant)) for plan in plans)

    def _name(self, job: Job) -> str:
        return self.measurements.name(self.code_id, repr(job))
