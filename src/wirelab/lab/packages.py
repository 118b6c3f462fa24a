"""The programs of the host that a build needs, the Debian package each comes from, and how to get them.

Standard library only: ``python3 -m wirelab.lab.packages GROUP...`` makes the virtual environment possible.
"""

import glob
import importlib.util
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from wirelab.errors import LabError, WirelabError
from wirelab.lab.process import call, output


@dataclass(frozen=True)
class Need:
    """Something a build needs, and how to see that it is there: a command, a file or a Python module."""

    package: str
    purpose: str
    command: str | None = None
    file: str | None = None
    module: str | None = None
    some_releases: bool = False
    """Elsewhere, what it is for comes with another package of its group, and apt knows none of its name."""

    @property
    def is_met(self) -> bool:
        """Whether it is there, wherever it came from."""
        return (
            (self.command is None or shutil.which(self.command) is not None)
            and (self.file is None or bool(glob.glob(self.file)))  # noqa: PTH207 - an absolute pattern
            and (self.module is None or importlib.util.find_spec(self.module) is not None)
        )


KEYRING_FILE = "/usr/share/keyrings/debian-archive-keyring.gpg"
KEYRING = Need("debian-archive-keyring", "check Debian's signature", file=KEYRING_FILE)
KERNEL = (
    Need("gcc", "compile the lab kernel", command="gcc"),
    Need("libc6-dev", "link it into one static file", file="/usr/lib/x86_64-linux-gnu/libc.a"),
    Need("make", "build the lab kernel", command="make"),
    Need("flex", "read its configuration", command="flex"),
    Need("bison", "read its configuration", command="bison"),
    Need("bc", "compute its time constants", command="bc"),
    Need("xz-utils", "unpack its source", command="xz"),
    Need("patch", "apply the lab's patches", command="patch"),
    KEYRING,
)
ROOT_IMAGE = (Need("mmdebstrap", "make the root image", command="mmdebstrap"), KEYRING)
# Root needs no map of user ids to unpack files that are root's.
ROOT_IMAGE_AS_USER = (Need("uidmap", "make the root image without root", command="newuidmap"),)
SOURCE = (Need("apt", "fetch sources of Debian", command="apt-get"), KEYRING)
VENV = (Need("python3-venv", "make the virtual environment", module="ensurepip"),)
TEST = (
    Need("shellcheck", "check the shell scripts", command="shellcheck"),
    Need("tshark", "read captures", command="tshark"),
    Need("chromium", "open reports", command="chromium"),
)
SELFTESTS = (
    Need("gcc", "compile the kernel's own tests", command="gcc"),
    Need("make", "build them", command="make"),
    Need("clang", "compile what they load into the kernel", command="clang"),
    Need("libelf-dev", "compile what loads it", file="/usr/include/libelf.h"),
    Need("zlib1g-dev", "compile what loads it", file="/usr/include/zlib.h"),
    Need("libcap-dev", "compile tests of rights", file="/usr/include/sys/capability.h"),
    Need("libnuma-dev", "compile a test of memory", file="/usr/include/numa.h"),
    Need("libssl-dev", "compile a test of sums", file="/usr/include/openssl/evp.h"),
    Need("python3-yaml", "read what netlink speaks", file="/usr/lib/python3/dist-packages/yaml"),
    Need("python3-jsonschema", "check what it reads", file="/usr/lib/python3/dist-packages/jsonschema"),
    Need("rsync", "install them", command="rsync"),
)
IMAGE = (
    Need("docker.io", "build and run the container image", command="dockerd"),
    # Until Debian 12 docker.io has it.
    Need("docker-cli", "talk to the engine", command="docker", some_releases=True),
    Need("docker-compose", "read the compose file", command="docker-compose"),
    ROOT_IMAGE[0],
)
FLEET = (
    Need("openssh-server", "be the hosts of a fleet", file="/usr/sbin/sshd"),
    Need("openssh-client", "reach them", command="ssh"),
    Need("iproute2", "give them a network of their own", command="ip"),
    Need("python3-venv", "be their Python", file="/usr/lib/python3.*/ensurepip/__init__.py"),
)
EMULATOR = (
    Need("qemu-system-x86", "be another processor", command="qemu-system-x86_64"),
    Need("cpio", "give it a system", command="cpio"),
)


