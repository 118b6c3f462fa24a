"""cgroups where scripts look for them: those of version 1 that Mininet's hosts ask for, and version 2."""

from collections.abc import Iterator
from pathlib import Path

from wirelab.guest.shell import run

_ROOT = Path("/sys/fs/cgroup")
_CONTROLLERS = Path("/proc/cgroups")
_FSTAB = Path("/run/wirelab/cgroups.fstab")

# Of version 1, what `CPULimitedHost` asks for, grouped as distributions did; the rest is left to version 2.
_HIERARCHIES = (("cpu", "cpuacct"), ("cpuset",))


def mount() -> None:
    """Mount them below /sys/fs/cgroup, version 2 as ``unified``, each controller by its own name too.

    Raises CommandError if the kernel does not; one that was built without them has none.
    """
    if not _CONTROLLERS.exists():
        return
    known = {line.split()[0] for line in _CONTROLLERS.read_text().splitlines() if not line.startswith("#")}
    groups = [kept for group in _HIERARCHIES if (kept := [name for name in group if name in known])]
    _FSTAB.write_text("".join(_lines(groups)))
    run(["mount", "-a", "--fstab", str(_FSTAB)])
    for group in groups:
        for name in group if len(group) > 1 else ():
            (_ROOT / name).symlink_to(",".join(group))


def _lines(groups: list[list[str]]) -> Iterator[str]:
    """What fstab(5) would say. Mininet looks for the word `cgroup` before the folder."""
    yield f"tmpfs {_ROOT} tmpfs mode=0755 0 0\n"
    for group in groups:
        names = ",".join(group)
        source = "cpuset" if group == ["cpuset"] else "cgroup"
        yield f"{source} {_ROOT}/{names} cgroup {names},x-mount.mkdir 0 0\n"
    yield f"cgroup2 {_ROOT}/unified cgroup2 x-mount.mkdir 0 0\n"
