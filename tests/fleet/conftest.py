"""A network with three workers, made once; where that cannot be, the tests are skipped with the reason."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.fleet.hosts import CannotError, Host, Switch
from tests.fleet.play import CHECKOUT, PLAYBOOKS, Controller, Played
from tests.fleet.roots import RELEASES
from wirelab.fleet.identity import Identity

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# The quickest of the catalogue.
QUICK = ("sfp-flow-control-off", "driver-bound", "backup-pipeline", "sfp-native-2g5", "ftp-2001-firewall")
QUICKEST = "ftp-2001-firewall"

NO_PYTHON = """
mkdir /run/bin
mount --bind /usr/bin /run/bin
mount -t tmpfs none /usr/bin
for file in /run/bin/*; do case "$file" in */python3*) ;; *) /run/bin/ln -s "$file" /usr/bin/ ;; esac; done
"""
NO_VENV = "for folder in /usr/lib/python3.*/ensurepip; do mount -t tmpfs none $folder; done"


@dataclass(frozen=True)
class Fleet:
    """Three workers, and what provision.yml said each time it was run on them."""

    controller: Controller
    hosts: tuple[Host, Host, Host]
    inventory: Path
    checked_fresh: Played
    untouched: bool
    first: Played
    second: Played
    checked: Played


@pytest.fixture(scope="session")
def controller() -> Iterator[Controller]:
    """Where playbooks are called. What is shipped was made before: on their network is no package index."""
    with tempfile.TemporaryDirectory(prefix="wirelab-fleet-") as name:
        folder = Path(name)
        # Its hosts' users come by here.
        folder.chmod(0o755)
        try:
            with Switch(folder, CHECKOUT) as switch:
                machine = Controller(switch, folder)
                make_export(machine, own_python())
                yield machine
                machine.hang_up()
        except CannotError as error:
            pytest.skip(f"no hosts on this machine: {error}")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Which other releases hosts are tried with: each has to be fetched."""
    told = f"a release that workers may have: {', '.join(RELEASES)}; may be repeated"
    parser.addoption("--release", action="append", default=[], choices=list(RELEASES), help=told)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that has a release has those that were asked for."""
    if "release" in metafunc.fixturenames:
        none = pytest.param("", marks=pytest.mark.skip(reason="no --release: make test-releases"), id="none")
        metafunc.parametrize("release", metafunc.config.getoption("release") or [none])


def own_python() -> str:
    """The version of this machine's Python, which is that of hosts without a root of their own."""
    told = subprocess.run(
        ["/usr/bin/python3", "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
        capture_output=True,
        text=True,
        check=True,
    )
    return told.stdout.strip()


def make_export(controller: Controller, python: str) -> None:
    """Make what a worker with that Python is given."""
    identity = Identity.here()
    assert identity.lab, "no lab is built: make lab"
    options = {
        "checkout": str(CHECKOUT),
        "dest": str(controller.exports),
        "python": python,
        "code": identity.code,
        "lab": identity.lab,
    }
    command = Path(sys.executable).with_name("ansible")
    module = ["-M", str(PLAYBOOKS / "library"), "-m", "wirelab_export", "-a", json.dumps(options)]
    done = subprocess.run(
        [str(command), "localhost", *module, "-e", f"ansible_python_interpreter={sys.executable}"],
        env=controller.environ(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="session")
def fleet(controller: Controller) -> Fleet:
    """Three workers that know nothing yet, looked at, made, made again and looked at again."""
    try:
        hosts = tuple(controller.switch.add(name) for name in ("anna", "bert", "cora"))
    except CannotError as error:
        pytest.skip(f"no hosts on this machine: {error}")
    anna, bert, cora = hosts
    # One lab at a time on each, spread over the CPUs that there are.
    cpus = sorted(os.sched_getaffinity(0))
    of_each = {host.name: {"wirelab_cpus": [cpus[n % len(cpus)]]} for n, host in enumerate(hosts)}
    inventory = controller.inventory("fleet", {"workers": hosts}, of_each)
    checked_fresh = controller.play("provision", inventory, "--check")
    untouched = all({path.name for path in host.home.iterdir()} <= {".ansible"} for host in hosts)
    first = controller.play("provision", inventory)
    second = controller.play("provision", inventory)
    checked = controller.play("provision", inventory, "--check")
    return Fleet(controller, (anna, bert, cora), inventory, checked_fresh, untouched, first, second, checked)


@pytest.fixture(scope="session")
def digests(controller: Controller) -> Mapping[str, str]:
    """The digests of the quick scenarios, run on this machine without any playbook."""
    argv = [sys.executable, "-m", "wirelab", "run", *QUICK, "--out", str(controller.folder / "local")]
    file = controller.folder / "local.json"
    done = subprocess.run(
        [*argv, "--json-file", str(file)],
        cwd=controller.folder,
        env=controller.environ(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return {
        document["scenario"]: document["digest"] for document in json.loads(file.read_text(encoding="utf-8"))
    }