def needs(group: str) -> tuple[Need, ...]:
    """What ``group`` needs on this machine for this user."""
    as_user = () if os.geteuid() == 0 else ROOT_IMAGE_AS_USER
    groups = {
        "kernel": KERNEL,
        "root": ROOT_IMAGE + as_user,
        "source": SOURCE,
        "venv": VENV,
        "test": TEST,
        "selftests": SELFTESTS,
        "image": IMAGE,
        "fleet": FLEET,
        "emulator": EMULATOR,
    }
    return groups[group]


def missing(*groups: str) -> tuple[Need, ...]:
    """What is not there of what ``groups`` need, each package once."""
    lacking = {need.package: need for group in groups for need in needs(group) if not need.is_met}
    return tuple(lacking.values())


def install_command(packages: Sequence[str]) -> str:
    """The line a person would type to get ``packages``."""
    sudo = "" if os.geteuid() == 0 else "sudo "
    return f"{sudo}apt-get install --no-install-recommends {' '.join(packages)}"


def require(*groups: str) -> None:
    """Raise LabError, with the line that helps, if something is missing that ``groups`` need."""
    if lacking := missing(*groups):
        listed = ", ".join(f"{need.package} (to {need.purpose})" for need in lacking)
        raise LabError(f"missing: {listed}", hint=install_command([need.package for need in lacking]))


def install(lacking: Sequence[Need], say: Callable[[str], None]) -> None:
    """Install the packages of ``lacking`` with apt-get, through sudo unless we are root.

    Raises LabError if that cannot be done.
    """
    packages = [need.package for need in lacking]
    command, listed = install_command(packages), ", ".join(packages)
    if shutil.which("apt-get") is None:
        raise LabError(f"missing: {listed}, and there is no apt-get", hint="install them by other means")
    become_root = [] if os.geteuid() == 0 else ["sudo"]
    if become_root and shutil.which("sudo") is None:
        raise LabError(f"missing: {listed}", hint=f"as root: {command.removeprefix('sudo ')}")
    say(f"installing {listed} {'with sudo, for this step only' if become_root else 'as root'}")
    apt_get = [*become_root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q"]
    apt_get += ["-o", "DPkg::Lock::Timeout=120"]
    install_argv = [*apt_get, "install", "--yes", "--no-install-recommends"]
    known = _known(lacking)
    if all(_has_candidate(package) for package in known) and call([*install_argv, *known]) == 0:
        return
    # No index yet, as in a fresh container, or one so old that it names versions that are gone.
    call([*apt_get, "update"])
    if (code := call([*install_argv, *_known(lacking)])) != 0:
        raise LabError(f"apt-get install ended with exit code {code}", hint=f"see above, then: {command}")


def _known(lacking: Sequence[Need]) -> list[str]:
    """The packages of ``lacking``, without those that only other releases have."""
    return [need.package for need in lacking if not need.some_releases or _has_candidate(need.package)]


def _has_candidate(package: str) -> bool:
    policy = output(["apt-cache", "policy", package], check=False)
    return "Candidate: " in policy and "Candidate: (none)" not in policy


def main(groups: Sequence[str]) -> int:
    """Install what is missing of what ``groups`` need. Returns the exit code."""
    try:
        if lacking := missing(*groups):
            install(lacking, lambda text: print(text, flush=True))  # noqa: T201 - a command's output
    except WirelabError as error:
        print(f"error: {error}\n{error.hint or ''}", file=sys.stderr)  # noqa: T201 - a command's output
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
