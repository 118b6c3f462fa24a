"""Hosts that keep a lab from running: each is told what it forbids, and what helps."""

from __future__ import annotations

import os
import platform
import struct
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from labs import build, build_context, exported
from mounts import in_memory

from wirelab.errors import LabError
from wirelab.lab import doctor, host
from wirelab.lab.first_use import select_or_take
from wirelab.lab.select import select

if TYPE_CHECKING:
    from wirelab.lab.recipe import BuildContext

SOURCE = Path(__file__).resolve().parents[2] / "src"
PTRACE, SECCOMP = 101, 317

# As a container's seccomp profile does it: these system calls are answered with EPERM.
FORBIDDING = """
import ctypes, os, struct, sys
numbers = [int(word) for word in sys.argv[1].split(",")]
code = [struct.pack("HBBI", 0x20, 0, 0, 0)]
for place, number in enumerate(numbers):
    code.append(struct.pack("HBBI", 0x15, len(numbers) - place, 0, number))
code += [struct.pack("HBBI", 0x06, 0, 0, 0x7FFF0000), struct.pack("HBBI", 0x06, 0, 0, 0x00050001)]
text = ctypes.create_string_buffer(b"".join(code))
program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(code), ctypes.addressof(text)))
libc = ctypes.CDLL(None)
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, program, 0, 0) == 0
os.execv(sys.executable, [sys.executable, "-m", "wirelab", *sys.argv[2:]])
"""

# A program that needs no other file of the host, as a lab's kernel is: one segment, and in it exit(1).
EXIT_1 = b"\xb8\x3c\0\0\0\xbf\x01\0\0\0\x0f\x05"
IDENTITY = struct.pack("<4s5B7x", b"\x7fELF", 2, 1, 1, 0, 0)
ELF = IDENTITY + struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, 0x400078, 64, 0, 0, 64, 56, 1, 0, 0, 0)
SEGMENT = struct.pack("<IIQQQQQQ", 1, 5, 0, 0x400000, 0x400000, 132, 132, 4096)

on_x86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="the numbers are those of x86-64")


def forbidding(
    numbers: tuple[int, ...], context: BuildContext, *argv: str
) -> subprocess.CompletedProcess[str]:
    """The command line, on a host that forbids these system calls."""
    return subprocess.run(  # noqa: S603 - the script above
        [sys.executable, "-c", FORBIDDING, ",".join(map(str, numbers)), *argv],
        env={**os.environ, "PYTHONPATH": str(SOURCE), "WIRELAB_CACHE": str(context.cache.root)},
        capture_output=True,
        text=True,
        check=False,
    )


@on_x86
@pytest.mark.parametrize(
    ("numbers", "lines"),
    [
        ((), ("ok      ptrace: allowed", "ok      seccomp: filters are allowed")),
        ((PTRACE,), ("ok      ptrace: Operation not permitted: only the kernels 6.1 and 6.12 need it",)),
        ((SECCOMP,), ("ok      seccomp: Operation not permitted: labs run slower, by ptrace",)),
        (
            (PTRACE, SECCOMP),
            ("MISSING ptrace: Operation not permitted", "MISSING seccomp: Operation not permitted"),
        ),
    ],
    ids=["nothing", "ptrace", "seccomp", "both"],
)
def test_doctor_tells_what_is_forbidden(
    numbers: tuple[int, ...], lines: tuple[str, ...], here: BuildContext
) -> None:
    """By trying it: a lab needs one of the two, so only a host that forbids both lacks something."""
    told = forbidding(numbers or (511,), here, "doctor").stdout.splitlines()
    for line in lines:
        assert line in told
        if line.startswith("MISSING"):
            assert "--cap-add SYS_PTRACE" in told[told.index(line) + 1]


