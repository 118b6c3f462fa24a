"""What the suites are fetched from, which lab they run in, and the tables at the end."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.peers import kernel_source, mininet, packetdrill, selftests
from wirelab.errors import WirelabError
from wirelab.lab import apt, fetch, mirror, packages
from wirelab.lab.recipe import BuildContext
from wirelab.lab.select import select

TABLES = pytest.StashKey[list[str]]()
KERNELS = pytest.StashKey[dict[tuple[str, ...], str]]()
IMAGE = "course"
# The kernel with all that the kernel's own tests ask for.
FULL = "7.2-full"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Which scripts, and how many labs at once."""
    parser.addoption("--script", default="*", help="only scripts of such names: 'test_nets.*,fcnal-*'")
    parser.addoption("--at-once", type=int, default=0, help="so many labs at once, else one for each CPU")
    program = shutil.which("packetdrill")
    parser.addoption("--packetdrill", default=program, help="the program, which Debian lacks")
    parser.addoption(
        "--keep",
        action="store_true",
        help="keep in docs/peers.json what became of each, in parts, too",
    )


def pytest_configure(config: pytest.Config) -> None:
    """The tables that are shown in the end, and the kernels of labs, by the options that say which."""
    config.stash[TABLES] = []
    config.stash[KERNELS] = {}


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Show what became of each suite."""
    if lines := config.stash[TABLES]:
        terminalreporter.section("scripts of others")
        terminalreporter.write_line("\n".join(lines))


@pytest.fixture(scope="session")
def lab(request: pytest.FixtureRequest) -> list[str]:
    """The options of `wirelab exec` that say which lab; without one these tests fail."""
    return _lab(request)


@pytest.fixture(scope="session")
def full_lab(request: pytest.FixtureRequest) -> list[str]:
    """The same with the larger kernel."""
    return _lab(request, kernel=FULL)


@pytest.fixture(scope="session")
def mininet_source(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Mininet's source, fetched once and kept beside what pytest remembers."""
    kept = _kept(request) / mininet.ARCHIVE
    if not kept.exists():
        address = f"{mirror.find(os.environ).main}/{mininet.PLACE}"
        try:
            with fetch.fetched(BuildContext.of(os.environ), address, mininet.SHA256) as file:
                shutil.copyfile(file, kept)
        except WirelabError as error:
            pytest.skip(f"Mininet's source cannot be had: {error.message}")
    return mininet.unpacked(kept, tmp_path_factory.mktemp("mininet"))


@pytest.fixture(scope="session")
def kernel_package() -> Path:
    """The package of the source that the newest kernel is built of; it is fetched if it is not there."""
    context = BuildContext.of(os.environ)
    series = context.recipe.choices(None)[0]
    try:
        with apt.querying(context, mirror.find(os.environ), [series.suites[0]]) as query:
            version = query.version(series.package) or ""
            return query.download(series.package, version, context.cache.folder("downloads"))
    except WirelabError as error:
        pytest.skip(f"the kernel's source cannot be had: {error.message}")


@pytest.fixture(scope="session")
def packetdrill_scripts(kernel_package: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source, as far as the scripts are in it."""
    return kernel_source.unpacked(kernel_package, tmp_path_factory.mktemp("packetdrill"), packetdrill.PARTS)


@pytest.fixture(scope="session")
def selftests_folder(kernel_package: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The kernel's selftests of the network, compiled and installed."""
    if lacking := packages.missing("selftests"):
        names = [need.package for need in lacking]
        pytest.skip(f"missing: {', '.join(names)}: {packages.install_command(names)}")
    source = kernel_source.unpacked(kernel_package, tmp_path_factory.mktemp("source"), selftests.PARTS)
    return selftests.installed(source, tmp_path_factory.mktemp("selftests"))


@pytest.fixture(scope="session")
def packetdrill_program(request: pytest.FixtureRequest) -> Path:
    """The program: nobody ships it, so whoever wants these scripts run brings it."""
    if (program := request.config.getoption("--packetdrill")) is None:
        pytest.skip("no packetdrill: make test-peers ARGS='--packetdrill FILE'")
    return Path(program)


def _lab(request: pytest.FixtureRequest, **instead: str) -> list[str]:
    """The options that are asked for; what is not is taken of the image IMAGE and of ``instead``."""
    asked = {name: request.config.getoption(f"--{name}") for name in ("kernel", "root")}
    chosen = {"root": IMAGE} | instead | {name: str(value) for name, value in asked.items() if value}
    found = select(Path(chosen["kernel"]) if "kernel" in chosen else None, Path(chosen["root"]))
    options = [word for name, value in chosen.items() for word in (f"--{name}", value)]
    request.config.stash[KERNELS][tuple(options)] = found.kernel_title()
    return options


def _kept(request: pytest.FixtureRequest) -> Path:
    cache = request.config.cache
    assert cache is not None
    return cache.mkdir("peers")
