"""Two results of a real lab, compared: a byte of a FIFO is found, and nothing between two equal runs."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from docs.commands import EXAMPLES
from wirelab.cli.app import app

if TYPE_CHECKING:
    from pathlib import Path

SLOW_LINK = (EXAMPLES / "notebooks" / "slow-link.yaml").read_text(encoding="utf-8")


def wirelab(*argv: str) -> tuple[int, str]:
    """Run a command. Returns its exit code and what it prints."""
    done = CliRunner().invoke(app, argv)
    return done.exit_code, done.stdout


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory, lab_options: list[str]) -> Path:
    """A FIFO that just holds ten frames, ``one`` and measured anew ``same``, and one of a byte less."""
    folder = tmp_path_factory.mktemp("results")
    for out, fifo in (("one", "15140 B"), ("same", "15140 B"), ("less", "15139 B")):
        scenario = folder / f"{out}.yaml"
        scenario.write_text(SLOW_LINK.replace("with: {", f"with: {{module.fifo: {fifo}, "), encoding="utf-8")
        code, printed = wirelab(
            "run", str(scenario), "--out", str(folder / out), "--no-cache", "-q", *lab_options
        )
        assert code == 1, printed
    return folder


def test_nothing_changed_between_two_equal_runs(results: Path, lab_options: list[str]) -> None:
    """Though each was measured for itself."""
    code, printed = wirelab("compare", str(results / "one"), str(results / "same"), "--frames", *lab_options)
    assert code == 0, printed
    assert printed.endswith("measured has equal digests, so no frame differs\n")


def test_a_byte_of_a_fifo_is_found_in_the_frame_that_it_drops(results: Path, lab_options: list[str]) -> None:
    """One FIFO takes the tenth frame, the other one drops it: the same frame, at the same instant."""
    folders = str(results / "one"), str(results / "less")
    code, printed = wirelab("compare", *folders, "--frames", "--json", *lab_options)
    assert code == 1, printed
    document = json.loads(printed)
    (variant,) = document["variants"]
    where = {one["where"]: (one["before"], one["after"]) for one in variant["settings"]}
    assert where["ports.module-line.queue.limit_bytes"] == ("15140", "15139")
    parting = document["parting"]
    frame = re.match(r"a frame of 1514 B \(tcp .*? with sequence number \d+\) ", parting["before"])
    assert frame
    assert parting["before"] == f"{frame[0]}is queued at module.line, which holds 15140 B then"
    assert parting["after"] == f"{frame[0]}is dropped at module.line, where 13626 B of 15139 B wait"
