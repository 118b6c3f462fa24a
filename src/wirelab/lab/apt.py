"""Asking apt with a source list and a state folder of our own, leaving the system's alone.

The rest of the machine's apt configuration holds (proxies, credentials), but nothing that loosens the check
of Debian's signature.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from wirelab.errors import LabError
from wirelab.lab.process import output, run

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wirelab.lab.context import BuildContext
    from wirelab.lab.mirror import Mirror

KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
ARCHITECTURE = "amd64"
OFFLINE_HINT = "check the network and apt's proxy settings; WIRELAB_DEBIAN_MIRROR names another mirror"

# The hooks and pins of the machine are about the machine: some (Docker's images) delete its package cache.
CONFIGURATION = """\
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear DPkg::Post-Invoke;
Dir::Etc::SourceList "{folder}/sources.list";
Dir::Etc::SourceParts "/dev/null";
Dir::Etc::Preferences "/dev/null";
Dir::Etc::PreferencesParts "/dev/null";
Dir::State "{folder}/state";
Dir::State::status "{folder}/status";
Dir::Cache "{folder}/cache";
APT::Architecture "{architecture}";
APT::Default-Release "";
APT::Install-Recommends "false";
APT::Install-Suggests "false";
APT::Get::AllowUnauthenticated "false";
APT::Update::Error-Mode "any";
Acquire::AllowInsecureRepositories "false";
Acquire::AllowWeakRepositories "false";
Acquire::AllowDowngradeToInsecureRepositories "false";
Acquire::Languages "none";
Acquire::Retries "3";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
"""


@dataclass(frozen=True)
class Package:
    """A package in the version apt would install."""

    name: str
    version: str


@dataclass(frozen=True)
class Apt:
    """apt, as it sees one set of suites. Make it with ``querying``."""

    configuration: Path
    log: Path
    lists: Path

    def tool(self, tool: str) -> list[str]:
        """The beginning of a command line of one of apt's tools."""
        return [tool, "-c", str(self.configuration), "-q"]

    def version(self, package: str) -> str | None:
        """The version of ``package`` that would be installed, None if there is none."""
        policy = output([*self.tool("apt-cache"), "policy", package])
        candidate = re.search(r"^\s*Candidate:\s*(\S+)", policy, re.MULTILINE)
        return candidate[1] if candidate and candidate[1] != "(none)" else None

    def closure(self, wanted: Sequence[str]) -> dict[str, str]:
        """The versions of all packages of a minimal system with ``wanted``, as mmdebstrap's `minbase` has it.

        Raises LabError if one is unknown or cannot be installed.
        """
        base = ["?essential", "?priority(required)", "apt"]
        plan = output(
            [*self.tool("apt-get"), "--simulate", "--no-install-recommends", "install", *base, *wanted],
            hint="rootfs/packages.txt names the packages",
        )
        return dict(sorted(re.findall(r"^Inst (\S+) (?:\[[^]]*\] )?\((\S+) ", plan, re.MULTILINE)))

    def release_date(self, suite: str) -> str:
        """When the suite's index was signed, as its Release file says. Every package in it is older."""
        for file in self.lists.glob(f"*_{suite}_InRelease"):
            if date := re.search(r"^Date: (.+)$", file.read_text(encoding="utf-8"), re.MULTILINE):
                return date[1]
        message = f"apt has no signed index of {suite}"
        raise LabError(message, hint=OFFLINE_HINT)

    def download(self, package: Package, folder: Path) -> Path:
        """Fetch a package, checked against the signed index; one that is there and whole is kept."""
        run(
            [*self.tool("apt-get"), "download", f"{package.name}={package.version}"],
            log=self.log,
            cwd=folder,
            hint=OFFLINE_HINT,
        )
        # apt writes the epoch's colon as %3a.
        name = f"{package.name}_{package.version.replace(':', '%3a')}_"
        for file in folder.iterdir():
            if file.name.startswith(name) and file.suffix == ".deb":
                return file
        message = f"apt-get download {package.name} left nothing in {folder}"
        raise LabError(message, hint=f"the whole log: {self.log}")


@contextlib.contextmanager
def querying(context: BuildContext, mirror: Mirror, suites: Sequence[str]) -> Iterator[Apt]:
    """An apt with fresh indexes of ``suites``; suites whose address is not known are left out.

    One process asks at a time. Raises LabError if an index cannot be had or is not signed by Debian.
    """
    lines = source_lines(mirror, suites)
    cache = context.cache
    name = hashlib.sha256("\n".join(lines).encode()).hexdigest()[:12]
    with cache.locked("apt", "another process is asking apt", context.reporter):
        folder = cache.folder("apt", name)
        for inner in ("state/lists/partial", "cache/archives/partial"):
            cache.folder("apt", name, inner)
        with cache.os_errors():
            (folder / "status").touch()
            (folder / "sources.list").write_text("\n".join(lines) + "\n", encoding="utf-8")
            configuration = folder / "apt.conf"
            text = CONFIGURATION.format(folder=folder, architecture=ARCHITECTURE)
            configuration.write_text(text, encoding="utf-8")
        apt = Apt(configuration, cache.log(f"apt-{name}"), folder / "state" / "lists")
        _update(apt)
        yield apt


def _update(apt: Apt) -> None:
    try:
        run([*apt.tool("apt-get"), "update"], log=apt.log, hint=OFFLINE_HINT)
    except LabError as error:
        # What apt wants to say is in its first complaint; before and after it are lists of addresses.
        text = apt.log.read_text(encoding="utf-8", errors="replace")
        if complaint := re.search(r"^E: (.+)$", text, re.MULTILINE):
            raise LabError(f"{complaint[1]}\nthe whole log: {apt.log}", hint=OFFLINE_HINT) from error
        raise


def require_keyring() -> None:
    """Raise LabError if the keys that Debian's archive is checked against are not there."""
    if not KEYRING.exists():
        message = f"{KEYRING}, which Debian's archive is checked against, is not there"
        raise LabError(message, hint="apt-get install debian-archive-keyring")


def source_lines(mirror: Mirror, suites: Sequence[str]) -> list[str]:
    """A sources.list for ``suites``, everything in it to be signed by Debian."""
    options = f"[arch={ARCHITECTURE} signed-by={KEYRING}]"
    return [f"deb {options} {address} {suite} main" for suite in suites if (address := mirror.address(suite))]


def acquire_options() -> list[str]:
    """The machine's settings on how to reach a mirror, one `Name "value"` each, to hand on to another apt."""
    names = r"Acquire::(?:https?|tor|Retries|Check-Date|Check-Valid-Until|ForceIPv[46])\b"
    settings = output(["apt-config", "dump"])
    return [line.rstrip(";") for line in settings.splitlines() if re.match(names, line) and '""' not in line]