@on_x86
def test_a_lab_that_may_not_run_says_why(here: BuildContext) -> None:
    """Not the last words of a kernel, but what the host forbids and what allows it."""
    done = forbidding((PTRACE, SECCOMP), here, "exec", "true")
    assert done.returncode == 4
    error, hint = done.stderr.splitlines()
    assert error == (
        "error: the lab cannot run: this host forbids both seccomp filters (Operation not permitted) and "
        "ptrace (Operation not permitted): a lab needs one of them"
    )
    assert hint.startswith(
        "hint: sudo sysctl kernel.yama.ptrace_scope=1; in a container: --cap-add SYS_PTRACE"
    )


@on_x86
def test_a_lab_that_breaks_where_all_is_allowed_is_no_fault_of_the_host(tmp_path: Path) -> None:
    """Then the message is about the lab."""
    context = build(build_context(tmp_path / "cache"), ELF + SEGMENT + EXIT_1)
    done = forbidding((511,), context, "exec", "true")
    assert "error: the lab ended without a status" in done.stderr


def test_another_processor_is_named() -> None:
    """As uname(2) says it."""
    lack = host.processor_lack("aarch64")
    assert lack
    assert (lack.message, lack.fix) == (
        "a lab is an x86-64 program, and this processor is aarch64",
        "use an x86-64 machine",
    )
    assert host.processor_lack("x86_64") is None


def test_a_kernel_of_another_processor_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the kernel of the host refuses to start is told with the reason, not with a number."""
    foreign = b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x02\x00\xb7\x00" + bytes(44)
    context = build(build_context(tmp_path / "cache"), foreign)
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    monkeypatch.setenv("WIRELAB_CACHE", str(context.cache.root))
    findings = {finding.name: finding for finding in doctor.examine()}
    assert findings["processor"].fix == "use an x86-64 machine"
    done = forbidding((511,), context, "exec", "true")
    assert done.returncode == 4
    assert "error: the lab could not be started: [Errno 8] Exec format error" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_cache_that_lets_nothing_be_executed_is_named(here: BuildContext, tmp_path: Path) -> None:
    """With the disk: what is taken there could not run. Doctor sees it before anything is built."""
    file = tmp_path / "lab.tar"
    file.write_bytes(exported(here))
    with in_memory(tmp_path / "home", "size=64m,noexec") as home:
        environ = {"WIRELAB_CACHE": str(home / "cache"), "WIRELAB_LAB": str(file)}
        (finding,) = (finding for finding in doctor.examine(environ) if finding.name == "cache")
        assert finding.detail.startswith(f"{home} does not let programs be executed")
        for _ in range(2):
            with pytest.raises(LabError, match=rf"linux cannot run: {home} is mounted noexec") as caught:
                select_or_take(environ=environ, say=lambda _: None)
            assert caught.value.hint == "set WIRELAB_CACHE to a folder that is not mounted noexec"


def test_a_home_that_is_read_only_is_named(here: BuildContext, tmp_path: Path) -> None:
    """A lab cannot be taken there: which variable to set. One that is there can be used."""
    file = tmp_path / "lab.tar"
    file.write_bytes(exported(here))
    with in_memory(tmp_path / "home", "size=64m") as home:
        environ = {"WIRELAB_CACHE": str(home / "cache"), "WIRELAB_LAB": str(file)}
        subprocess.run(["mount", "-o", "remount,ro", str(home)], check=True)  # noqa: S603, S607 - our own
        with pytest.raises(LabError, match=rf"{home}/cache: Read-only file system") as caught:
            select_or_take(environ=environ, say=lambda _: None)
        assert caught.value.hint == "set WIRELAB_CACHE to a folder on a disk that can be written"
        (finding,) = (finding for finding in doctor.examine(environ) if finding.name == "cache")
        assert (finding.detail, finding.fix) == (
            f"{home} is read-only",
            "set WIRELAB_CACHE to a folder of yours",
        )
        subprocess.run(["mount", "-o", "remount,rw", str(home)], check=True)  # noqa: S603, S607 - our own
        lab = select_or_take(environ=environ, say=lambda _: None)
        subprocess.run(["mount", "-o", "remount,ro", str(home)], check=True)  # noqa: S603, S607 - our own
        assert select(environ=environ) == lab
        with lab.in_use():
            pass
