"""The scripts of `selftests/net/packetdrill`, from the kernel source that the lab's kernel is made of."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

from tests.peers.case import FAILED, PASSED, SKIPPED, Case, Ended, Outcome

if TYPE_CHECKING:
    from pathlib import Path

SUITE = "packetdrill"
SELFTESTS = "tools/testing/selftests"
PARTS = tuple(f"{SELFTESTS}/{inner}" for inner in ("kselftest", "net/packetdrill"))
SCRIPTS = "net/packetdrill"
# The runner's own word for the four ways to end.
SKIP = 4
# So many scripts to a lab: each is in a network namespace of its own there.
TOGETHER = 20
WALL_LIMIT_S = 60


def cases(source: Path, program: Path) -> list[Case]:
    """Each script with each version of IP that it is for. ``program`` is packetdrill, statically linked."""
    folder = source / SELFTESTS
    (folder / "bin").mkdir(exist_ok=True)
    shutil.copy2(program, folder / "bin" / "packetdrill")
    argv = ["env", "-C", SCRIPTS, "PATH=/mnt/work/bin:/usr/sbin:/usr/bin", "bash", "ksft_runner.sh"]
    scripts = sorted(file.name for file in (folder / SCRIPTS).glob("*.pkt"))
    return [
        Case(script.removesuffix(".pkt"), folder, [*argv, script], outcome, WALL_LIMIT_S)
        for script in scripts
    ]


def outcome(ended: Ended) -> Outcome:
    """What the runner's lines say: one for each version of IP."""
    if ended.code == SKIP or "# SKIP" in ended.printed:
        return Outcome(SKIPPED, ended.last("ok", "1..0"))
    failed = re.findall(r"^not ok \d+ (.+)$", ended.printed, re.MULTILINE)
    said = re.findall(r"^.+\.pkt:\d+: (?:error|warning|runtime error).*$", ended.printed, re.MULTILINE)
    if ended.code != 0 or failed:
        return Outcome(FAILED, f"{', '.join(failed)}: {said[0] if said else ended.last()}")
    return Outcome(PASSED)
