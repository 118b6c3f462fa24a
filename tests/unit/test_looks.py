"""What `wirelab run` records of a run: for its picture, and to be kept beside the result."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from bursts import FRAMES, at_ps, in_moments, record, written
from standin import HOLDS, Wirelab

from wirelab.report.html import pictures_in
from wirelab.results.record import MAGIC, Event, Kind, read_record

if TYPE_CHECKING:
    from pathlib import Path

DROPS: dict[str, dict[str, int | str]] = {**HOLDS, "main": {"dropped": 159, "sampled": 3}}
PICTURE = re.compile(r'"frames"|class="burst"')


@pytest.fixture
def wirelab(tmp_path: Path) -> Wirelab:
    """A lab that drops three of five frames, and can record that."""
    made = Wirelab.make(tmp_path)
    made.lab.order(DROPS)
    (made.lab.home / "record.bin").write_bytes(written())
    (made.lab.home / "moments.bin").write_bytes(in_moments((1, 1, written()[len(MAGIC) :])))
    return made


def recordings(wirelab: Wirelab) -> int:
    """How many runs had a recorder."""
    path = wirelab.lab.home / "recorded"
    return len(path.read_text()) if path.is_file() else 0


def page(wirelab: Wirelab) -> str:
    """The report of the newest result."""
    return (wirelab.results / "latest" / "lossy" / "report.html").read_text(encoding="utf-8")


def test_a_run_is_looked_at_while_it_is_measured(wirelab: Wirelab) -> None:
    """Each variant is run once; the page has the picture of what dropped, the recorder's files are gone."""
    code, out, err = wirelab.run("lossy.yaml")
    assert (code, err) == (0, "")
    assert "looking closer" not in out
    assert recordings(wirelab) == 2
    assert 'class="burst"' in page(wirelab)
    assert list((wirelab.results / "latest" / "lossy").rglob("*.bin")) == []


def test_the_picture_is_kept_with_the_measurement(wirelab: Wirelab) -> None:
    """The next run of the same has it at once; for a damaged one it is run again."""
    assert wirelab.run("lossy.yaml", cache=True)[0] == 0
    first = page(wirelab)
    assert wirelab.run("lossy.yaml", cache=True)[0] == 0
    assert recordings(wirelab) == 2
    assert 'class="burst"' in page(wirelab)
    [kept] = (wirelab.folder / "cache" / "runs").glob("*-picture*")
    kept.write_bytes(kept.read_bytes()[:-1])
    code, _, err = wirelab.run("lossy.yaml", cache=True)
    assert (code, "damaged" in err) == (0, True), err
    assert recordings(wirelab) == 3
    assert PICTURE.findall(page(wirelab)) == PICTURE.findall(first)


@pytest.mark.parametrize(
    ("orders", "options", "recorded"),
    [(DROPS, ("--no-pictures",), 0), (HOLDS, (), 2), (DROPS, ("--seeds", "1-2"), 0)],
)
def test_there_is_no_picture_that_nobody_asks_for(
    wirelab: Wirelab, orders: dict[str, dict[str, int | str]], options: tuple[str, ...], recorded: int
) -> None:
    """Without pictures and of several runs nothing is recorded; where nothing drops, nothing is shown."""
    wirelab.lab.order(orders)
    wirelab.run("lossy.yaml", *options)
    assert recordings(wirelab) == recorded
    assert 'class="burst"' not in page(wirelab)


@pytest.mark.parametrize(
    "content", [b"nothing of the kind", in_moments((1, 1, written()[16:-9] + b"\xff" * 9)), b""]
)
def test_a_picture_that_cannot_be_made_costs_nothing_else(wirelab: Wirelab, content: bytes) -> None:
    """The result and its page are whole, a warning says why, and nothing is run again for it."""
    (wirelab.lab.home / "moments.bin").write_bytes(content)
    code, out, err = wirelab.run("lossy.yaml")
    assert (code, "lossy: pass" in out) == (0, True)
    assert "warning: no picture of main: " in err
    assert recordings(wirelab) == 2
    assert "</html>" in page(wirelab)


def test_json_and_quiet_say_nothing_of_it(wirelab: Wirelab) -> None:
    """What programs read is the result and nothing else."""
    code, out, err = wirelab.run("lossy.yaml", "--json")
    assert (code, json.loads(out)["scenario"], err) == (0, "lossy", "")
    assert wirelab.run("lossy.yaml", "-q")[2] == ""


