"""Labs that need not be built: from a file, an address, a wheel, a release; and what is wrong with one."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from addresses import heard_by, served, sha256
from labs import SHIPPED, build, build_context, exported, ids
from typer.testing import CliRunner

from wirelab import __version__
from wirelab.cli.app import app
from wirelab.errors import InputError, LabError
from wirelab.lab import doctor, export, jail, origin, packages
from wirelab.lab.first_use import select_or_take
from wirelab.lab.packages import Need
from wirelab.lab.recipe import Recipe
from wirelab.lab.select import select

if TYPE_CHECKING:
    from pathlib import Path

    from wirelab.lab.recipe import BuildContext


def install_wheel(site: Path, content: bytes | None, version: str = __version__) -> Path:
    """What pip leaves of `wirelab-lab` in a folder. Returns the lab archive's place."""
    about = site / f"wirelab_lab-{version}.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: wirelab-lab\nVersion: {version}\n")
    (site / "wirelab_lab").mkdir()
    (site / "wirelab_lab" / "__init__.py").write_text("raise SystemExit('imported')\n")
    if content is not None:
        (site / "wirelab_lab" / "lab.tar").write_bytes(content)
    return site / "wirelab_lab" / "lab.tar"


def test_the_first_run_takes_the_lab_of_an_installed_wheel(
    here: BuildContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once, with one line; nothing of the wheel is imported. What only looks takes nothing."""
    install_wheel(tmp_path / "site", exported(here))
    monkeypatch.syspath_prepend(tmp_path / "site")
    environ = {"WIRELAB_CACHE": str(tmp_path / "cache")}
    with pytest.raises(LabError, match="has no lab kernel"):
        select(environ=environ)
    said: list[str] = []
    lab = select_or_take(environ=environ, say=said.append)
    assert said == [f"taking the lab from wirelab-lab {__version__} into {tmp_path / 'cache'}"]
    assert [lab.kernel_id, lab.root_id] == ids(here)[::2]
    assert select_or_take(environ=environ, say=said.append) == lab
    assert len(said) == 1


def test_a_lab_at_hand_is_none_that_is_missing(
    here: BuildContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Doctor and `--version` name it and leave the cache alone; nothing that builds one is asked for."""
    install_wheel(tmp_path / "site", exported(here))
    monkeypatch.syspath_prepend(tmp_path / "site")
    need = Need("no-such-package", "show what is missing", command="no-such-program")
    monkeypatch.setattr(packages, "KERNEL", (need,))
    environ = {"WIRELAB_CACHE": str(tmp_path / "cache")}
    findings = {finding.name: finding for finding in doctor.examine(environ)}
    for name in ("lab kernel", "root image"):
        assert findings[name].ok
        assert findings[name].detail == f"in wirelab-lab {__version__}: the first run takes it"
    assert findings["packages for the kernel build"].ok
    done = CliRunner().invoke(app, ["--version"], env=environ, catch_exceptions=False)
    assert done.output.splitlines()[1:] == [
        f"lab: that of wirelab-lab {__version__}, which the first run takes",
        f"jail: {jail.described()}",
    ]
    assert not (tmp_path / "cache").exists()


def test_a_lab_that_is_built_is_not_replaced(
    here: BuildContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever a wheel or WIRELAB_LAB has."""
    other = build(build_context(tmp_path / "other"), b"#!/bin/sh\n# another\n")
    file = install_wheel(tmp_path / "site", exported(other))
    monkeypatch.syspath_prepend(tmp_path / "site")
    environ = {"WIRELAB_CACHE": str(here.cache.root), "WIRELAB_LAB": str(file)}
    said: list[str] = []
    assert select_or_take(environ=environ, say=said.append).kernel.read_bytes() == b"#!/bin/sh\n"
    assert said == []


def of_another_recipe(folder: Path) -> bytes:
    """A lab whose kernel was built with another driver."""
    for name in ("kernel", "rootfs"):
        shutil.copytree(SHIPPED.home / name, folder / "recipe" / name, symlinks=True)
    with (folder / "recipe" / "kernel" / "driver" / "main.c").open("a") as text:
        text.write("another\n")
    return exported(build(build_context(folder / "cache", Recipe(folder / "recipe"))))


@pytest.mark.parametrize("what", ["another recipe", "cut short", "damaged", "missing"])
def test_a_wheel_of_no_use_is_told_with_the_way_out(
    what: str, here: BuildContext, there: BuildContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file, what is wrong with it, which would fit and how to do without; the cache stays as it was."""
    whole = exported(here)
    damaged = bytearray(whole)
    damaged[len(whole) // 2] ^= 1
    content, message = {
        "another recipe": (
            of_another_recipe(tmp_path / "other"),
            f"a lab of wirelab {__version__}, whose kernel/",
        ),
        "cut short": (whole[:-4096], "a lab archive that is cut short"),
        "damaged": (bytes(damaged), "a lab archive that is damaged"),
        "missing": (None, "cannot be read: No such file"),
    }[what]
    file = install_wheel(tmp_path / "site", content, "0.0.7")
    monkeypatch.syspath_prepend(tmp_path / "site")
    with pytest.raises(InputError) as caught:
        origin.take_at_hand(there)
    assert caught.value.message.startswith(f"{file}: {message}")
    assert f"pipx install --force 'wirelab[lab]=={__version__}'" in (caught.value.hint or "")
    assert "wirelab lab build --from-source" in (caught.value.hint or "")
    assert there.cache.entries() == ()


def test_a_build_says_of_a_wheel_that_it_is_of_no_use(
    there: BuildContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And goes on: whoever changes the driver builds it, whatever is installed."""
    file = install_wheel(tmp_path / "site", of_another_recipe(tmp_path / "other"))
    monkeypatch.syspath_prepend(tmp_path / "site")
    context, said = heard_by(there)
    origin.take_unless_unfit(context)
    assert origin.is_lacking(context)
    assert said[-1].startswith(f"{file}: a lab of wirelab")
    assert said[-1].endswith("; the lab is built instead")


def test_a_file_that_is_named_is_taken(here: BuildContext, there: BuildContext, tmp_path: Path) -> None:
    """By `wirelab lab build`, with or without its checksum; it is what a run uses then."""
    file = tmp_path / "lab.tar"
    file.write_bytes(exported(here))
    for number, named in enumerate((str(file), f"{file}#sha256={sha256(file.read_bytes())}")):
        cache = there.cache.root.with_name(f"cache-{number}")
        environ = {"WIRELAB_CACHE": str(cache), "WIRELAB_LAB": named}
        done = CliRunner().invoke(app, ["lab", "build"], env=environ, catch_exceptions=False)
        assert done.exit_code == 0, done.output
        assert f"taking the lab from {file}" in done.output
        assert ids(build_context(cache)) == ids(here)


def test_a_file_with_another_checksum_is_refused(
    here: BuildContext, there: BuildContext, tmp_path: Path
) -> None:
    """Although it is a sound lab archive: it is not the one that was meant."""
    file = tmp_path / "lab.tar"
    file.write_bytes(exported(here))
    context, _ = heard_by(there, WIRELAB_LAB=f"{file}#sha256={'0' * 64}")
    with pytest.raises(
        InputError, match=rf"lab\.tar: has the checksum {sha256(exported(here))} and not 0000"
    ):
        origin.take_at_hand(context)
    assert there.cache.entries() == ()


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ("https://labs.example/lab.tar", "https://labs.example/lab.tar: an address without a checksum"),
        ("https://me:secret@labs.example/lab.tar", "https://labs.example/lab.tar: an address without"),
        ("https://labs.example/lab.tar#sha256=123", "`123` is no SHA-256"),
        ("https://labs.example/lab.tar#sha256=" + "G" * 64, "is no SHA-256"),
        ("file:///etc/passwd#sha256=" + "0" * 64, "no address with http or https"),
        ("ftp://labs.example/lab.tar#sha256=" + "0" * 64, "no address with http or https"),
        ("http://[bad#sha256=" + "0" * 64, "an address that cannot be read"),
        ("http://me:secret@labs\u2048.example/#sha256=" + "0" * 64, "an address that cannot be read"),
    ],
)
def test_an_address_must_say_what_is_there(named: str, message: str, there: BuildContext) -> None:
    """Nothing is fetched for it, no password is repeated, and the hint has both forms."""
    context, said = heard_by(there, WIRELAB_LAB=named)
    with pytest.raises(InputError) as caught:
        origin.take_at_hand(context)
    assert message in caught.value.message
    assert caught.value.message.startswith("WIRELAB_LAB: ")
    assert "secret" not in caught.value.message
    assert caught.value.hint == "WIRELAB_LAB=FILE, or WIRELAB_LAB=https://...#sha256=<64 hexadecimal digits>"
    assert said == []


def test_a_file_may_be_called_as_no_address_is(there: BuildContext) -> None:
    """What has no `://` is a file, whatever else is in its name."""
    context, _ = heard_by(there, WIRELAB_LAB="//[none/lab.tar")
    with pytest.raises(InputError, match=r"//\[none/lab\.tar: cannot be read: No such file"):
        origin.take_at_hand(context)


def test_the_lab_of_a_release_is_found_by_its_recipe(there: BuildContext, tmp_path: Path) -> None:
    """Another recipe's is passed over: nobody fetches what cannot be used."""
    table = tmp_path / "released.txt"
    line = f"{export.recipe_name(there)} https://labs.example/lab.tar {'1' * 64}\n"
    table.write_text(f"# a table\nwirelab-lab-newest-0000 https://labs.example/old.tar {'0' * 64}\n{line}")
    found = origin.released(there, table)
    assert found == origin.Origin("https://labs.example/lab.tar", "https://labs.example/lab.tar", "1" * 64)
    table.write_text("# nothing yet\n")
    assert origin.released(there, table) is None


def test_a_build_takes_the_lab_of_a_release(here: BuildContext, there: BuildContext, tmp_path: Path) -> None:
    """If it can be had; if not, or if it is another by now, that is said, and the build goes on."""
    whole, table = exported(here), tmp_path / "released.txt"
    name = export.recipe_name(there)
    with served({"/lab.tar": (200, whole, len(whole)), "/other": (200, b"other", 5)}) as server:
        context, said = heard_by(there)
        for path, reason in (("gone", "cannot be fetched"), ("other", "has the checksum")):
            table.write_text(f"{name} {server}/{path} {sha256(whole)}\n")
            origin.take_unless_unfit(context, table)
            assert said[-1].startswith(f"{server}/{path}: {reason}")
            assert said[-1].endswith("; the lab is built instead")
            assert origin.is_lacking(context)
        table.write_text(f"{name} {server}/lab.tar {sha256(whole)}\n")
        origin.take_unless_unfit(context, table)
    assert ids(there) == ids(here)


def test_the_table_of_releases_can_be_read(there: BuildContext) -> None:
    """The shipped one: each line has a recipe, an address and a checksum."""
    found = origin.released(there)
    assert found is None or (found.is_address and len(found.sha256 or "") == 64)
