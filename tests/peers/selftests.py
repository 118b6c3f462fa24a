"""The programs of `selftests/net`, from the kernel source that the lab's kernel is made of."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from tests.peers.case import FAILED, PASSED, SKIPPED, Case, Ended, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator

SUITE = "selftests-net"
COLLECTION = "net"
# What of the source they are compiled of, and the files that say what the kernel calls its modules.
PARTS = (
    *("Makefile", "MAINTAINERS", "Documentation/netlink", "arch/x86", "include", "scripts", "tools", "usr"),
    *("crypto/*Makefile", "lib/*Makefile", "net/*Makefile", "drivers/net/*Makefile"),
)
MODULE = re.compile(r"^obj-\$\((CONFIG_\w+)\)\s*\+?=((?:.*\\\n)*.*)$", re.MULTILINE)
# Some start a program ten thousand times, or send for half a minute without a pause; test_vxlan_mdb.sh
# alone takes an hour and a quarter.
WALL_LIMIT_S = 3 * 3600
RUNNER = Path(__file__).with_suffix(".sh")


def installed(source: Path, folder: Path) -> Path:
    """Compile the programs, and install them with their scripts as the kernel's own makefiles do."""
    targets = f"TARGETS={COLLECTION} {COLLECTION}/lib"
    make = ["make", f"--jobs={len(os.sched_getaffinity(0))}", "--silent"]
    subprocess.run([*make, "-C", source, "headers"], check=True)
    # What this machine cannot compile does not keep the others from being run: its own test fails.
    selftests = [*make, "--keep-going", "-C", f"{source}/tools/testing/selftests", targets]
    # A virtual environment lacks what the kernel's scripts import of this machine's Python.
    environment = {**os.environ, "PATH": os.defpath}
    subprocess.run([*selftests, "install", f"INSTALL_PATH={folder}"], env=environment, check=False)
    assert any((folder / COLLECTION).glob("*.sh")), "no script was installed; make has printed why"
    shutil.copy2(RUNNER, folder)
    (folder / "modules.txt").write_text("".join(f"{line}\n" for line in sorted(set(modules(source)))))
    return folder


def modules(source: Path) -> Iterator[str]:
    """The option that each module of the network is built with, and what the module's file is called."""
    for file in source.glob("*/**/Makefile"):
        if file.is_relative_to(source / "tools"):
            continue
        for option, objects in MODULE.findall(file.read_text(encoding="utf-8")):
            for name in objects.replace("\\\n", " ").split():
                if name.endswith(".o"):
                    place = file.parent.relative_to(source) / name
                    yield f"{option} kernel/{place.with_suffix('.ko')}"


def cases(folder: Path) -> list[Case]:
    """Each program of the list that was installed."""
    listed = (folder / "kselftest-list.txt").read_text(encoding="utf-8").split()
    return [
        Case(line.partition(":")[2], folder, ["bash", RUNNER.name, line], outcome, WALL_LIMIT_S)
        for line in sorted(listed)
    ]


def outcome(ended: Ended) -> Outcome:
    """What the kernel's runner says of the one program, and what that said last."""
    verdict = ended.last("ok 1 ", "not ok 1 ")
    said = re.findall(r"^# (.*\S)$", ended.printed.rpartition(verdict)[0], re.MULTILINE) if verdict else []
    last = said[-1] if said else ended.last()
    if verdict.startswith("ok 1 "):
        return Outcome(SKIPPED, last) if "# SKIP" in verdict else Outcome(PASSED)
    return Outcome(FAILED, last)
