"""The catalogue: finding scenarios by name or path, and parts from several folders."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest
from examples import HEAD, ROOT, SCENARIOS, SHIPPED, scenario

from wirelab.errors import InputError
from wirelab.model.catalogue import Catalogue, around, find_scenario, shipped_root
from wirelab.model.experiment import load
from wirelab.model.files import check_file
from wirelab.model.parts import PartKind

# The first two cards: they need no bus, which would be in another file.
NIC = (ROOT / "parts/nics.yaml").read_text(encoding="utf-8").partition("\n  rtl8156b:")[0] + "\n"


def _root(folder: Path, *, nics: str = "") -> Path:
    for section in ("scenarios", "topologies", "parts"):
        (folder / section).mkdir(parents=True)
    if nics:
        (folder / "parts/nics.yaml").write_text(nics, encoding="utf-8")
    return folder


def test_what_is_shipped_is_found_from_anywhere(tmp_path: Path) -> None:
    """A name needs no folder: the catalogue that comes with wirelab is always there."""
    assert shipped_root() == ROOT
    path, catalogue = find_scenario("clean-10g", tmp_path)
    assert path == ROOT / "scenarios/clean-10g.yaml"
    assert around(tmp_path).names("scenarios") == SCENARIOS
    assert {"back-to-back", "sfp-home", "ten-gig"} <= set(catalogue.names("topologies"))


def test_an_unknown_name_is_answered_with_the_nearest(tmp_path: Path) -> None:
    """A typo in a name costs no look into a folder."""
    with pytest.raises(InputError) as caught:
        load("sfp-missmatch", tmp_path)
    assert str(caught.value) == "unknown scenario `sfp-missmatch`; did you mean `sfp-mismatch`?"


def test_a_path_is_a_path(tmp_path: Path) -> None:
    """What ends in .yaml or has a slash is a file, relative to the current folder."""
    scenario(tmp_path)
    assert load("example.yaml", tmp_path).scenario.name == "example"
    assert load("./example.yaml", tmp_path).scenario.name == "example"
    assert load(str(tmp_path / "example.yaml"), Path("/")).scenario.name == "example"
    with pytest.raises(InputError, match="there is no such file"):
        load("none.yaml", tmp_path)


def test_the_current_folder_comes_before_what_is_shipped(tmp_path: Path) -> None:
    """A scenario of the user's own hides a shipped one of the same name."""
    _root(tmp_path)
    head = HEAD.replace("name: example", "name: clean-10g").replace("a test", "of my own")
    scenario(tmp_path / "scenarios", head=head).rename(tmp_path / "scenarios/clean-10g.yaml")
    assert load("clean-10g", tmp_path).scenario.source.title == "of my own"
    assert around(tmp_path).names("scenarios") == SCENARIOS


def test_a_part_of_ones_own_hides_a_shipped_one(tmp_path: Path) -> None:
    """Parts beside a scenario come before shipped parts of the same name; the others stay."""
    _root(tmp_path, nics=NIC.replace("64 KiB", "80 KiB"))
    parts = Catalogue.of(tmp_path, ROOT).parts()
    assert parts.nics["rtl8125"].buffer.value == 80 * 1024
    assert parts.modules.keys() == SHIPPED.parts().modules.keys()


def test_the_same_folder_twice_is_one(tmp_path: Path) -> None:
    """A link to the checkout does not make every part a duplicate."""
    link = tmp_path / "link"
    link.symlink_to(ROOT)
    assert len(Catalogue.of(ROOT, link).roots) == 1
    assert Catalogue.of(tmp_path, ROOT).roots == (tmp_path, ROOT)


