"""The image as people use it: verdicts, exit codes, files and signals come out as from the program itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.image.box import GID, UID, wait_for_a_lab
from tests.jail.attempts import DENIED, Attempt, of_another_run, of_the_host, of_what_a_lab_is, words
from tests.jail.programs import answers
from tests.lab.rig import SCRIPTS

if TYPE_CHECKING:
    from tests.image.box import Box

HERE = Path(__file__).resolve().parents[2]
DATA = Path(__file__).parent / "data"

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to somebody else")


def outside(name: str, out: Path) -> dict[str, Any]:
    """result.json of a scenario run on this machine, from this tree."""
    argv = [sys.executable, "-m", "wirelab", "run", name, "--json", "--no-cache", "--out", str(out)]
    environ = {**os.environ, "PYTHONPATH": str(HERE / "src")}
    done = subprocess.run(argv, cwd=HERE, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def test_the_digest_is_the_one_outside(box: Box, results: Path, tmp_path: Path) -> None:
    """The same scenario, with its control, to the byte; the result is in the caller's folder."""
    done = box.run("run", "sfp-mismatch", "--json", results=results)
    assert done.returncode == 0, done.stderr
    inside = json.loads(done.stdout)
    assert inside["verdict"] == "pass"
    assert inside["digest"] == outside("sfp-mismatch", tmp_path / "outside")["digest"]
    (kept,) = results.glob("2*-sfp-mismatch/result.json")
    assert json.loads(kept.read_text())["digest"] == inside["digest"]


@needs_root
def test_a_scenario_of_ones_own_fails_as_it_does_outside(box: Box, results: Path) -> None:
    """Mounted beside the results and named by its file. The exit code is that of the verdict.

    All files of the result are the caller's, the path that is printed is good outside.
    """
    mounted = ("--volume", f"{DATA}/impossible.yaml:/impossible.yaml:ro")
    done = box.run("run", "impossible.yaml", results=results, options=mounted)
    assert done.returncode == 1, done.stdout + done.stderr
    (folder,) = (path for path in results.iterdir() if path.name != "latest")
    assert f"results/{folder.name}" in done.stdout.replace("\n  ", "")
    owners = {(path.lstat().st_uid, path.lstat().st_gid) for path in (results, *results.rglob("*"))}
    assert owners == {(UID, GID)}


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (("run", "sfp-mismach"), "unknown scenario `sfp-mismach`; did you mean `sfp-mismatch`?"),
        (("run", "misspelt.yaml"), "misspelt.yaml:6: traffic[0].iperf3.too"),
        (("run", "sfp-mismatch", "--sed", "1"), "no such option"),
    ],
    ids=["name", "file", "option"],
)
def test_bad_input_is_told_as_outside(argv: tuple[str, ...], words: str, box: Box, results: Path) -> None:
    """Exit code 2 and the same message; no result."""
    mounted = ("--volume", f"{DATA}/misspelt.yaml:/misspelt.yaml:ro")
    done = box.run(*argv, results=results, options=mounted)
    assert done.returncode == 2
    assert words in done.stderr
    assert list(results.iterdir()) == []


def test_a_command_has_a_lab_of_its_own(box: Box) -> None:
    """`exec` needs no folder of the caller's at all, also where the root is read-only."""
    done = box.run("exec", "--", "sh", "-c", "uname -s; id -u; exit 7")
    assert (done.stdout.split(), done.returncode) == (["Linux", "0"], 7), done.stderr


def test_the_jail_holds_in_a_container(box: Box, tmp_path: Path) -> None:
    """Root of a lab can list the current folder of the container, and no other: it is confined there, too.

    Nor does it reach what is mounted there for the container, an earlier result among that.
    """
    (kernel,) = (line for line in box.run("lab", "path").stdout.split() if line.endswith("/linux"))
    secret, result = Path("/private/notes.txt"), Path("/earlier/run/result.json")
    options = ["--volume", f"{SCRIPTS}:/scripts:ro", "--workdir", "/scripts"]
    for file in (secret, result):
        seen = tmp_path / file.relative_to("/")
        seen.parent.mkdir(parents=True)
        seen.write_text("mine\n")
        mounted = file.parents[-2]
        options += ["--volume", f"{tmp_path / mounted.name}:{mounted}"]
    for path in (tmp_path, *tmp_path.rglob("*")):
        path.chmod(0o777)
    attempts = of_the_host(Path("/tmp"), secret, Path(kernel))  # noqa: S108 - what it may write to, as a home
    attempts += [*of_what_a_lab_is(Path(kernel)), *of_another_run(result)]
    current: Attempt = ("/scripts", "", "list")
    attack = ("exec", "--", "python3", "-B", "escape.py", *words((*attempts, current)))
    told = answers(box.run(*attack, options=tuple(options)).stdout)
    assert told.pop(words([current])[0]) == 0
    assert list(told) == list(dict.fromkeys(words(attempts)))
    assert {attempt: answer for attempt, answer in told.items() if answer not in DENIED} == {}
    assert [(tmp_path / file.relative_to("/")).read_text() for file in (secret, result)] == ["mine\n"] * 2


