"""A scenario as text, carried out in the lab and judged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wirelab.model.catalogue import beside
from wirelab.model.experiment import load_file
from wirelab.plan.build import build_plan
from wirelab.results.result import read_result
from wirelab.verdict.checks import check_all
from wirelab.verdict.verdict import Verdict

if TYPE_CHECKING:
    from tests.lab.rig import Rig
    from wirelab.plan.types import Plan
    from wirelab.results.result import Result

HEAD = "name: road\nsource: {title: a test}\n"


def carried_out(rig: Rig, text: str) -> tuple[Plan, Result]:
    """The first variant of a scenario, carried out and judged: its checks must all pass.

    Topologies may lie in a folder beside it.
    """
    path = rig.folder / "road.yaml"
    path.write_text(HEAD + text, encoding="utf-8")
    loaded = load_file(path, beside(path))
    plan = build_plan(loaded, loaded.cases[0], 1)
    result = read_result(plan, rig.run(plan))
    checks = check_all(loaded.cases[0].expectations, plan, result)
    bad = [f"{check.name}: {check.explanation}" for check in checks if check.verdict is not Verdict.PASS]
    assert bad == []
    return plan, result
