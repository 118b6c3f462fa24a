"""What commands that look at frames share: a recorder at work, and how large a record may be."""

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import Annotated, Final

import typer

from wirelab.errors import InputError
from wirelab.lab.cache import Cache
from wirelab.lab.machine import Progress
from wirelab.lab.scratch import scratch_folder
from wirelab.lab.select import Lab
from wirelab.report.text import warn
from wirelab.runner.kept_record import KeptRecord
from wirelab.runner.measurement_cache import MeasurementCache
from wirelab.runner.recorded import Recorder
from wirelab.runner.trial import LabTestbed
from wirelab.units import SIZE, UnitError, parse

MOST_BYTES: Final = 4_000_000_000
DEFAULT_LIMIT: Final = "1 GB"
WINDOW_HELP: Final = "`12.9s..13.1s`, `first module.line.drops +-2ms` or `all`."
_LEAST_BYTES: Final = 1_000_000

_LIMIT_HELP: Final = "The most that the record may have, such as `500 MB`."
Limit = Annotated[str, typer.Option("--limit", metavar="SIZE", help=_LIMIT_HELP)]
RecordLimit = Annotated[
    str | None, typer.Option("--limit", metavar="SIZE", help=f"{_LIMIT_HELP} [default: {DEFAULT_LIMIT}]")
]
"""The same where there may be no record."""


def limit_bytes(text: str) -> int:
    """The size of ``--limit``. Raises InputError for none, and for one that no record may have."""
    try:
        size_bytes = parse(text.strip(), SIZE)
    except UnitError as error:
        raise InputError(f"--limit {text}: {error}") from error
    if not _LEAST_BYTES <= size_bytes <= MOST_BYTES:
        raise InputError(
            f"--limit {text}: a record has 1 MB to 4 GB, for all of it is in memory when it is read",
            hint="choose a window of it: --record 12.9s..13.1s",
        )
    return size_bytes


@contextlib.contextmanager
def recorder(
    lab: Lab, cpu: int, limit: int, on_progress: Callable[[Progress], None], kept: KeptRecord | None = None
) -> Iterator[Recorder]:
    """A recorder in a folder that is gone with the context."""
    with scratch_folder() as folder:
        measurements = MeasurementCache.of(Cache.at(os.environ).root, lab, warn)
        yield Recorder(LabTestbed(lab), measurements, folder, cpu, limit, on_progress, kept)
