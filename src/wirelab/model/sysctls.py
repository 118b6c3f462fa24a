"""The sysctls that every host is given, ``sysctls.yaml``; a scenario may change most of them."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from wirelab.model.types import Model
from wirelab.model.yamlfile import read

_TABLE: Final = Path(__file__).with_suffix(".yaml")


class Sysctl(Model):
    """One of them, and what a scenario may say instead of ``value``: ``fixed`` is why it may not.

    ``kind`` is the quantity of the largest of its figures; ``least`` and ``most`` are its limits, as written.
    ``helps`` is as in the table of settings: where four times as much may help.
    """

    value: str
    kind: str = "count"
    least: str = ""
    most: str = ""
    fixed: str = ""
    helps: Mapping[str, tuple[str, ...]] = {}

    def saying(self, largest: int) -> str:
        """What is written where a scenario says ``largest``: of three windows none is larger."""
        smaller = [int(figure) for figure in self.value.split()[:-1]]
        return " ".join(str(min(figure, largest)) for figure in (*smaller, largest))


@cache
def sysctls() -> Mapping[str, Sysctl]:
    """All of them, by the name that sysctl(8) knows, in the order of the file."""
    return {name: Sysctl.model_validate(entry) for name, entry in read(_TABLE).tree.items()}


def setting_name(sysctl: str) -> str:
    """What a scenario calls it: ``tcp_sack`` for ``net.ipv4.tcp_sack``."""
    return sysctl.rpartition(".")[2]


@cache
def fixed_sysctls() -> Mapping[str, str]:
    """Those that no scenario may set, by a scenario's name for them, and why."""
    return {setting_name(name): sysctl.fixed for name, sysctl in sysctls().items() if sysctl.fixed}
