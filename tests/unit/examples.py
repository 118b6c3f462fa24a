"""What the tests of the models work on: the shipped files, and small scenarios on them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from wirelab.model.catalogue import Catalogue
from wirelab.model.experiment import Experiment, load, load_file
from wirelab.plan.build import build_plan

if TYPE_CHECKING:
    from wirelab.plan.types import Plan

ROOT: Final = Path(__file__).resolve().parents[2]
SHIPPED: Final = Catalogue.of(ROOT)
SCENARIOS: Final = SHIPPED.names("scenarios")

HEAD: Final = """\
name: example
source: {title: a test}
topology: sfp-home
"""
TRAFFIC: Final = """\
traffic:
  - iperf3: {name: download, from: server, to: client, time: 10 s}
"""
EXPECT: Final = """\
expect:
  download: {goodput: 1..2 Gbit/s, retransmits: ..50}
"""


def scenario(
    folder: Path, *, head: str = HEAD, traffic: str = TRAFFIC, expect: str = EXPECT, rest: str = ""
) -> Path:
    """A scenario file in ``folder``, the parts not given being those of a sound small one."""
    path = folder / "example.yaml"
    path.write_text(head + traffic + expect + rest, encoding="utf-8")
    return path


def experiment(folder: Path, *, settings: str = "", traffic: str = TRAFFIC, rest: str = "") -> Experiment:
    """A small scenario with ``settings`` (the inside of ``with: {}``), loaded with the shipped catalogue."""
    path = scenario(folder, head=f"{HEAD}with: {{{settings}}}\n", traffic=traffic, rest=rest)
    return load_file(path, SHIPPED)


@cache
def shipped(name: str) -> Experiment:
    """A shipped scenario: many tests look at it, it is read once."""
    return load(name, ROOT)


@cache
def plans(name: str) -> dict[str, Plan]:
    """The Plans of all its cases."""
    loaded = shipped(name)
    return {case.name: build_plan(loaded, case, 1) for case in loaded.cases}