def test_frames_are_kept_in_the_folder_of_the_result(wirelab: Wirelab) -> None:
    """Of each variant and control, with the window that they are of; the command says where."""
    code, _, err = wirelab.run("lossy.yaml", "--no-pictures", "--record", "4.1 s..4.3 s")
    assert code == 0, err
    assert recordings(wirelab) == 2
    folder = wirelab.results / "latest" / "lossy"
    for variant in ("main", "deep"):
        assert f"{variant}/record.bin" in err
        told = json.loads((folder / variant / "record.json").read_text())
        assert (told["from_ns"], told["until_ns"]) == (4_100_000_000, 4_300_000_000)
        entries = list(read_record(folder / variant / "record.bin"))
        assert len({entry.number for entry in entries if entry.number}) == FRAMES


def test_a_control_that_drops_nothing_has_no_record_of_its_drops(wirelab: Wirelab) -> None:
    """The other one has: the command ends as the verdict says."""
    code, _, err = wirelab.run("lossy.yaml", "--no-pictures", "--record", "first module.line.drops +-1 ms")
    assert code == 0, err
    folder = wirelab.results / "latest" / "lossy"
    assert (folder / "main" / "record.json").is_file()
    assert not (folder / "deep" / "record.json").exists()


def test_a_full_record_is_kept_up_to_where_it_ends(wirelab: Wirelab) -> None:
    """And its document says that."""
    cut = [entry for entry in record() if entry.at_ps < at_ps(0)]
    content = written([*cut, Event(at_ps(0), Kind.END, "", 0)])
    (wirelab.lab.home / "record.bin").write_bytes(content)
    assert wirelab.run("lossy.yaml", "--no-pictures", "--record", "4.1 s..4.3 s")[0] == 0
    told = json.loads((wirelab.results / "latest" / "lossy" / "main" / "record.json").read_text())
    assert told["until_ns"] == 4_200_000_000


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--record", "soon"), "`soon` is no window"),
        (("--record", "first module.lin.drops +-1 ms"), "did you mean `module.line`?"),
        (("--record", "all", "--limit", "10 GB"), "a record has 1 MB to 4 GB"),
        (("--record", "all", "--seeds", "2"), "--record is of one scenario with one seed, these are 2"),
    ],
)
def test_what_cannot_be_recorded_is_said_before_anything_runs(
    wirelab: Wirelab, options: tuple[str, ...], words: str
) -> None:
    """As bad input."""
    code, _, err = wirelab.run("lossy.yaml", *options)
    assert (code, words in err) == (2, True), err
    assert not wirelab.results.exists()


def test_a_window_outside_the_run_leaves_the_result(wirelab: Wirelab) -> None:
    """It is bad input, and the verdict is written all the same."""
    code, out, err = wirelab.run("lossy.yaml", "--record", "100 s..101 s")
    assert (code, "is outside the run, which lasts" in err) == (2, True), err
    assert "lossy: pass" in out
    assert wirelab.document()["verdict"] == "pass"


def test_a_record_that_cannot_be_kept_leaves_the_result(wirelab: Wirelab) -> None:
    """A damaged one is an error of the lab, and there is nothing of it in the folder."""
    (wirelab.lab.home / "record.bin").write_bytes(b"nothing of the kind")
    code, out, err = wirelab.run("lossy.yaml", "--no-pictures", "--record", "first module.line.drops +-1 ms")
    assert (code, "is no record of a lab" in err) == (4, True), err
    assert "lossy: pass" in out
    folder = wirelab.results / "latest" / "lossy" / "main"
    assert sorted(path.name for path in folder.iterdir()) == ["plan.json", "raw"]


def test_what_is_explained_later_leaves_the_pictures(wirelab: Wirelab) -> None:
    """The page is made anew with what was found, also where the cache has nothing of the run."""
    assert wirelab.run("lossy.yaml")[0] == 0
    drawn = list(pictures_in(page(wirelab)))
    assert [one.variant for one in drawn] == ["main"]
    result = wirelab.results / "latest" / "lossy"
    searched = ("--remedies", "--most", "1", "--no-cache", *wirelab.lab.options)
    assert wirelab("explain", str(result), *searched)[0] == 0
    assert (result / "explanation.json").is_file()
    assert list(pictures_in(page(wirelab))) == drawn
    # Nor does it need a page that is there.
    (result / "report.html").unlink()
    assert wirelab("explain", str(result), *searched)[0] == 0
    assert "</html>" in page(wirelab)


def test_a_picture_of_the_same_network_has_the_name_that_it_has_now(wirelab: Wirelab) -> None:
    """It is kept by what was built: another scenario may have built that under a name of its own."""
    assert wirelab.run("lossy.yaml", cache=True)[0] == 0
    text = (wirelab.folder / "lossy.yaml").read_text()
    (wirelab.folder / "again.yaml").write_text(
        text.replace("name: lossy", "name: again") + "variants:\n  - {name: shallow}\n"
    )
    assert wirelab.run("again.yaml", cache=True)[0] == 0
    report = wirelab.results / "latest" / "again" / "report.html"
    assert [one.variant for one in pictures_in(report.read_text(encoding="utf-8"))] == ["shallow"]
