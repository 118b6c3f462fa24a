"""What ``save`` writes at the prompt: the network as it is set by now, as a scenario."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from examples import ROOT, shipped

from wirelab.errors import InputError
from wirelab.model.experiment import load
from wirelab.model.yamlfile import read
from wirelab.shell.save import save, scenario_text

if TYPE_CHECKING:
    from pathlib import Path

SCENARIO = ROOT / "scenarios" / "sfp-mismatch.yaml"
EXPERIMENT = shipped("sfp-mismatch")


def test_what_is_saved_has_the_last_word_of_each_setting(tmp_path: Path) -> None:
    """In whatever words it was said before: in one piece, as a length in the place of a delay."""
    file = tmp_path / "lines.yaml"
    file.write_text(
        "name: lines\nsource: {title: a test}\ntopology: one-switch\nwith:\n  patch.length: 100 m\n"
        "  client.shape: {rate: 50 Mbit/s, kind: htb}\n"
        "traffic:\n  - iperf3: {name: download, from: server, to: client, time: 2 s}\n"
        "expect:\n  download: {goodput: ..1 Gbit/s}\n"
    )
    case = load(str(file), tmp_path).cases[0]
    said = [("patch.delay", "1 ms"), ("client.shape.rate", "20 Mbit/s")]
    save(tmp_path / "mine.yaml", scenario_text(read(file).tree, "mine", case, said))
    assert load(str(tmp_path / "mine.yaml"), tmp_path).scenario.settings == {
        "client.shape.kind": "htb",
        **dict(said),
    }


def test_what_is_saved_is_a_scenario(tmp_path: Path) -> None:
    """Of a variant, and of a control on top of one, with what was set; it is written over nothing."""
    for case in EXPERIMENT.cases:
        text = scenario_text(read(SCENARIO).tree, case.name, case, [("client.rx_usecs", "60 us")])
        file = tmp_path / f"{case.name}.yaml"
        save(file, text)
        again = load(str(file), tmp_path)
        assert again.scenario.settings["client.rx_usecs"] == "60 us"
        assert again.cases[0].wiring.part_name("module") == case.wiring.part_name("module")
    with pytest.raises(InputError, match="is there already"):
        save(file, text)
    with pytest.raises(InputError, match=r"ends in \.yaml"):
        save(tmp_path / "mine", text)
    with pytest.raises(InputError):
        save(tmp_path / "half.yaml", "name: half\n")
    assert not (tmp_path / "half.yaml").exists()


@pytest.mark.parametrize("name", ["no/mine.yaml", f"{'a' * 300}.yaml", "a\0b.yaml"])
def test_what_cannot_be_written_is_a_wrong_name(tmp_path: Path, name: str) -> None:
    """And no broken lab: the session goes on."""
    with pytest.raises(InputError, match="cannot be written") as error:
        save(tmp_path / name, "name: mine\n")
    assert error.value.hint


def test_nothing_is_left_of_what_was_written_in_part(tmp_path: Path) -> None:
    """As on a disk that is full."""
    with pytest.raises(InputError, match="cannot be written"):
        save(tmp_path / "mine.yaml", "name: \ud800\n")
    assert not list(tmp_path.iterdir())
