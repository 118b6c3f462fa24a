"""What is built from a checkout is all of wirelab: installed elsewhere it does what the checkout does."""

from __future__ import annotations

import os
import py_compile
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from dataclasses import dataclass
from email.parser import Parser
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import wirelab
from man.generate import PAGE, page
from wirelab.cli.options import DEFAULT_SEED
from wirelab.fleet.identity import code_id
from wirelab.lab import debian, jail, kernel, rootfs
from wirelab.lab.cache import Cache
from wirelab.lab.recipe import BuildContext, Recipe
from wirelab.lab.reporter import Reporter
from wirelab.lab.select import TOOLS
from wirelab.model.catalogue import Catalogue
from wirelab.model.experiment import load
from wirelab.plan.build import build_plan
from wirelab.runner import measurement_cache
from wirelab.runner.code import package_id

if TYPE_CHECKING:
    from collections.abc import Mapping

HERE = Path(__file__).resolve().parents[2]
CATALOGUE = ("exercises", "scenarios", "topologies", "parts", "measurements.yaml", "truth.yaml")
RECIPE = ("kernel", "rootfs")
STRAY = re.compile(
    r"(^|/)(tests?|bench|(?<!wirelab/)results|__pycache__|\.git|\.[a-z]+_cache|\.hypothesis|\.venv)/|\.pyc$"
)
REFERENCE = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


def files_below(base: Path, *names: str) -> set[str]:
    """The files of the checkout that ``names`` are or hold, relative to ``base``."""
    paths = [path for name in names for path in ((base / name), *(base / name).rglob("*"))]
    return {
        str(path.relative_to(base)) for path in paths if path.is_file() and "__pycache__" not in path.parts
    }


def tool(*argv: str, cwd: Path, environ: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """A module of this Python, run as a program, knowing nothing of the checkout."""
    unwanted = ("PYTHONPATH", "WIRELAB_", "XDG_", "PIP_")
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(unwanted)}
    return subprocess.run(  # noqa: S603 - argument lists of our own
        [sys.executable, "-m", *argv],
        cwd=cwd,
        env={**inherited, **(environ or {})},
        capture_output=True,
        text=True,
        check=False,
    )


