"""The wheel that carries a built lab: the same bytes wherever it is built, whole, found."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from labs import build, build_context, exported, ids

import wirelab

if TYPE_CHECKING:
    from wirelab.lab.recipe import BuildContext

HERE = Path(__file__).resolve().parents[2]
PROJECT = HERE / "lab-wheel"
EPOCH = re.findall(r"^EPOCH := (\d+)$", (HERE / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)[0]
NAME = f"wirelab_lab-{wirelab.__version__}-py3-none-manylinux_2_17_x86_64.musllinux_1_1_x86_64.whl"


def lay_out(folder: Path, lab: bytes) -> Path:
    """What `make wheels` lays out in dist/lab-wheel."""
    project = folder / "lab-wheel"
    shutil.copytree(PROJECT, project)
    shutil.copyfile(HERE / "kernel" / "driver" / "LICENSE", project / "LICENSE")
    (project / "wirelab_lab" / "lab.tar").write_bytes(lab)
    (project / "wirelab_lab" / "SOURCES").write_text("linux-source-7.2 7.2.12-1\n")
    return project


def tool(*argv: str, cwd: Path, umask: int = 0o022, **environ: str) -> subprocess.CompletedProcess[str]:
    """A module of this Python, run as a program."""
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHONPATH", "PIP_"))
    }
    return subprocess.run(  # noqa: S603 - argument lists of our own
        [sys.executable, "-m", *argv],
        cwd=cwd,
        umask=umask,
        env={**inherited, "SOURCE_DATE_EPOCH": EPOCH, **environ},
        capture_output=True,
        text=True,
        check=False,
    )


def wheel_of(project: Path, umask: int = 0o022) -> Path:
    """The wheel, built offline with the tools that are installed."""
    done = tool(
        "build", "--wheel", "--no-isolation", "--outdir", "..", str(project), cwd=project, umask=umask
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return project.parent / NAME


@pytest.fixture(scope="module")
def maker(tmp_path_factory: pytest.TempPathFactory) -> BuildContext:
    """Where the lab was built."""
    return build(build_context(tmp_path_factory.mktemp("lab") / "cache"))


@pytest.fixture(scope="module")
def wheel(maker: BuildContext, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of a little lab."""
    return wheel_of(lay_out(tmp_path_factory.mktemp("wheel"), exported(maker)))


def test_the_same_lab_is_the_same_wheel(wheel: Path, maker: BuildContext, tmp_path: Path) -> None:
    """In another folder, at another time, by a user with another umask: to the byte."""
    project = lay_out(tmp_path / "another" / "folder", exported(maker))
    for path in project.rglob("*"):
        os.utime(path, (1_000_000_000, 1_000_000_000))
        path.chmod(0o700 if path.is_dir() else 0o600)
    assert wheel_of(project, umask=0o077).read_bytes() == wheel.read_bytes()


def test_it_is_for_any_linux_of_that_processor(wheel: Path) -> None:
    """Whatever its C library is: the lab uses none."""
    with zipfile.ZipFile(wheel) as content:
        (name,) = (name for name in content.namelist() if name.endswith(".dist-info/WHEEL"))
        told = Parser().parsestr(content.read(name).decode())
    kinds = ("manylinux_2_17_x86_64", "musllinux_1_1_x86_64")
    assert told.get_all("Tag") == [f"py3-none-{kind}" for kind in kinds]


def test_another_lab_is_another_wheel(wheel: Path, tmp_path: Path) -> None:
    """Else the test above would prove nothing."""
    assert wheel_of(lay_out(tmp_path, b"another lab")).read_bytes() != wheel.read_bytes()


def test_it_holds_the_lab_and_says_of_what_it_is(wheel: Path, maker: BuildContext) -> None:
    """The archive as it was exported, the list of sources, the licences; nothing else."""
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
        assert names == {f"wirelab_lab/{name}" for name in ("__init__.py", "NOTICE", "SOURCES", "lab.tar")}
        assert archive.read("wirelab_lab/lab.tar") == exported(maker)
        notice = archive.read("wirelab_lab/NOTICE").decode()
        about = f"wirelab_lab-{wirelab.__version__}.dist-info"
        assert b"GNU GENERAL PUBLIC LICENSE" in archive.read(f"{about}/licenses/LICENSE")
        metadata = Parser().parsestr(archive.read(f"{about}/METADATA").decode())
    assert "GPL-2.0-only" in notice
    assert "wirelab lab source" in notice
    assert metadata["License-Expression"] == "GPL-2.0-only AND LicenseRef-Debian"


def test_there_is_one_version() -> None:
    """wirelab's, which its extra `lab` asks for, and the wheel has."""
    extra = tomllib.loads((HERE / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]
    assert extra["lab"] == [f"wirelab-lab=={wirelab.__version__}"]
    text = (PROJECT / "wirelab_lab" / "__init__.py").read_text(encoding="utf-8")
    assert f'\n__version__ = "{wirelab.__version__}"\n' in text


@pytest.mark.parametrize("missing", ["lab.tar", "SOURCES"])
def test_a_wheel_without_its_lab_is_not_built(missing: str, tmp_path: Path) -> None:
    """Nor one that does not say of what it is made: the message says who makes it."""
    project = lay_out(tmp_path, b"a lab")
    (project / "wirelab_lab" / missing).unlink()
    done = tool("build", "--wheel", "--no-isolation", "--outdir", "..", str(project), cwd=project)
    assert done.returncode != 0
    assert f"{missing} is not there: `make wheels` makes it" in done.stdout + done.stderr


def test_a_wheel_too_large_for_an_index_is_not_built(tmp_path: Path) -> None:
    """100 MB is what one takes: it is told here, and not by the index after an upload."""
    project = lay_out(tmp_path, b"a lab")
    with (project / "wirelab_lab" / "lab.tar").open("r+b") as file:
        file.truncate(10**8 + 1)
    done = tool("build", "--wheel", "--no-isolation", "--outdir", "..", str(project), cwd=project)
    assert done.returncode != 0
    assert "more than the 100 MB of a wheel" in done.stdout + done.stderr


def test_it_is_found_where_it_is_installed(wheel: Path, maker: BuildContext, tmp_path: Path) -> None:
    """By pip, beside wirelab: the first command that needs a lab takes it."""
    offline = ("--no-deps", "--no-index", "--no-compile", "--disable-pip-version-check")
    site = tmp_path / "site"
    done = tool("pip", "install", "--quiet", *offline, "--target", str(site), str(wheel), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    environ: dict[str, Any] = {
        "PYTHONPATH": f"{HERE / 'src'}:{site}",
        "WIRELAB_CACHE": str(tmp_path / "cache"),
    }
    for told in (f"taking the lab from wirelab-lab {wirelab.__version__} into {tmp_path / 'cache'}\n", ""):
        done = tool("wirelab", "lab", "id", cwd=tmp_path, **environ)
        assert (done.returncode, done.stderr) == (0, told)
        assert done.stdout.split() == ids(maker)[::2]
