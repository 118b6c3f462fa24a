"""One step of a CI job: `python -m ci.job STEP`, told more by its environment. `ci.mk` has them all."""

from __future__ import annotations

import json
import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from ci import cli, lab
from ci.asked import Asked, Do, verdict_of
from ci.github import Runner, annotated
from wirelab.cli.errors import exit_code_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

Step: TypeAlias = "Callable[[Asked, Runner], int]"

_LOST: Final = "result"
"""The check that stands in the place of a result that never came."""


def check(asked: Asked, runner: Runner) -> int:
    """Say what is about to be done: bad input is told in seconds, before anything is built."""
    runner.output(results=str(asked.out))
    if asked.do is not Do.LAB:
        names = [scenario["name"] for scenario in cli.catalogue(asked)]
        print(f"{asked.do}: {len(names)} scenarios: {' '.join(names)}")
    return 0


def shards(asked: Asked, runner: Runner) -> int:
    """Print the job matrix: which machine runs which scenarios."""
    matrix = [
        {"shard": shard["shard"], "of": shard["of"], "scenarios": shlex.join(shard["names"])}
        for shard in cli.shards(asked, asked.shards)
    ]
    print(json.dumps(matrix, indent=1))
    runner.output(matrix=json.dumps(matrix))
    return 0


def run(asked: Asked, runner: Runner) -> int:
    """Run and judge scenarios, leave the results and the reports on them in the folder of results."""
    names = cli.chosen(asked)
    if names is None:
        print("nothing to do: there are fewer scenarios than machines")
        return 0
    cli.begin(asked)
    # A verdict on this kernel and these sources must not come from what others have measured.
    argv = ["run", "--no-cache", f"--out={asked.out}", *cli.reports(asked)]
    argv += [f"--seeds={asked.seeds}"] if asked.seeds else []
    argv += [f"--jobs={asked.jobs}"] if asked.jobs else []
    code = cli.call(asked, *argv, "--", *names)
    return _judged(asked, runner, code, _documents(asked))


def summary(asked: Asked, runner: Runner) -> int:
    """One verdict on what all machines have found; a scenario that none has a result of is an error."""
    required = sorted({scenario["name"] for scenario in cli.catalogue(asked)})
    cli.begin(asked)
    # A machine that died has left nothing, not even the folder.
    asked.collected.mkdir(parents=True, exist_ok=True)
    argv = ["summary", f"--require={','.join(required)}", *cli.reports(asked)]
    argv += [f"--seeds={asked.seeds}"] if asked.seeds else []
    code = cli.call(asked, *argv, "--", str(asked.collected))
    # What does not hold stands where it ran; only of what never came nobody has said anything yet.
    lost = [document for document in _documents(asked) if _is_lost(document)]
    return _judged(asked, runner, code, lost)


def _documents(asked: Asked) -> list[dict[str, Any]]:
    """The results that are in the reports, none if there are no reports."""
    path = asked.out / cli.RESULTS
    if not path.is_file():
        return []
    documents: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return documents


def _is_lost(document: Mapping[str, Any]) -> bool:
    return [check["name"] for variant in document["variants"] for check in variant["checks"]] == [_LOST]


def _judged(asked: Asked, runner: Runner, code: int, told: Sequence[Mapping[str, Any]]) -> int:
    """Say what came of it, and annotate ``told``. Returns the job's exit code."""
    verdict = verdict_of(code)
    runner.show(asked.out / cli.MARKDOWN)
    runner.tell(annotated(told, _files(asked, runner) if told else {}))
    runner.output(verdict=verdict or "", exit_code=str(code))
    ended = asked.exit_code(code)
    if ended != code:
        print(f"{verdict}: put up with, FAIL_ON={asked.fail_on}")
    return ended


def _files(asked: Asked, runner: Runner) -> dict[str, str]:
    """The file of each scenario, relative to the repository; without those that are not in it."""
    home = Path(runner.environ.get("GITHUB_WORKSPACE") or asked.folder).resolve()
    tool = Path(__file__).resolve().parents[1]
    files: dict[str, str] = {}
    for scenario in cli.catalogue(asked):
        path = (asked.folder / scenario["file"]).resolve()
        if path.is_relative_to(home) and (tool == home or not path.is_relative_to(tool)):
            files[scenario["name"]] = str(path.relative_to(home))
    return files


STEPS: Final[Mapping[str, Step]] = {
    "check": check,
    "shards": shards,
    "lab-key": lab.key,
    "lab": lab.provide,
    "run": run,
    "summary": summary,
}


def main(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Do the step of that name. Returns the exit code."""
    runner = Runner(environ)
    with runner.deaf():
        return exit_code_of(lambda: STEPS[argv[0]](Asked.of(environ), runner))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