@dataclass(frozen=True)
class Built:
    """An sdist, the wheel that was built from it, and the wheel installed in a folder of its own."""

    sdist: Path
    wheel: Path
    site: Path
    empty: Path

    @property
    def sdist_files(self) -> set[str]:
        """What is in the sdist, below its one folder."""
        with tarfile.open(self.sdist) as archive:
            return {member.name.partition("/")[2] for member in archive if not member.isdir()}

    @property
    def wheel_files(self) -> set[str]:
        """What is in the wheel."""
        with zipfile.ZipFile(self.wheel) as archive:
            return set(archive.namelist())

    def wirelab(self, *argv: str, **environ: str) -> subprocess.CompletedProcess[str]:
        """Run the installed wirelab in an empty folder, with a cache that is empty unless one is named."""
        where = {"PYTHONPATH": str(self.site), "WIRELAB_CACHE": str(self.empty.with_name("no-cache"))}
        done = tool("wirelab", *argv, cwd=self.empty, environ={**where, **environ})
        assert "Traceback" not in done.stdout + done.stderr
        return done


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Both made offline with the tools that are installed; the wheel is made from the sdist alone."""
    folder = tmp_path_factory.mktemp("packaging")
    done = tool("build", "--no-isolation", "--outdir", str(folder / "dist"), str(HERE), cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    (sdist,) = (folder / "dist").glob("*.tar.gz")
    (wheel,) = (folder / "dist").glob("*.whl")
    # Beside the packages, what an installed wirelab must not take for its own.
    site = folder / "project" / "vendored"
    for name in ("scenarios", "kernel"):
        (folder / "project" / name).mkdir(parents=True)
    (folder / "project" / "kernel" / "lab.config").touch()
    offline = ("--no-deps", "--no-index", "--no-compile", "--disable-pip-version-check")
    done = tool("pip", "install", "--quiet", *offline, "--target", str(site), str(wheel), cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    (folder / "empty").mkdir()
    return Built(sdist, wheel, site, folder / "empty")


def test_the_wheel_holds_the_catalogue_and_the_recipe(built: Built) -> None:
    """Every scenario, topology, part and measurement; every file that a lab is made of."""
    wanted = {f"wirelab/catalogue/{name}" for name in files_below(HERE, *CATALOGUE)}
    wanted |= {f"wirelab/recipe/{name}" for name in files_below(HERE, *RECIPE)}
    shipped = {
        name for name in built.wheel_files if name.startswith(("wirelab/catalogue/", "wirelab/recipe/"))
    }
    assert "wirelab/catalogue/scenarios/sfp-mismatch.yaml" in wanted
    assert "wirelab/recipe/rootfs/overlay/usr/sbin/wirelab-init" in wanted
    assert shipped == wanted


def test_the_wheel_holds_the_package_and_nothing_else(built: Built) -> None:
    """Every module and template, the man page, both licences; no test, no repository, no cache."""
    files = built.wheel_files
    modules = files_below(HERE / "src", "wirelab")
    rest = {name for name in files if not name.startswith(("wirelab/catalogue/", "wirelab/recipe/"))}
    stem = f"wirelab-{wirelab.__version__}"
    assert rest - {name for name in rest if name.startswith(f"{stem}.dist-info/")} == {
        *modules,
        f"{stem}.data/data/share/man/man1/wirelab.1",
    }
    licences = {f"{stem}.dist-info/licenses/{name}" for name in ("LICENSE", "kernel/driver/LICENSE")}
    assert licences <= files
    assert [name for name in files if STRAY.search(name)] == []


def test_the_sdist_holds_what_the_wheel_is_made_of(built: Built) -> None:
    """Sources, catalogue, recipe, man page and what a reader wants; no test, no repository, no cache."""
    files = built.sdist_files
    wanted = files_below(HERE, "src", "man", *CATALOGUE, *RECIPE)
    documents = {"CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "README.md", "SECURITY.md", "pyproject.toml"}
    assert wanted | documents <= files
    assert files - wanted - documents == {"PKG-INFO", ".gitignore"}
    assert [name for name in files if STRAY.search(name)] == []


def test_nothing_that_travels_is_a_symbolic_link() -> None:
    """A wheel has no links: what is one in a checkout would be another lab after the installation."""
    links = [path for name in (*CATALOGUE, *RECIPE) for path in (HERE / name).rglob("*") if path.is_symlink()]
    assert links == []


def test_the_metadata_name_both_licences(built: Built) -> None:
    """The driver and the patches of the kernel travel as source, under the kernel's licence."""
    with zipfile.ZipFile(built.wheel) as archive:
        (name,) = (entry for entry in archive.namelist() if entry.endswith(".dist-info/METADATA"))
        metadata = Parser().parsestr(archive.read(name).decode())
    assert metadata["License-Expression"] == "Apache-2.0 AND GPL-2.0-only"
    assert metadata["Version"] == wirelab.__version__


def test_it_lists_its_own_catalogue(built: Built) -> None:
    """All scenarios of the checkout, found in the package and not in what lies beside it."""
    done = built.wirelab("list", "--json")
    assert done.returncode == 0, done.stderr
    files = re.findall(r'"file": "(.*)"', done.stdout)
    home = built.site / "wirelab" / "catalogue" / "scenarios"
    assert {Path(file).stem for file in files} == set(Catalogue.of(HERE).names("scenarios"))
    assert {Path(file).parent for file in files} == {home}


def test_it_validates_and_plans(built: Built) -> None:
    """A shipped file is sound where it is installed; a plan is the one of the checkout, to the byte."""
    file = built.site / "wirelab" / "catalogue" / "scenarios" / "sfp-mismatch.yaml"
    assert built.wirelab("validate", str(file)).stdout == f"{file}: ok\n"
    planned = built.wirelab("plan", "sfp-mismatch", "--json")
    experiment = load("sfp-mismatch", HERE)
    assert planned.returncode == 0, planned.stderr
    assert planned.stdout == build_plan(experiment, experiment.cases[0], DEFAULT_SEED).to_json()


@pytest.mark.parametrize(("argv", "word"), [(("parts", "aqr113c"), "datasheet"), (("schema",), "$schema")])
def test_it_answers_what_needs_no_lab(argv: tuple[str, ...], word: str, built: Built) -> None:
    """The parts and the schema, from the files that came with it."""
    done = built.wirelab(*argv)
    assert (done.returncode, done.stderr) == (0, "")
    assert word in done.stdout


