"""Set-up as a user meets it: what is missing, what is chosen, what apt is told, what doctor sees."""

from __future__ import annotations

import gzip
import os
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from labs import pack_debian
from typer.testing import CliRunner

from wirelab.cli.lab import app as lab_app
from wirelab.errors import InputError, LabError
from wirelab.lab import apt, debian, doctor, kbuild, kernel, memory, packages, rootfs, scratch
from wirelab.lab.cache import Cache
from wirelab.lab.mirror import Mirror
from wirelab.lab.packages import Need
from wirelab.lab.process import output
from wirelab.lab.recipe import BuildContext
from wirelab.lab.reporter import Reporter
from wirelab.lab.select import select

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

NOT_THERE = Need("no-such-package", "show what is missing", command="no-such-program")


@pytest.fixture
def empty(tmp_path: Path) -> dict[str, str]:
    """An environment whose cache is empty."""
    return {"WIRELAB_CACHE": str(tmp_path / "cache")}


def a_kernel_of(series: str) -> Callable[[Path], dict[str, Any]]:
    """What makes a kernel of a series, as far as the cache can tell."""

    def make(folder: Path) -> dict[str, Any]:
        (folder / "linux").write_text("#!/bin/sh\n")
        (folder / "linux").chmod(0o755)
        return {"title": f"Linux {series}.12", "series": series, "objects": 1}

    return make


@pytest.fixture
def built(empty: dict[str, str]) -> dict[str, str]:
    """An environment in whose cache there are a kernel and a root image of the shipped recipe."""
    context = BuildContext.of(empty)

    def make_debian(folder: Path) -> dict[str, Any]:
        pack_debian(folder, context.recipe, "etc/debian_version")
        return {"title": "Debian trixie", "suite": "trixie", "packages": {}, "newest_s": 1_000_000_000}

    context.cache.build("kernel", "k" * 20, a_kernel_of("7.2"), Reporter())
    context.cache.remember(kernel.question(context, None), "k" * 20)
    context.cache.build("debian", "d" * 20, make_debian, Reporter())
    context.cache.remember(debian.question(context), "d" * 20)
    rootfs.ensure(context)
    return empty


