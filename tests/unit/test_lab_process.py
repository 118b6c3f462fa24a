"""Programs on the host: logged, explained when they fail, ended with us."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from wirelab.errors import LabError
from wirelab.lab.process import output, run

PATIENCE_S = 20.0


def test_the_log_has_the_command_and_its_messages(tmp_path: Path) -> None:
    """Both streams in the order they were written, after the command as one would type it."""
    log = tmp_path / "log"
    seen: list[str] = []
    run(["sh", "-c", "echo one; echo two >&2"], log=log, on_line=seen.append)
    assert log.read_text() == "$ sh -c 'echo one; echo two >&2'\none\ntwo\n"
    assert seen == ["one", "two"]


def test_a_log_is_continued(tmp_path: Path) -> None:
    """The steps of one build share a log."""
    log = tmp_path / "log"
    run(["echo", "one"], log=log)
    run(["echo", "two"], log=log)
    assert log.read_text() == "$ echo one\none\n$ echo two\ntwo\n"


def test_a_product_is_no_message(tmp_path: Path) -> None:
    """With ``stdout`` the output goes there and only messages go to the log."""
    with (tmp_path / "product").open("wb") as product:
        run(["sh", "-c", "echo product; echo message >&2"], log=tmp_path / "log", stdout=product)
    assert (tmp_path / "product").read_text() == "product\n"
    assert (tmp_path / "log").read_text().splitlines()[1:] == ["message"]


def test_a_failure_names_log_last_lines_and_hint(tmp_path: Path) -> None:
    """What a person needs to go on: what failed, how, its last words, where the rest is, what to do."""
    log = tmp_path / "log"
    with pytest.raises(LabError) as caught:
        run(["sh", "-c", "seq 100; exit 3"], log=log, hint="count less")
    lines = caught.value.message.splitlines()
    assert lines[0] == "`sh -c` ended with exit code 3"
    assert lines[1:-1] == [f"  {number}" for number in range(89, 101)]
    assert lines[-1] == f"the whole log: {log}"
    assert caught.value.hint == "count less"


def test_a_signal_is_named(tmp_path: Path) -> None:
    """A compiler that the kernel killed for want of memory says nothing itself."""
    with pytest.raises(LabError, match="was ended by SIGKILL"):
        run(["sh", "-c", "kill -KILL $$"], log=tmp_path / "log")


def test_a_full_disk_is_recognised(tmp_path: Path) -> None:
    """Whatever the step's own hint is, a full disk is the thing to mend."""
    with pytest.raises(LabError) as caught:
        run(["dd", "if=/dev/zero", "of=/dev/full", "count=1"], log=tmp_path / "log", hint="read the log")
    assert "disk is full" in (caught.value.hint or "")


def test_a_missing_program_is_named(tmp_path: Path) -> None:
    """Not a traceback but what is missing and who knows where it comes from."""
    with pytest.raises(LabError, match="cannot run `no-such-program`: No such file") as caught:
        run(["no-such-program", "x"], log=tmp_path / "log")
    assert "doctor" in (caught.value.hint or "")


def test_output_is_told_and_failures_are_explained() -> None:
    """``output`` returns standard output alone; its error has the program's own complaint."""
    assert output(["sh", "-c", "echo told; echo noise >&2"]) == "told\n"
    with pytest.raises(LabError, match="complaint"):
        output(["sh", "-c", "echo told; echo complaint >&2; exit 1"])
    assert output(["sh", "-c", "echo told; exit 1"], check=False) == "told\n"


def test_programs_speak_one_language(monkeypatch: pytest.MonkeyPatch) -> None:
    """What apt, tar or dpkg say is understood on a German machine, too."""
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    assert output(["sh", "-c", "echo $LC_ALL"]) == "C\n"


PARENT = """
import sys
from pathlib import Path
from wirelab.lab.process import run
run(["sh", "-c", "echo $$ > " + sys.argv[1] + "/pid; exec sleep 600"], log=Path(sys.argv[1]) / "log")
"""


def started(folder: Path) -> int:
    """The process that PARENT started."""
    deadline_s = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline_s:
        if (folder / "pid").exists() and (text := (folder / "pid").read_text().strip()):
            return int(text)
        time.sleep(0.01)
    pytest.fail("the program did not start")


def has_ended(pid: int) -> bool:
    """Whether a process ends within a while. One that nobody has waited for has ended too."""
    deadline_s = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline_s:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.01)
    return False


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_program_ends_with_us(tmp_path: Path, number: signal.Signals) -> None:
    """However a build is ended, the compiler it started does not go on alone."""
    argv = [sys.executable, "-c", PARENT, str(tmp_path)]
    with subprocess.Popen(argv, stderr=subprocess.DEVNULL) as parent:  # noqa: S603 - our own Python
        child = started(tmp_path)
        os.kill(parent.pid, number)
    assert has_ended(child)