def test_its_doctor_misses_a_lab_and_no_checkout(built: Built) -> None:
    """What only the Makefile needs, to make a virtual environment, is no concern of who has no Makefile."""
    done = built.wirelab("doctor")
    assert "MISSING lab kernel: not built from these sources\n        wirelab lab build\n" in done.stdout
    assert "virtual environment" not in done.stdout


DEBIAN = {"title": "Debian", "suite": "trixie", "packages": {}, "newest_s": 1_000_000_000}


def lab_of_the_checkout(root: Path) -> tuple[Path, Path]:
    """A kernel and a root image, under the names that a build from the checkout leaves in a cache."""
    context = BuildContext(Recipe(HERE), Cache(root), {}, Reporter())

    def make_kernel(folder: Path) -> dict[str, object]:
        (folder / "linux").touch(mode=0o755)
        return {"title": "Linux 1.2.3", "series": "1.2", "objects": 1}

    def make_root(folder: Path) -> dict[str, object]:
        status = folder / "root" / "var" / "lib" / "dpkg" / "status"
        status.parent.mkdir(parents=True)
        paragraphs = [f"Package: {name}\nStatus: installed\nVersion: {name}-v\n" for name in (*TOOLS, "perl")]
        status.write_text("\n".join(paragraphs), encoding="utf-8")
        return {**DEBIAN, "manifest": "m", "debian": "d" * 20}

    built_kernel = context.cache.build("kernel", "k" * 20, make_kernel, Reporter())
    base = context.cache.build("debian", "d" * 20, lambda _: DEBIAN, Reporter())
    context.cache.remember(kernel.question(context, None), built_kernel.key)
    context.cache.remember(debian.question(context), base.key)
    key = rootfs.key_on(context, base.key)
    built_root = context.cache.build("rootfs", key, make_root, Reporter())
    return built_kernel.product, built_root.product


def test_it_finds_the_lab_that_a_checkout_has_built(built: Built, tmp_path: Path) -> None:
    """Kernel and root image have the same keys in both, so nothing is built twice."""
    lab = lab_of_the_checkout(tmp_path)
    done = built.wirelab("lab", "path", WIRELAB_CACHE=str(tmp_path))
    assert (done.stdout, done.stderr) == (f"{lab[0]}\n{lab[1]}\n", "")
    assert built.wirelab("lab", "build", "--quiet", WIRELAB_CACHE=str(tmp_path)).returncode == 0


def test_it_remembers_what_a_checkout_has_measured(built: Built) -> None:
    """The code whose doing the raw files are has the same hash in both."""
    script = "from wirelab.runner.measurement_cache import guest_code_id; print(guest_code_id())"
    assert printed_by(built, script) == measurement_cache.guest_code_id()
    script = "from wirelab.runner.code import package_id; print(package_id())"
    assert printed_by(built, script) == package_id()


def test_a_fleet_takes_it_for_what_the_checkout_is(built: Built) -> None:
    """Also when an installer has compiled all that is below it, be it a recipe among the scenarios."""
    (recipe,) = (built.site / "wirelab" / "catalogue").rglob("*.py")
    py_compile.compile(str(recipe), cfile=str(recipe.parent / "__pycache__" / f"{recipe.stem}.pyc"))
    assert printed_by(built, "from wirelab.fleet.identity import code_id; print(code_id())") == code_id()


