"""The command line as its users have it: a process with an exit code, and never a traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from standin import SCENARIO, SOURCE, Wirelab, results_in

from wirelab.cli.app import app
from wirelab.cli.commands import COMMANDS
from wirelab.plan.types import Plan


@pytest.fixture
def wirelab(tmp_path: Path) -> Wirelab:
    """The command line in a folder with ``lossy.yaml``."""
    return Wirelab.make(tmp_path)


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (("run", "sfp-mismach"), "error: unknown scenario `sfp-mismach`; did you mean `sfp-mismatch`?"),
        (("run", "nothing.yaml"), "error: nothing.yaml: "),
        (("run", "spf-*"), "error: unknown scenario `spf-*`; "),
        (("run", "lossy.yaml", "--sede", "1"), "error: no such option: --sede"),
        (("run", "lossy.yaml", "--seed", "-1"), "error: invalid value for '--seed': "),
        (
            ("run", "lossy.yaml", "-j", "x"),
            "error: invalid value for '--jobs' / '-j': expected a whole number\n",
        ),
        (("run", "lossy.yaml", "--kernel", "no/linux"), "error: no/linux: no such file"),
        (("run", "lossy.yaml", "--kernel", "/bin/true", "--root", "no"), "error: no: no such folder"),
        (("exec", "--seed", "4294967296", "true"), "error: invalid value for '--seed': "),
        (("exec", "--cpu", "9999", "true"), "error: --cpu 9999: not a CPU that this process may use: "),
        (("plan", "sfp-mismatch", "--variant", "mian"), "error: unknown variant or control `mian`"),
        (("validate", "nothing.yaml"), "error: nothing.yaml: "),
        (
            ("schema", "foo"),
            "error: invalid value for 'scenario|topology|parts|exercise': `foo` is none of scenario, ",
        ),
        (("rnu",), "error: no such command 'rnu'"),
    ],
)
def test_bad_input(argv: tuple[str, ...], message: str, wirelab: Wirelab) -> None:
    """Exit code 2, a message that names it, and nothing run or written."""
    code, out, err = wirelab(*argv)
    assert (code, out) == (2, "")
    assert err.startswith(message)
    assert not wirelab.results.exists()


def test_every_problem_is_told_before_anything_runs(wirelab: Wirelab) -> None:
    """Of all files at once, each with its line."""
    for name, wrong in (("a", "topolgy: sfp-home"), ("b", "topology: sfp-hom")):
        text = SCENARIO.replace("topology: sfp-home", wrong)
        (wirelab.folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    code, _, err = wirelab.run("a.yaml", "lossy.yaml", "b.yaml")
    assert code == 2
    assert "error: a.yaml:5: topolgy: " in err
    assert "error: b.yaml:5: topology: unknown topology `sfp-hom`; did you mean `sfp-home" in err
    assert not wirelab.results.exists()


def test_without_a_lab(wirelab: Wirelab) -> None:
    """No kernel built: exit code 4, and the command that builds it."""
    code, _, err = wirelab("run", "lossy.yaml")
    assert code == 4
    assert err.endswith("hint: wirelab lab build\n")
    assert not wirelab.results.exists()


def test_results_that_cannot_be_written(wirelab: Wirelab) -> None:
    """Exit code 4 before any lab is switched on, with the path and what to do."""
    code, _, err = wirelab.run("lossy.yaml", "--out", "/proc/results")
    assert code == 4
    assert err.startswith("error: /proc/results: cannot write results: ")
    assert not wirelab.lab.pid_file("main").exists()


def test_a_link_that_cannot_be_made_loses_no_result(wirelab: Wirelab) -> None:
    """The report is printed and the result is there; the error names what could not be done."""
    (wirelab.results / "latest" / "lossy").mkdir(parents=True)
    code, out, err = wirelab.run("lossy.yaml")
    assert code == 4
    assert out.splitlines()[-1].startswith("lossy: pass")
    assert "latest/lossy: cannot write results: " in err
    assert len(results_in(wirelab.results)) == 1


def test_validate(wirelab: Wirelab) -> None:
    """A sound file is ok; problems of the others are told all the same."""
    assert wirelab("validate", "lossy.yaml") == (0, "lossy.yaml: ok\n", "")
    (wirelab.folder / "bad.yaml").write_text(SCENARIO.replace("2 s", "2"), encoding="utf-8")
    code, out, err = wirelab("validate", "bad.yaml", "lossy.yaml")
    assert (code, out) == (2, "lossy.yaml: ok\n")
    assert err.count("error: bad.yaml:") == 2


def test_validate_takes_the_names_that_other_commands_take(wirelab: Wirelab) -> None:
    """Of a scenario or an exercise; of what nothing is called so it tells the nearest."""
    assert wirelab("validate", "sfp-mismatch", "shallow-buffer")[:2] == (
        0,
        "sfp-mismatch: ok\nshallow-buffer: ok\n",
    )
    code, _, err = wirelab("validate", "shallow-bufer")
    assert (code, err) == (
        2,
        "error: unknown file, scenario or exercise `shallow-bufer`; did you mean `shallow-buffer`?\n",
    )


def test_list_shows_what_can_be_run(wirelab: Wirelab) -> None:
    """What is shipped, and what is in scenarios/ here; with the first sentence of its story."""
    code, out, _ = wirelab("list")
    assert code == 0
    assert any(line.startswith("sfp-mismatch   ") for line in out.splitlines())
    (wirelab.folder / "scenarios").mkdir()
    (wirelab.folder / "scenarios" / "lossy.yaml").write_text(SCENARIO, encoding="utf-8")
    code, out, _ = wirelab("list", "--json")
    entry = next(scenario for scenario in json.loads(out) if scenario["name"] == "lossy")
    assert entry == {
        "name": "lossy",
        "file": str(wirelab.folder / "scenarios" / "lossy.yaml"),
        "topology": "sfp-home",
        "variants": ["main"],
        "controls": ["deep"],
        "story": entry["story"],
        "virtual_s": entry["virtual_s"],
        "wall_s": None,
    }
    assert 2 * 4 < entry["virtual_s"] < 2 * 8


def test_list_is_not_stopped_by_a_bad_file(wirelab: Wirelab) -> None:
    """The others are listed, the problem is told, exit code 2."""
    (wirelab.folder / "scenarios").mkdir()
    (wirelab.folder / "scenarios" / "bad.yaml").write_text("name: [", encoding="utf-8")
    code, out, err = wirelab("list")
    assert code == 2
    assert "sfp-mismatch" in out
    assert "bad.yaml:1" in err


def test_plan_shows_commands_or_the_plan(wirelab: Wirelab) -> None:
    """Lines to type on real equipment; --json is a Plan that reads back."""
    code, out, _ = wirelab("plan", "lossy.yaml", "--variant", "deep")
    assert code == 0
    assert "tc qdisc replace dev module-line root bfifo limit 65536" in out
    code, out, _ = wirelab("plan", "lossy.yaml", "--json", "--seed", "3")
    assert code == 0
    plan = Plan.from_json(out)
    assert (plan.variant, plan.seed, plan.to_json()) == ("main", 3, out)


@pytest.mark.parametrize("kind", ["scenario", "topology", "parts"])
def test_schema(kind: str, wirelab: Wirelab) -> None:
    """A JSON Schema document for each kind of file."""
    code, out, _ = wirelab("schema", kind)
    assert code == 0
    assert json.loads(out)["$schema"].startswith("https://json-schema.org/")


def test_doctor_names_what_is_missing(wirelab: Wirelab) -> None:
    """With an empty cache there is no kernel: exit code 4 and the line that fixes it."""
    code, out, _ = wirelab("doctor")
    assert code == 4
    assert "MISSING lab kernel: not built from these sources\n        wirelab lab build\n" in out


def test_version_and_help(wirelab: Wirelab) -> None:
    """The version, that there is no lab, and what would confine one; without a command, which there are."""
    code, out, _ = wirelab("--version")
    assert code == 0
    version, lab, jail = out.splitlines()
    assert version.startswith("wirelab 0.")
    assert lab.startswith("no lab: ")
    assert lab.endswith(" (wirelab lab build)")
    assert jail.startswith("jail: ")
    _, out, err = wirelab()
    commands = ("run", "list", "validate", "plan", "schema", "doctor", "lab", "exec")
    assert all(f"  {command} " in out + err for command in commands)


@pytest.mark.parametrize("argv", [("list",), ("plan", "sfp-mismatch"), ("schema",), ("run", "lossy.yaml")])
def test_a_reader_that_goes_away(argv: tuple[str, ...], wirelab: Wirelab) -> None:
    """A closed pipe, as with `| head`, is no error that anybody has to read about."""
    reader, writer = os.pipe()
    os.close(reader)
    options = wirelab.lab.options if argv[0] == "run" else []
    process = wirelab.start(*argv, *options, stdout=writer)
    os.close(writer)
    _, err = process.communicate(timeout=120)
    assert err == ""
    assert process.returncode in (0, 141)


def raised(statement: str, folder: Path) -> tuple[int, str]:
    """The exit code and the messages of a command that does what ``statement`` says."""
    script = (
        "import sys\n"
        "from wirelab.cli.errors import exit_code_of\n"
        "from wirelab.errors import LabError, SkipError\n"
        "def command():\n"
        f"    {statement}\n"
        "sys.exit(exit_code_of(command))\n"
    )
    done = subprocess.run(  # noqa: S603 - the script above
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": str(SOURCE), "WIRELAB_CACHE": str(folder), "TMPDIR": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stderr


def test_what_the_system_refuses_is_no_mistake_of_ours(tmp_path: Path) -> None:
    """A full disk below the output, a folder that is closed: the path and what to do, nothing to report."""
    assert raised("import errno; raise OSError(errno.ENOSPC, 'No space left on device')", tmp_path) == (
        4,
        "error: the output: No space left on device\nhint: the disk is full: make room\n",
    )
    code, err = raised("raise PermissionError(13, 'Permission denied', '/root/scenarios')", tmp_path)
    assert (code, err.splitlines()[0]) == (4, "error: /root/scenarios: Permission denied")


@pytest.mark.parametrize("command", ["validate", "run", "plan", "explain", "summary"])
def test_a_name_that_no_file_can_have_is_the_name_of_none(wirelab: Wirelab, command: str) -> None:
    """Linux refuses to look for one of more than 255 bytes; no name at all is none, too."""
    for name in ("n" * 300, f"folder/{'n' * 300}", ""):
        code, _, err = wirelab(command, name)
        assert code == 2, err


def test_a_folder_that_was_removed_is_told(tmp_path: Path) -> None:
    """Whatever the first error is that comes of it."""
    code, err = raised("import os; os.mkdir('x'); os.chdir('x'); os.rmdir('../x'); os.getcwd()", tmp_path)
    assert (code, err) == (2, "error: the current folder was removed\nhint: cd to one that is there\n")


@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_stream_that_is_closed_leads_nowhere(number: int, tmp_path: Path) -> None:
    """Cron jobs and engines may start us without one; no file that is opened later takes its place."""
    script = (
        "import os, sys\n"
        "from wirelab.cli.errors import exit_code_of\n"
        "def command():\n"
        "    with open(sys.argv[1], 'w') as file:\n"
        "        assert file.fileno() > 2\n"
        "        print('for people'), print('for people', file=sys.stderr), sys.stdin.read()\n"
        "sys.exit(exit_code_of(command))\n"
    )
    argv = ["sh", "-c", f'exec "$@" {number}>&-', "sh", sys.executable, "-c", script, str(tmp_path / "file")]
    done = subprocess.run(  # noqa: S603 - the scripts above
        argv,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "file").read_text(encoding="utf-8") == ""


def test_a_mistake_of_our_own_is_no_traceback(tmp_path: Path) -> None:
    """Exit code 4, one line, and a file with the traceback for the report."""
    code, err = raised("1 / 0", tmp_path)
    assert code == 4
    first, hint = err.splitlines()
    assert first == "error: this should not have happened: ZeroDivisionError: division by zero"
    log = Path(hint.removeprefix("hint: please report it with "))
    assert "ZeroDivisionError" in log.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("statement", "code", "message"),
    [
        ("raise LabError('broken', hint='mend it')", 4, "error: broken\nhint: mend it\n"),
        ("raise SkipError('not here')", 3, "skip: not here\n"),
        ("raise KeyboardInterrupt", 130, "interrupted\n"),
        ("return 1", 1, ""),
        ("return None", 0, ""),
    ],
)
def test_exit_codes(statement: str, code: int, message: str, tmp_path: Path) -> None:
    """What is raised becomes a message and a number."""
    assert raised(statement, tmp_path) == (code, message)


def test_a_command_is_imported_when_it_is_asked_for() -> None:
    """Whoever asks for the version waits for no command; each is where the list says, by its own name."""
    argv = [sys.executable, "-c", "import sys, wirelab.cli.app; print(*sys.modules)"]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)  # noqa: S603 - this Python
    assert "wirelab.cli.commands" in done.stdout.split()
    assert not {place.partition(":")[0] for place in COMMANDS.values()} & set(done.stdout.split())
    found: Any = typer.main.get_command(app)
    assert {name: command.name for name, command in found.commands.items()} == {
        name: name for name in COMMANDS
    }
