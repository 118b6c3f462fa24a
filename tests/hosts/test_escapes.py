"""Breaking out of a lab on those systems, as their user: `make test-hosts`. Each attempt is refused."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.hosts.systems import HOME, WIRELAB
from tests.jail.attempts import (
    ANSWERS,
    DENIED,
    Attempt,
    of_another_run,
    of_the_host,
    of_what_a_lab_is,
    words,
)
from tests.jail.programs import answers, compiled
from tests.lab.rig import SCRIPTS
from wirelab.lab import host

if TYPE_CHECKING:
    from tests.hosts.systems import System

pytestmark = pytest.mark.skipif(not host.landlock_abi(), reason="this host has no Landlock")

SECRET = Path(HOME, "private", "notes.txt")
RESULT = Path(HOME, "earlier", "result.json")
# Where `exec` is called, below the home of that user.
FOLDER = "attack"
WORK = f"{HOME}/{FOLDER}"


def lab_kernel(system: System) -> Path:
    """The lab's kernel, as it is called there; the first lab takes it out of its wheel."""
    assert system.call(WIRELAB, "exec", "--", "uname", "-s") == "Linux\n"
    (kernel,) = system.home.glob(".cache/wirelab/kernel/*/linux")
    return Path("/", kernel.relative_to(system.root))


def test_root_of_a_lab_reaches_nothing_of_its_host(system: System) -> None:
    """It mounts any folder and finds it closed, also what its user may read and write; the lab works on."""
    kernel = lab_kernel(system)
    for path in (SECRET, RESULT):
        system.give(str(path.relative_to(HOME)), b"mine\n")
    system.give(f"{FOLDER}/escape.py", (SCRIPTS / "escape.py").read_bytes())
    attempts = of_the_host(Path(HOME), SECRET, kernel) + of_what_a_lab_is(kernel) + of_another_run(RESULT)
    attacker = ("--", "python3", "-B", "escape.py")
    told = answers(system.call(WIRELAB, "exec", *attacker, *words(attempts), folder=WORK))
    assert list(told) == list(dict.fromkeys(words(attempts)))
    assert {attempt: answer for attempt, answer in told.items() if answer not in DENIED} == {}
    for path in (SECRET, RESULT):
        seen = system.home / path.relative_to(HOME)
        assert (seen.read_bytes(), list(seen.parent.iterdir())) == (b"mine\n", [seen])
    # It is the jail that has refused.
    known: Attempt = (SECRET.parent, SECRET.name, "read")
    told = answers(system.call(WIRELAB, "exec", "--without-jail", *attacker, *words([known]), folder=WORK))
    assert set(told.values()) == {0}


def test_a_kernel_that_was_taken_over_reaches_nothing_of_its_host(system: System, tmp_path: Path) -> None:
    """A program in its place asks the host directly: for sockets, signals, namespaces, for files."""
    system.give(f"{FOLDER}/taken", compiled("taken", tmp_path).read_bytes(), 0o755)
    system.give(str(SECRET.relative_to(HOME)), b"mine\n")
    ways = ("read", "change", "unlink", "truncate", "neither", "empty", "empty-neither")
    files = [(how, path) for how in ways for path in (SECRET, Path("/etc/passwd"), Path("/dev/mem"))]
    files += [("list", Path(path)) for path in ("/", "/proc", "/dev", HOME)]
    files += [
        ("make", SECRET.with_name("new")),
        ("execute", Path("/bin/sh")),
        ("read", Path("/proc/1/environ")),
    ]
    system.give(f"{FOLDER}/files", "".join(f"{how} {path}\n" for how, path in files).encode())
    told = answers(system.call(WIRELAB, "exec", "--kernel", "taken", "--", "anything", folder=WORK))
    assert {name: told[name] for name in ANSWERS} == ANSWERS
    refused = {f"{how}:{path}": told[f"{how}:{path}"] for how, path in files}
    assert {name: answer for name, answer in refused.items() if answer not in DENIED} == {}
    assert (system.home / SECRET.relative_to(HOME)).read_bytes() == b"mine\n"
