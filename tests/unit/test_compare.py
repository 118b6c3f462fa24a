"""What is said to have changed between two sides, and what not."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from pages import FEW, JOB, LOSSY
from recorded import plan, recording

from wirelab.report.compare import comparison_page
from wirelab.runner.compare import Comparison, Outcome, compare
from wirelab.runner.past_runs import Kept
from wirelab.runner.trial import Trial, judge

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from wirelab.model.expect import Expectation


def side(
    folder: Path, dropped: Sequence[int], *, expected: Expectation = LOSSY, first_seed: int = 1
) -> list[Kept]:
    """Runs of the recorded network, one a seed, in each of which so many frames are dropped."""
    runs = []
    for seed, count in enumerate(dropped, first_seed):
        home = folder / f"{seed}"
        the_plan = replace(plan(), seed=seed)
        raw = recording(the_plan, dropped=count).write(home / "main" / "raw")
        (home / "main" / "plan.json").write_text(the_plan.to_json())
        job = replace(JOB, seed=seed)
        runs.append(Kept(job.result([judge(Trial(the_plan, (expected,)), raw)], 1.0), home))
    return runs


def names(comparison: Comparison) -> set[str]:
    """The figures of the only variant that are beyond the spread."""
    (variant,) = comparison.variants
    return {f"{change.subject}.{change.metric}" for change in variant.changes if change.is_real}


def test_equal_digests_are_the_same_run(tmp_path: Path) -> None:
    """Nothing changed, and nothing is tested."""
    comparison = compare(side(tmp_path / "a", [159, 140]), side(tmp_path / "b", [159, 140]))
    assert [variant.outcome for variant in comparison.variants] == [Outcome.SAME]
    assert (comparison.is_changed, comparison.tested) == (False, 0)


def test_one_seed_each_can_only_be_unequal(tmp_path: Path) -> None:
    """It may be chaos, or not: that is said, and counts as something that may have changed."""
    comparison = compare(side(tmp_path / "a", [159]), side(tmp_path / "b", [160]))
    (variant,) = comparison.variants
    assert variant.outcome is Outcome.UNDECIDED
    assert all(change.p is None and not change.is_real for change in variant.changes)
    assert comparison.is_changed


def test_what_lies_within_the_spread_has_not_changed(tmp_path: Path) -> None:
    """Other bytes, and no figure that stands out of those of its seeds."""
    comparison = compare(
        side(tmp_path / "a", [150, 160, 170, 180]), side(tmp_path / "b", [155, 165, 175, 157])
    )
    assert [variant.outcome for variant in comparison.variants] == [Outcome.WITHIN]
    assert not comparison.is_changed
    assert comparison.tested > 0


def test_what_lies_beyond_the_spread_has(tmp_path: Path) -> None:
    """Each figure that the drops are seen in, and none other."""
    comparison = compare(
        side(tmp_path / "a", [150, 160, 170, 180]), side(tmp_path / "b", [250, 260, 270, 280])
    )
    assert [variant.outcome for variant in comparison.variants] == [Outcome.CHANGED]
    assert {"download.retransmits", "module.line.drops", "download.goodput"} <= names(comparison)
    assert "module.line.queue_high_water" not in names(comparison)


def test_chance_names_next_to_nothing() -> None:
    """Sides dealt from one distribution: at most one comparison in twenty names a figure, or a few more."""
    from wirelab.runner.compare import FALSE_SHARE  # noqa: PLC0415 - what is held
    from wirelab.verdict.ranks import false_discoveries_held, p_value  # noqa: PLC0415

    dice = random.Random(1)  # noqa: S311 - nothing to hide
    alarms = 0
    for _ in range(200):
        p_values = [
            p_value([dice.gauss(0, 1) for _ in range(5)], [dice.gauss(0, 1) for _ in range(5)])
            for _ in range(30)
        ]
        alarms += false_discoveries_held(p_values, FALSE_SHARE) > 0
    assert alarms <= 200 * FALSE_SHARE * 1.6


def test_another_verdict_on_the_same_run_is_a_change(tmp_path: Path) -> None:
    """What is expected changed, though nothing that was measured did."""
    comparison = compare(side(tmp_path / "a", [159]), side(tmp_path / "b", [159], expected=FEW))
    assert [variant.outcome for variant in comparison.variants] == [Outcome.CHANGED]
    assert names(comparison) == {".verdict"}


def test_a_setting_that_changes_nothing_measured_is_told(tmp_path: Path) -> None:
    """One byte of a FIFO, by where it stands in the Plan."""
    before, after = side(tmp_path / "a", [159]), side(tmp_path / "b", [159])
    path = tmp_path / "b" / "1" / "main" / "plan.json"
    path.write_text(path.read_text().replace('"limit_bytes": 16384', '"limit_bytes": 16385', 1))
    (variant,) = compare(before, after).variants
    assert variant.outcome is Outcome.CHANGED
    assert variant.settings == (("ports.module-host.queue.limit_bytes", "16384", "16385"),)


def test_what_one_side_has_alone_is_told(tmp_path: Path) -> None:
    """Variants and scenarios; and they count as changes."""
    before = side(tmp_path / "a", [159])
    comparison = compare(before, [])
    assert [variant.outcome for variant in comparison.variants] == [Outcome.ONLY_BEFORE]
    assert [variant.outcome for variant in compare([], before).variants] == [Outcome.ONLY_AFTER]
    assert comparison.is_changed


def test_other_seeds_can_be_compared(tmp_path: Path) -> None:
    """No run is the same then, and the spread decides."""
    after = side(tmp_path / "b", [155, 165, 175, 157], first_seed=11)
    (variant,) = compare(side(tmp_path / "a", [150, 160, 170, 180]), after).variants
    assert (variant.outcome, variant.common_seeds) == (Outcome.WITHIN, 0)


def test_a_page_shows_names_as_text(tmp_path: Path) -> None:
    """Whatever a folder is called, and with the rule by which it was decided."""
    comparison = compare(
        side(tmp_path / "a", [150, 160, 170, 180]), side(tmp_path / "b", [250, 260, 270, 280])
    )
    page = comparison_page(comparison, "<script>alert(1)</script>", "b")
    assert page.count("<script>") == 1
    assert "<h1>&lt;script&gt;alert(1)" in page
    assert "Mann" in page
    assert "download.retransmits" in page


def test_json_has_all_of_it(tmp_path: Path) -> None:
    """Every figure of every seed, in base units, with its p."""
    values = compare(side(tmp_path / "a", [150, 160, 170, 180]), side(tmp_path / "b", [250, 260, 270, 280]))
    document = json.loads(json.dumps(values.to_values()))
    (drops,) = [
        one
        for one in document["variants"][0]["changes"]
        if (one["subject"], one["metric"]) == ("module.line", "drops")
    ]
    assert drops["before"] == [150, 160, 170, 180]
    assert drops["p"] == pytest.approx(2 / 70)
    assert drops["beyond_spread"] is True
