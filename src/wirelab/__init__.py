"""A network-emulation testbed in virtual time: scenario in, verdict with its proof out."""

import importlib

__version__ = "0.1.0"

# The way in for Python, imported when it is used: the guest reads this file, too, and so does every pytest.
_API = ("Flow", "InputError", "LabError", "Run", "Verdict", "WirelabError", "run", "sweep")


def __getattr__(name: str) -> object:
    """A name of the package ``wirelab.api`` (PEP 562); what it is to type checkers says ``__init__.pyi``."""
    if name in _API:
        return getattr(importlib.import_module("wirelab.api"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """What is there, and what can be asked for."""
    return sorted({*globals(), *_API})
