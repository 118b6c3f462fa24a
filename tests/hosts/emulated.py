"""A whole emulated machine, processor and all: an installed system in its memory, on Debian's own kernel."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.hosts.systems import HOME, USER_ID

if TYPE_CHECKING:
    from pathlib import Path

    from tests.hosts.systems import System

KERNEL_PACKAGE = "linux-image-cloud-amd64"
MEMORY_MIB = 5120

# The first process of the machine: it runs a command as the user, and switches off.
INIT = """\
#!/usr/bin/PYTHON
# Named here.
import ctypes, os, subprocess, time
for kind, where in (("proc", "/proc"), ("sysfs", "/sys"), ("devtmpfs", "/dev"), ("tmpfs", "/tmp")):
    subprocess.run(["mount", "-t", kind, "none", where], check=True)
os.chmod("/tmp", 0o1777)
as_user = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups"]
ENVIRONMENT = {"HOME": HOME, "PATH": "/usr/bin:/bin", "TERM": "dumb", "COLUMNS": "200"}
for argv in COMMANDS:
    begun_s = time.monotonic()
    done = subprocess.run([*as_user, *argv], cwd=HOME, env=ENVIRONMENT)
    print(f"\\nENDED {done.returncode} {time.monotonic() - begun_s:.1f}", flush=True)
ctypes.CDLL(None).reboot(0x4321FEDC)
"""


@dataclass(frozen=True)
class Ended:
    """How a command ended, and how long it took by the clock of the machine."""

    code: int
    wall_s: float


class EmulatorError(Exception):
    """There is no emulator here."""


def run(
    system: System, python: str, folder: Path, commands: list[list[str]], wall_limit_s: float
) -> tuple[str, list[Ended]]:
    """Run commands one after the other, as the user. Returns what the console showed, and how each ended.

    Raises EmulatorError where there is no emulator; an emulated machine must come to its end, and in time.
    """
    named = "\n".join((f"HOME, USER = {HOME!r}, {USER_ID}", f"COMMANDS = {commands!r}"))
    (system.root / "init").write_text(INIT.replace("# Named here.", named).replace("PYTHON", python))
    (system.root / "init").chmod(0o755)
    (kernel,) = (system.root / "boot").glob("vmlinuz-*")
    image = packed(system.root, folder / "root.cpio")
    argv = ["qemu-system-x86_64", "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2"]
    argv += ["-m", str(MEMORY_MIB), "-nodefaults", "-display", "none", "-serial", "stdio", "-no-reboot"]
    argv += ["-kernel", str(kernel), "-initrd", str(image), "-append", "console=ttyS0 panic=-1 quiet"]
    try:
        done = subprocess.run(
            argv, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=wall_limit_s
        )
    except FileNotFoundError as error:
        raise EmulatorError("there is none: apt-get install qemu-system-x86") from error
    console = done.stdout.decode(errors="replace")
    told = re.findall(r"^ENDED (-?\d+) ([\d.]+)\r?$", console, re.MULTILINE)
    assert len(told) == len(commands), f"{console}{done.stderr.decode(errors='replace')}"
    return console, [Ended(int(code), float(wall_s)) for code, wall_s in told]


def packed(root: Path, image: Path) -> Path:
    """A folder as what a kernel unpacks into its memory: an archive of cpio's "new" format."""
    names = subprocess.run(["find", ".", "-print0"], cwd=root, check=True, capture_output=True).stdout
    with image.open("wb") as out:
        argv = ["cpio", "--null", "--create", "--format=newc", "--quiet"]
        subprocess.run(argv, cwd=root, input=names, stdout=out, check=True)
    return image
