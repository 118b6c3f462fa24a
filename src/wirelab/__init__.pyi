from wirelab.api import Flow as Flow
from wirelab.api import InputError as InputError
from wirelab.api import LabError as LabError
from wirelab.api import Run as Run
from wirelab.api import Verdict as Verdict
from wirelab.api import WirelabError as WirelabError
from wirelab.api import run as run
from wirelab.api import sweep as sweep

__version__: str
