"""The way in for Python: scenarios are run and swept over, and what was measured is looked at.

What is one thing is a frozen record in base units, with the names that it has in ``result.json``. What is a
table is one of pandas, which comes with ``wirelab[notebook]`` and is imported when a table is asked for.
"""

from wirelab.api.flow import Flow
from wirelab.api.run import Run, run
from wirelab.api.sweep import sweep
from wirelab.errors import InputError, LabError, WirelabError
from wirelab.verdict.verdict import Verdict

__all__ = ["Flow", "InputError", "LabError", "Run", "Verdict", "WirelabError", "run", "sweep"]