def lab(command: list[str], environ: Mapping[str, str]) -> str:
    """What `wirelab lab` prints."""
    result = CliRunner().invoke(lab_app, command, env=environ, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_what_is_built_is_selected(built: dict[str, str]) -> None:
    """The kernel and root of the cache, with names for exactly them."""
    chosen = select(environ=built)
    assert chosen.kernel.name == "linux"
    assert (chosen.root / "usr" / "sbin" / "wirelab-init").is_file()
    assert chosen.kernel_id == f"kernel-{'k' * 20}"
    assert chosen.root_id.startswith("rootfs-")


def test_a_larger_root_image_is_chosen_by_its_name(
    built: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Built or not; a folder that is called so comes first, for the user has made it."""
    course, work = Path("course"), tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    with pytest.raises(LabError, match="no root image course built from these sources") as caught:
        select(root=course, environ=built)
    assert caught.value.hint == "wirelab lab build --with course"
    context = BuildContext.of(built)
    debian.take(context.of_image("course"), debian.ensure(context))
    assert select(root=course, environ=built).root_id.startswith("rootfs-")
    with pytest.raises(InputError, match="no such folder") as unknown:
        select(root=Path("curse"), environ=built)
    assert "course" in (unknown.value.hint or "")
    course.mkdir()
    with pytest.raises(InputError, match="not the root of a lab"):
        select(root=course, environ=built)


def test_a_kernel_is_chosen_by_the_name_of_its_series(
    built: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Built or not; a file that is called so comes first, for the user has made it."""
    monkeypatch.chdir(tmp_path)
    context, everyday = BuildContext.of(built), select(environ=built)
    kernel.take(context, kernel.ensure(context))
    assert select(Path("7.2"), environ=built) == everyday
    with pytest.raises(LabError, match="no lab kernel built from these sources") as caught:
        select(Path("7.2-full"), environ=built)
    assert caught.value.hint == "wirelab lab build --series 7.2-full"
    with pytest.raises(InputError, match="no such file") as unknown:
        select(Path("7.3"), environ=built)
    assert "7.2-full" in (unknown.value.hint or "")
    shutil.copy(everyday.kernel, "7.2")
    assert select(Path("7.2"), environ=built).kernel == tmp_path / "7.2"


def test_a_kernel_of_the_newest_series_is_the_one_where_none_is_named(empty: dict[str, str]) -> None:
    """Whoever had it built by its name need not have it built again."""
    context = BuildContext.of(empty)
    newest, older = (series.name for series in context.recipe.choices(None)[:2])
    made = [
        context.cache.build("kernel", letter * 20, a_kernel_of(series), Reporter())
        for letter, series in (("o", older), ("n", newest))
    ]
    kernel.take(context, made[0], older)
    assert kernel.find(context) is None
    kernel.take(context, made[1], newest)
    assert kernel.find(context) == made[1]


def test_a_selected_lab_is_not_pruned(built: dict[str, str]) -> None:
    """While a run uses it nothing of it is removed."""
    cache, chosen = Cache.at(built), select(environ=built)
    with chosen.in_use():
        cache.prune([], Reporter())
        assert chosen.kernel.exists()
        assert chosen.root.exists()
    cache.prune([], Reporter())
    assert not chosen.kernel.exists()


def test_nothing_built_is_a_lab_error(empty: dict[str, str]) -> None:
    """It says where it looked and the command that helps; it builds nothing by itself."""
    with pytest.raises(LabError, match="has no lab kernel built from these sources") as caught:
        select(environ=empty)
    assert empty["WIRELAB_CACHE"] in caught.value.message
    assert caught.value.hint == "wirelab lab build"
    with pytest.raises(LabError) as caught:
        select(series="6.1", environ=empty)
    assert caught.value.hint == "wirelab lab build --series 6.1"
    assert not Path(empty["WIRELAB_CACHE"]).exists()


def test_a_damaged_entry_is_a_lab_error(built: dict[str, str]) -> None:
    """Somebody removed the kernel from the cache: the message says what to remove and how to go on."""
    select(environ=built).kernel.unlink()
    with pytest.raises(LabError, match="linux is missing") as caught:
        select(environ=built)
    assert "wirelab lab build" in (caught.value.hint or "")


def test_named_kernel_and_root_are_taken(built: dict[str, str], empty: dict[str, str]) -> None:
    """Whatever the cache holds, and their names follow their content."""
    chosen = select(environ=built)
    mine = select(chosen.kernel, chosen.root, environ={"WIRELAB_CACHE": "/nowhere"})
    assert (mine.kernel, mine.root) == (chosen.kernel, chosen.root)
    assert mine.kernel_id.startswith("file-")
    again = select(chosen.kernel, chosen.root, environ=empty)
    assert (again.kernel_id, again.root_id) == (mine.kernel_id, mine.root_id)


@pytest.mark.parametrize(
    ("what", "message"),
    [("missing", "no such file"), ("folder", "no such file"), ("text", "not a program that you may run")],
)
def test_a_kernel_that_is_none_is_bad_input(tmp_path: Path, what: str, message: str) -> None:
    """--kernel with what cannot be started: exit code 2, not a lab that breaks."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "text").write_text("no kernel")
    with pytest.raises(InputError, match=f"{what}: {message}"):
        select(kernel=tmp_path / what, environ={})


def test_a_root_that_is_none_is_bad_input(tmp_path: Path, built: dict[str, str]) -> None:
    """--root with a folder that is not there, or no lab's root."""
    with pytest.raises(InputError, match="no such folder"):
        select(root=tmp_path / "nowhere", environ=built)
    with pytest.raises(InputError, match="it has no usr/sbin/wirelab-init"):
        select(root=tmp_path, environ=built)


def test_lab_commands(built: dict[str, str]) -> None:
    """`build` does nothing where all is there, `path` prints it, `list` marks it, `prune` keeps it."""
    chosen = select(environ=built)
    assert lab(["path"], built).split() == [str(chosen.kernel), str(chosen.root)]
    assert str(chosen.kernel.parent) in lab(["build"], built)
    stars = [line.split()[:3] for line in lab(["list"], built).splitlines() if line.startswith("*")]
    assert ["*", "kernel", "k" * 20] in stars
    assert "freed" in lab(["prune"], built)
    assert select(environ=built) == chosen


def test_a_need_is_met_wherever_it_comes_from(tmp_path: Path) -> None:
    """A command in PATH, a file, a module: not whether a package is installed."""
    assert Need("x", "x", command="sh").is_met
    assert Need("x", "x", module="json").is_met
    assert Need("x", "x", file=str(tmp_path)).is_met
    assert not NOT_THERE.is_met
    assert not Need("x", "x", module="no_such_module").is_met
    assert not replace(NOT_THERE, command="sh", file=str(tmp_path / "nowhere")).is_met


def test_what_is_missing_comes_with_the_line_that_helps(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of it at once, what each is for, and one line to paste."""
    other = replace(NOT_THERE, package="other-package")
    monkeypatch.setattr(packages, "KERNEL", (NOT_THERE, other))
    with pytest.raises(
        LabError, match=r"missing: no-such-package \(to show what is missing\), other"
    ) as caught:
        packages.require("kernel")
    assert (caught.value.hint or "").endswith(
        "apt-get install --no-install-recommends no-such-package other-package"
    )


@pytest.mark.skipif(shutil.which("apt-cache") is None, reason="no apt on this machine")
def test_a_package_that_only_other_releases_have_is_left_out() -> None:
    """apt-get would install none of them for the sake of a name that it does not know."""
    lacking = (replace(NOT_THERE, some_releases=True), replace(NOT_THERE, package="other-package"))
    assert packages._known(lacking) == ["other-package"]  # noqa: SLF001 - what apt-get is told


def test_root_needs_no_user_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only an ordinary user needs uidmap; only they are told of sudo."""
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert "uidmap" not in [need.package for need in packages.needs("root")]
    assert not packages.install_command(["gcc"]).startswith("sudo")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert "uidmap" in [need.package for need in packages.needs("root")]
    assert packages.install_command(["gcc"]).startswith("sudo apt-get install")


@pytest.mark.skipif(shutil.which("apt-config") is None, reason="no apt on this machine")
def test_apt_is_told_of_our_folders_alone(tmp_path: Path) -> None:
    """Read back from apt: our lists and state, none of the machine's hooks and pins, signatures checked."""
    configuration = tmp_path / "apt.conf"
    configuration.write_text(apt.configuration(tmp_path))
    told = output(["apt-config", "-c", str(configuration), "dump"])
    settings = dict(line.rstrip(";").partition(" ")[::2] for line in told.splitlines())
    for name in ("Dir::Etc::sourcelist", "Dir::State", "Dir::State::status", "Dir::Cache"):
        assert settings[name].startswith(f'"{tmp_path}'), name
    assert settings["Dir::Etc::sourceparts"] == '"/dev/null"'
    assert settings["Acquire::AllowInsecureRepositories"] == '"false"'
    assert not [name for name, value in settings.items() if "Invoke" in name and value != '""']


def test_every_source_must_be_signed_by_debian() -> None:
    """Also a mirror that the user names; a suite without an address is left out."""
    lines = apt.source_lines(Mirror("http://near.example/debian"), ["trixie", "trixie-security"])
    assert lines == [
        f"deb [arch=amd64 signed-by={packages.KEYRING_FILE}] http://near.example/debian trixie main"
    ]


@pytest.mark.skipif(
    shutil.which("apt-get") is None or not packages.KEYRING.is_met, reason="no apt of Debian's here"
)
def test_a_mirror_that_debian_did_not_sign_is_refused(
    tmp_path: Path, empty: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever runs a mirror cannot make us build what Debian did not publish: each suite is refused."""
    monkeypatch.setattr(packages, "KERNEL", ())
    for series in BuildContext.of(empty).recipe.series:
        for suite in series.suites:
            folder = tmp_path / "debian" / "dists" / suite / "main" / "binary-amd64"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "Packages").write_text(f"Package: {series.package}\nVersion: 99\nArchitecture: all\n")
            (folder.parents[1] / "Release").write_text(f"Suite: {suite}\n")
    context = BuildContext.of({**empty, "WIRELAB_DEBIAN_MIRROR": f"file://{tmp_path}/debian"})
    with pytest.raises(LabError, match="apt can deliver no linux-source-") as caught:
        kernel.ensure(context)
    assert "trixie-backports: The repository" in caught.value.message
    assert "is not signed" in caught.value.message
    assert context.cache.entries() == ()


@pytest.mark.parametrize("is_linked", [False, True])
def test_a_debian_is_packed_whoever_else_has_a_name_for_it(tmp_path: Path, *, is_linked: bool) -> None:
    """Somebody copies the cache by hard links while a lab is built: the same archive, and theirs stays."""
    unpacked, copy = tmp_path / "debian.tar", tmp_path / "copy.tar"
    unpacked.write_bytes(b"a Debian")
    if is_linked:
        copy.hardlink_to(unpacked)
    debian.pack(unpacked, tmp_path / "log")
    assert not unpacked.exists()
    packed = (tmp_path / debian.ARCHIVE).read_bytes()
    assert gzip.decompress(packed) == b"a Debian"
    # Neither a name nor a time (RFC 1952).
    assert packed[3:8] == bytes(5)
    assert not is_linked or copy.read_bytes() == b"a Debian"


def test_doctor_finds_what_is_built(built: dict[str, str]) -> None:
    """Kernel and root image by name; an empty cache gets the command that fills it."""
    findings = {finding.name: finding for finding in doctor.examine(built)}
    assert findings["lab kernel"].ok
    assert "Linux 7.2.12" in findings["lab kernel"].detail


def test_doctor_helps(empty: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is not well comes with the line that helps, and looking changes nothing."""
    monkeypatch.setattr(packages, "KERNEL", (NOT_THERE,))
    findings = doctor.examine(empty)
    bad = {finding.name: finding for finding in findings if not finding.ok}
    assert bad["lab kernel"].fix == "wirelab lab build"
    assert "no-such-package" in (bad["packages for the kernel build"].fix or "")
    assert all(finding.fix for finding in bad.values())
    assert not Path(empty["WIRELAB_CACHE"]).exists()


def test_doctor_takes_no_error_for_well(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where nobody knows what helps: then there is no line, and not an empty one."""

    def broken(_: Path) -> Path:
        raise LabError("no memory at all")

    monkeypatch.setattr(memory, "memory_folder", broken)
    (finding,) = (finding for finding in doctor.examine({}) if finding.detail == "no memory at all")
    assert not finding.ok
    assert finding.fix is None


def test_doctor_sees_a_cache_that_cannot_be_written() -> None:
    """Not only a folder's mode: whatever the kernel says."""
    findings = {finding.name: finding for finding in doctor.examine({"WIRELAB_CACHE": "/proc/wirelab"})}
    assert not findings["cache"].ok
    assert "WIRELAB_CACHE" in (findings["cache"].fix or "")


def test_doctor_asks_nothing_of_a_machine_whose_lab_is_built(
    built: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that came in a file or in a container's image: what would build it is told of and not missed."""
    monkeypatch.setattr(packages, "KERNEL", (NOT_THERE,))
    monkeypatch.setattr(kbuild, "SPACE_BYTES", 1 << 60)
    findings = {finding.name: finding for finding in doctor.examine(built)}
    assert findings["packages for the kernel build"].ok
    assert "no-such-package; not needed" in findings["packages for the kernel build"].detail
    assert findings["cache"].ok


def test_a_user_without_a_home_is_told_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a container a user may be a number that no passwd(5) knows, and HOME not set."""
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setattr(os, "getuid", lambda: 123456789)
    for environ in ({}, {"WIRELAB_CACHE": "~/cache"}):
        with pytest.raises(LabError, match="user 123456789 has no home folder") as caught:
            Cache.at(environ)
        assert caught.value.hint == "set WIRELAB_CACHE to a folder"
    assert Cache.at({"WIRELAB_CACHE": "/cache"}).root == Path("/cache")
    assert {finding.detail for finding in doctor.examine({}) if not finding.ok} >= {
        "there is no telling where the cache is: user 123456789 has no home folder"
    }


def test_no_folder_for_the_moment_is_a_lab_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything read-only, as in a container: which variable to set, not a traceback."""
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(tempfile, "_candidate_tempdir_list", lambda: ["/proc"])
    with pytest.raises(LabError, match="neither \\$TMPDIR nor /tmp") as caught, scratch.scratch_folder():
        pytest.fail("made")
    assert "TMPDIR" in (caught.value.hint or "")
    monkeypatch.setattr(tempfile, "tempdir", "/proc")
    with pytest.raises(LabError, match="/proc: no folder can be made there"), scratch.scratch_folder():
        pytest.fail("made")
