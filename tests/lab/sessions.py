"""A lab at a prompt, for a test."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from wirelab.model.experiment import load
from wirelab.model.yamlfile import read
from wirelab.shell.around import ALONE, Around
from wirelab.shell.session import Picture, Session

if TYPE_CHECKING:
    from wirelab.lab.select import Lab

SCENARIO = Path(__file__).parents[2] / "scenarios" / "sfp-mismatch.yaml"


def told(session: Session, *lines: str) -> str:
    """All that comes of lines."""
    parts = [part for line in lines for part in session.tell(line)]
    return "".join("\n".join(part.lines) if isinstance(part, Picture) else part for part in parts)


def switched_on(lab: Lab, around: Around = ALONE, *, file: Path = SCENARIO) -> Session:
    """A session with the first case of a scenario, to be entered."""
    experiment = load(str(file), Path.cwd())
    [case, *_] = experiment.cases
    cpu = min(os.sched_getaffinity(0))
    written = read(file).tree
    return Session(lab, experiment, case, seed=1, cpu=cpu, written=written, around=around)
