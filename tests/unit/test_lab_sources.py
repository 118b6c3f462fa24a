"""Of what a lab was made: named to the version, and fetched into a folder."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from wirelab.errors import InputError, LabError
from wirelab.lab import debian, kernel, packages, rootfs, sources
from wirelab.lab.packages import Need

if TYPE_CHECKING:
    from pathlib import Path

    from wirelab.lab.entry import Entry
    from wirelab.lab.recipe import BuildContext

STATUS = """\
Package: libc6
Status: install ok installed
Source: glibc
Version: 2.41-12

Package: libc-bin
Source: glibc (2.41-12)
Version: 2.41-12

Package: openvswitch-switch
Source: openvswitch (3.5.0-1)
Version: 3.5.0-1+b1

Package: bash
Version: 5.2.37-2+b5
"""


@pytest.fixture
def with_status(here: BuildContext) -> BuildContext:
    """A lab whose root image has a table of packages."""
    root = rootfs.find(here)
    assert root
    path = root.product / debian.STATUS
    path.parent.mkdir(parents=True)
    path.write_text(STATUS)
    return here


def test_a_source_package_is_told_once_in_its_own_version() -> None:
    """Not in that of a binary package, which Debian may have built anew."""
    assert sources.source_packages(STATUS) == [
        ("bash", "5.2.37-2+b5"),
        ("glibc", "2.41-12"),
        ("openvswitch", "3.5.0-1"),
    ]


def test_what_a_lab_was_made_of_is_named(with_status: BuildContext) -> None:
    """Each file of ours with its checksum, each source package of Debian with its version."""
    text = sources.described(with_status)
    assert "The lab of wirelab" in text
    assert "\n  glibc 2.41-12\n" in text
    recipe = with_status.recipe
    told = dict(re.findall(r"^  ([0-9a-f]{64})  (\S+)$", text, re.MULTILINE))
    assert {name: digest for digest, name in told.items()} == {
        str(path.relative_to(recipe.home)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in kernel.made_from(recipe, *recipe.choices("7.2"))
    }


def test_a_folder_that_is_not_empty_is_left_alone(with_status: BuildContext, tmp_path: Path) -> None:
    """Nothing of the user's is overwritten, and nothing is mixed with it."""
    (tmp_path / "mine").touch()
    with pytest.raises(InputError, match="is not empty") as caught:
        sources.fetch(with_status, tmp_path)
    assert caught.value.hint == "name a new folder"
    with pytest.raises(InputError, match="mine: cannot be a folder"):
        sources.fetch(with_status, tmp_path / "mine")


@pytest.mark.parametrize("is_there", [False, True])
def test_what_goes_wrong_leaves_nothing(
    is_there: bool,  # noqa: FBT001 - a test's parameter
    with_status: BuildContext,
    tmp_path: Path,
) -> None:
    """Of a kernel that does not say of which source it is, that is told; it can be done again."""
    place = tmp_path / "sources" / "of-this"
    if is_there:
        place.mkdir(parents=True)
    for _ in range(2):
        with pytest.raises(LabError, match="does not say of which source it was made") as caught:
            sources.fetch(with_status, place)
        assert "wirelab lab build --from-source" in (caught.value.hint or "")
        assert list((tmp_path / "sources").rglob("*")) == ([place] if is_there else [])


@pytest.mark.parametrize("is_there", [False, True])
def test_what_was_fetched_is_in_the_folder(
    is_there: bool,  # noqa: FBT001 - a test's parameter
    with_status: BuildContext,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ours and Debian's; a folder that was there and empty is the same one: a shell may be in it."""

    def fetched(_context: BuildContext, _entry: Entry, folder: Path) -> None:
        (folder / "linux-source.deb").write_text("a package")

    monkeypatch.setattr(sources, "_fetch_kernel", fetched)
    place = tmp_path / "sources" / "of-this"
    if is_there:
        place.mkdir(parents=True)
    before = place.stat().st_ino if is_there else None
    sources.fetch(with_status, place)
    names = {path.name for path in place.iterdir()}
    assert names == {"SOURCES", "config", "kernel", "rootfs", "linux-source.deb"}
    assert (place / "config").read_text() == "CONFIG_UML=y\n"
    assert before in (None, place.stat().st_ino)
    assert list(place.parent.iterdir()) == [place]


def test_a_machine_without_apt_is_told_so(
    with_status: BuildContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before a folder is made."""
    monkeypatch.setattr(packages, "SOURCE", (Need("apt", "fetch sources of Debian", command="no-such-apt"),))
    with pytest.raises(LabError, match="missing: apt"):
        sources.fetch(with_status, tmp_path / "source")
    assert not (tmp_path / "source").exists()


def test_without_a_lab_there_is_no_source(there: BuildContext) -> None:
    """The usual message."""
    assert kernel.find(there) is None
    with pytest.raises(LabError, match="has no lab kernel"):
        sources.described(replace(there, environ={}))