@needs_root
def test_results_that_belong_to_somebody_else(box: Box, results: Path) -> None:
    """The message names the folder, who may not write and whose it is, and the option that helps."""
    results.chmod(0o755)
    os.chown(results, UID + 1, GID + 1)
    done = box.run("run", "sfp-mismatch", results=results)
    assert done.returncode == 4
    assert "cannot write results: Permission denied" in done.stderr
    assert f"--user {UID + 1}:{GID + 1}" in done.stderr
    helped = box.run("run", "sfp-mismach", results=results, user=f"{UID + 1}:{GID + 1}")
    assert helped.returncode == 2
    assert list(results.iterdir()) == []


@needs_root
def test_a_folder_that_the_engine_made(box: Box, tmp_path: Path) -> None:
    """Mounting what is not there makes it, and it is root's: the message says how to get it back."""
    done = box.run("run", "sfp-mismatch", results=tmp_path / "not-there", user="")
    assert done.returncode == 4
    assert "cannot write results: Permission denied" in done.stderr
    assert 'sudo chown "$(id -u):$(id -g)"' in done.stderr
    assert '--user "$(id -u):$(id -g)"' in done.stderr


def test_results_that_are_mounted_read_only(box: Box, results: Path) -> None:
    """It is not the disk that is to blame, but the mount."""
    options = ("--volume", f"{results}:/results:ro")
    done = box.run("run", "sfp-mismatch", options=options)
    assert done.returncode == 4
    assert "cannot write results: Read-only file system" in done.stderr
    assert "without `:ro`" in done.stderr


@pytest.mark.parametrize("signal", ["TERM", "INT"])
def test_a_signal_ends_it_and_leaves_nothing(signal: str, box: Box, results: Path) -> None:
    """`docker stop` and Ctrl-C: exit code 130, no half result, no process; the engine need not kill it."""
    name = box.start("run", "sfp-mismatch", results=results)
    try:
        wait_for_a_lab(results)
        box.engine.docker("kill", "--signal", signal, name)
        code = box.engine.docker("wait", name).stdout.strip()
        said = box.engine.docker("logs", name)
        assert code == "130", said.stdout + said.stderr
        assert "interrupted" in said.stderr
        assert list(results.iterdir()) == []
    finally:
        box.remove(name)


def test_a_signal_is_heard_from_the_first_moment(box: Box, results: Path) -> None:
    """Process 1 of a container hears only what it asks for, and wirelab asks late: it is not process 1."""
    name = box.start("run", "sfp-mismatch", results=results)
    try:
        box.engine.docker("stop", "--time", "60", name)
        assert box.inspect(".State.ExitCode", name) in {"130", "143"}
        assert list(results.iterdir()) == []
    finally:
        box.remove(name)


def test_nobody_is_root_and_nobody_may_anything(box: Box, results: Path) -> None:
    """Each process, as the host sees it, while labs run.

    Its user is the caller, it has no capability and can get none, and the engine's seccomp filter is on it.
    """
    name = box.start("run", "sfp-mismatch", results=results)
    try:
        wait_for_a_lab(results)
        pids = [int(line) for line in box.engine.docker("top", name, "-eo", "pid").stdout.split()[1:]]
        statuses = {pid: status for pid in pids if (status := status_of(pid))}
    finally:
        box.remove(name)
    assert len(statuses) > 3
    for status in statuses.values():
        assert status["Uid"].split() == [str(UID)] * 4
        assert status["Gid"].split() == [str(GID)] * 4
        assert {int(status[name], 16) for name in ("CapPrm", "CapEff", "CapBnd", "CapAmb")} == {0}
        assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2")


def status_of(pid: int) -> dict[str, str]:
    """/proc/<pid>/status; empty if it ended meanwhile."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return {}
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}