def test_a_part_defined_twice_in_one_folder_is_an_error(tmp_path: Path) -> None:
    """Two files must not both say what an x520 is."""
    _root(tmp_path, nics=NIC)
    (tmp_path / "parts/others.yaml").write_text(NIC, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        Catalogue.of(tmp_path).parts()
    assert [problem.field for problem in caught.value.problems] == ["nics.x520", "nics.rtl8125"]
    assert caught.value.problems[0].message.startswith("duplicate name, first in ")
    assert "nics.yaml:8" in caught.value.problems[0].message


def test_every_problem_of_every_file_of_parts_is_reported(tmp_path: Path) -> None:
    """An unreadable file and a wrong figure in another are both named."""
    _root(tmp_path, nics=NIC.replace("512 KiB", "512 K"))
    (tmp_path / "parts/broken.yaml").write_text("nics: [", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        Catalogue.of(tmp_path).parts()
    files = {Path(problem.file or "").name: problem.message for problem in caught.value.problems}
    assert files["nics.yaml"] == "unknown unit `K`; did you mean `KiB`?"
    assert files["broken.yaml"].startswith("is not YAML")


@pytest.mark.parametrize(
    "path",
    sorted(
        path for folder in ("scenarios", "topologies", "parts") for path in (ROOT / folder).glob("*.yaml")
    ),
)
def test_every_shipped_file_checks_by_itself(path: Path) -> None:
    """What `wirelab validate` is given may be a scenario, a topology or parts."""
    check_file(path)


@pytest.mark.parametrize("path", sorted((ROOT / "topologies").glob("*.yaml")))
def test_a_shipped_topology_opens_with_a_drawing(path: Path) -> None:
    """One sees the wiring before one reads it."""
    comment = [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
    assert any("+--" in line for line in comment)


def test_every_shipped_figure_that_is_fitted_names_its_measurement() -> None:
    """The fitted figures are few, and each says what it was fitted to."""
    parts = SHIPPED.parts()
    rows = SHIPPED.measurements()
    fitted = {
        f"{name}.{key}": figure.note
        for kind in get_args(PartKind)
        for name, part in parts.of(kind).items()
        for key in type(part).model_fields
        if getattr(figure := getattr(part, key), "provenance", None) == "fitted"
    }
    assert fitted.keys() == {
        "aqr113c.fifo_unheeded",
        "macbook-2019-security.rx_byte",
        "macbook-2019-security.tx_byte",
        "ax88179-user-driver.rx_frame",
        "ax88179-user-driver.tx_frame",
        "raid0-3x-sas-hdd.read",
        "raid1-hdd.read",
        "nas-raid5-8x-hdd.read",
        "triumph.alpha",
    }
    for note in fitted.values():
        assert any(row in note for row in rows)


def test_a_topology_may_leave_parts_to_its_scenarios(tmp_path: Path) -> None:
    """A node without part is right in a topology, and wrong in a scenario that does not name one."""
    _root(tmp_path)
    shipped = (ROOT / "topologies/sfp-home.yaml").read_text(encoding="utf-8")
    open_ended = shipped.replace(", part: rtl9303", "").replace("asf-10g-t", "aqr113c")
    (tmp_path / "topologies/sfp-home.yaml").write_text(open_ended, encoding="utf-8")
    check_file(tmp_path / "topologies/sfp-home.yaml")
    path = scenario(tmp_path / "scenarios", head=f"{HEAD}with: {{client.rx_usecs: 50 us}}\n")
    with pytest.raises(InputError) as caught:
        check_file(path)
    assert [(problem.field, problem.line, problem.message) for problem in caught.value.problems] == [
        ("with", 4, "the switch `switch` has no part: a scenario's `with` must name one")
    ]
    check_file(scenario(tmp_path / "scenarios", head=f"{HEAD}with: {{switch: rtl9303}}\n"))


def test_a_file_of_a_catalogue_is_called_what_it_says(tmp_path: Path) -> None:
    """It is found by its own name, its results by the one in it; elsewhere it may be called anything."""
    _root(tmp_path)
    path = scenario(tmp_path / "scenarios", head=HEAD.replace("name: example", "name: other"))
    with pytest.raises(InputError) as caught:
        check_file(path)
    said = "example.yaml:1: name: the file is called `example.yaml`: write `example`"
    assert str(caught.value).endswith(said)
    topology = tmp_path / "topologies/mine.yaml"
    topology.write_text((ROOT / "topologies/sfp-home.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    with pytest.raises(InputError, match="write `mine`"):
        check_file(topology)
    check_file(scenario(tmp_path, head=HEAD.replace("name: example", "name: other")))