def printed_by(built: Built, script: str) -> str:
    """What a script prints that imports the installed wirelab."""
    done = subprocess.run(  # noqa: S603 - the scripts above
        [sys.executable, "-c", script],
        cwd=built.empty,
        env={**os.environ, "PYTHONPATH": str(built.site)},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def test_the_version_names_what_the_figures_depend_on(built: Built, tmp_path: Path) -> None:
    """Its own, the kernel's and the tools', as the lab that a run would use has them."""
    lab_of_the_checkout(tmp_path)
    lines = built.wirelab("--version", WIRELAB_CACHE=str(tmp_path)).stdout.splitlines()
    tools = ", ".join(f"{name} {name}-v" for name in TOOLS)
    assert lines == [
        f"wirelab {wirelab.__version__}",
        "lab kernel: Linux 1.2.3",
        f"root image: {tools}",
        f"jail: {jail.described()}",
    ]


def completed(built: Built, line: str, **environ: str) -> list[str]:
    """What bash is offered for the last word of ``line``, asked for as bash asks."""
    done = built.wirelab(
        _WIRELAB_COMPLETE="complete_bash", COMP_WORDS=line, COMP_CWORD=str(line.count(" ")), **environ
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


@pytest.mark.parametrize("command", ["run sfp-mismatch", "plan", "sweep"])
def test_a_scenario_is_completed(command: str, built: Built) -> None:
    """TAB offers the scenarios that begin so, for every command that takes one."""
    names = [name for name in Catalogue.of(HERE).names("scenarios") if name.startswith("sfp-")]
    assert "sfp-mismatch" in names
    assert completed(built, f"wirelab {command} sfp-") == names


def test_a_part_is_completed(built: Built) -> None:
    """By its name or by its kind."""
    assert {"nic", "nas", "nbase-t"} <= set(completed(built, "wirelab parts n"))


def test_completion_does_not_complain(built: Built, tmp_path: Path) -> None:
    """A broken file of parts costs the names that are in it, and writes nothing into the line one types."""
    for name in ("scenarios", "parts"):
        (tmp_path / name).mkdir()
    (tmp_path / "parts" / "broken.yaml").write_text("nics: [", encoding="utf-8")
    environ = {
        "PYTHONPATH": str(built.site),
        "_WIRELAB_COMPLETE": "complete_bash",
        "COMP_WORDS": "wirelab parts n",
        "COMP_CWORD": "2",
    }
    done = tool("wirelab", cwd=tmp_path, environ=environ)
    assert (done.stdout, done.stderr, done.returncode) == ("nic\n", "", 0)


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_bash_completes_after_the_installation(built: Built, tmp_path: Path) -> None:
    """`--install-completion` leaves what a new bash reads; there TAB offers names."""
    program = tmp_path / "wirelab"
    program.write_text(f'#!/bin/sh\nPYTHONPATH={built.site} exec {sys.executable} -m wirelab "$@"\n')
    program.chmod(0o755)
    script = (
        "wirelab --show-completion >shown && wirelab --install-completion >/dev/null && . ~/.bashrc\n"
        "COMP_WORDS=(wirelab run sfp-mis) COMP_CWORD=2\n"
        '_wirelab_completion wirelab; echo "${COMPREPLY[@]}"\n'
    )
    done = subprocess.run(  # noqa: S603 - the script above
        ["bash", "--norc", "-c", script],  # noqa: S607 - wherever it is
        cwd=tmp_path,
        env={"HOME": str(tmp_path), "PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("sfp-mismatch\n", "")
    assert "_wirelab_completion" in (tmp_path / "shown").read_text()


def test_the_man_page_is_what_the_help_says() -> None:
    """`PYTHONPATH=src python man/generate.py` makes it; it is never written by hand."""
    assert PAGE.read_text(encoding="utf-8") == page()


def test_the_man_page_has_every_command() -> None:
    """Those of groups, too, each with its options."""
    text = page()
    for command in ("run", "sweep", "parts", "exec", "list", "validate", "plan", "schema", "doctor"):
        assert f'\n.SS "wirelab {command}' in text
    assert '\n.SS "wirelab lab build' in text
    assert "\\fB\\-\\-seeds\\fR \\fIN|A\\-B\\fR" in text


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
def test_the_man_page_is_set_without_a_warning() -> None:
    """By groff with all of its warnings on."""
    argv = ["groff", "-man", "-ww", "-Tutf8", str(PAGE)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)  # noqa: S603 - argument lists of our own
    assert (done.returncode, done.stderr) == (0, "")
    assert "EXIT STATUS" in re.sub(r"\x1b\[[0-9;]*m|.\x08", "", done.stdout)


def test_what_security_names_as_its_proof_exists() -> None:
    """Each test that SECURITY.md appeals to is there under that name."""
    references = REFERENCE.findall((HERE / "SECURITY.md").read_text(encoding="utf-8"))
    assert len(references) > 10
    missing = [
        f"{file}::{name}"
        for file, name in references
        if f"\ndef {name}(" not in (HERE / file).read_text(encoding="utf-8")
    ]
    assert missing == []
