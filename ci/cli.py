"""`wirelab` as CI jobs start it, with what they were asked for."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any, Final

from wirelab.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import FrameType

    from ci.asked import Asked

RESULTS: Final = "results.json"
JUNIT: Final = "junit.xml"
MARKDOWN: Final = "summary.md"

# Without -P, a module that lies in the folder of a stranger's scenarios would be run instead.
_WIRELAB: Final = (sys.executable, "-P", "-m", "wirelab")


def call(asked: Asked, *argv: str) -> int:
    """Run a command of wirelab's, its output for everybody to see. Returns its exit code."""
    sys.stdout.flush()
    with subprocess.Popen(
        [*_WIRELAB, *argv], cwd=asked.folder, env=asked.environ, stdin=subprocess.DEVNULL
    ) as process:
        before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

        def pass_on(number: int, _frame: FrameType | None) -> None:
            # Ctrl-C it has heard itself. What ends only this process must not leave it behind.
            if number == signal.SIGTERM:
                process.send_signal(number)

        for number in before:
            signal.signal(number, pass_on)
        try:
            return process.wait()
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def answer(asked: Asked, *argv: str) -> Any:  # noqa: ANN401 - whatever the command prints
    """What a command of wirelab's prints as JSON. Exits as the command does if it does not succeed."""
    done = subprocess.run(
        [*_WIRELAB, *argv],
        cwd=asked.folder,
        env=asked.environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        check=False,
    )
    if done.returncode != 0:
        sys.exit(done.returncode)
    return json.loads(done.stdout)


def catalogue(asked: Asked) -> list[dict[str, Any]]:
    """The scenarios that are asked for, as `wirelab list --json` has them."""
    scenarios: list[dict[str, Any]] = answer(asked, "list", "--json", "--", *asked.scenarios)
    return scenarios


def shards(asked: Asked, count: int) -> list[dict[str, Any]]:
    """The scenarios that are asked for, dealt out to at most ``count`` machines.

    The same on every machine: by what they are planned to be and not by what was measured here.
    """
    nowhere = f"--out={asked.folder / '.no-results'}"
    dealt: list[dict[str, Any]] = answer(asked, "list", f"--shards={count}", nowhere, "--", *asked.scenarios)
    return dealt


def chosen(asked: Asked) -> Sequence[str] | None:
    """The names to run here, empty for all; None if other machines run all there is."""
    if asked.shard is None:
        return asked.scenarios
    number, of = asked.shard
    return next((shard["names"] for shard in shards(asked, of) if shard["shard"] == number), None)


def reports(asked: Asked) -> Iterator[str]:
    """The options that have the reports written to the folder of results."""
    yield f"--junit={asked.out / JUNIT}"
    yield f"--json-file={asked.out / RESULTS}"
    yield f"--markdown={asked.out / MARKDOWN}"


def begin(asked: Asked) -> None:
    """Remove the reports of an earlier run: whoever reads them would take them for this one's.

    Raises InputError if the folder cannot be one of results.
    """
    try:
        asked.out.mkdir(parents=True, exist_ok=True)
        for name in (JUNIT, RESULTS, MARKDOWN):
            (asked.out / name).unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"OUT={asked.out}: {error.strerror}", hint="name a folder that is yours") from error
