"""Asking apt with a source list and a state folder of our own, leaving the system's alone.

The rest of the machine's apt configuration holds (proxies, credentials), but nothing that loosens the check
of Debian's signature.
"""

import contextlib
import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from wirelab.errors import LabError
from wirelab.lab.mirror import Mirror
from wirelab.lab.packages import KEYRING_FILE
from wirelab.lab.process import output, run
from wirelab.lab.recipe import BuildContext

ARCHITECTURE = "amd64"
OFFLINE_HINT = "check the network and apt's proxy settings; WIRELAB_DEBIAN_MIRROR names another mirror"


@dataclass(frozen=True)
class Apt:
    """apt, as it sees one set of suites. Make it with ``querying``."""

    folder: Path
    log: Path

    def tool(self, tool: str) -> list[str]:
        """The beginning of a command line of one of apt's tools."""
        return [tool, "-c", str(self.folder / "apt.conf"), "-q"]

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
        argv = [*self.tool("apt-get"), "--simulate", "--no-install-recommends", "install", *base, *wanted]
        plan = output(argv, hint="rootfs/packages.txt names the packages")
        return dict(sorted(re.findall(r"^Inst (\S+) (?:\[[^]]*\] )?\((\S+) ", plan, re.MULTILINE)))

    def release_date(self, suite: str) -> str:
        """When the suite's index was signed, as its Release file says. Every package in it is older."""
        for file in self.folder.glob(f"state/lists/*_{suite}_InRelease"):
            if date := re.search(r"^Date: (.+)$", file.read_text(encoding="utf-8"), re.MULTILINE):
                return date[1]
        raise LabError(f"apt has no signed index of {suite}", hint=OFFLINE_HINT)

    def download(self, package: str, version: str, folder: Path) -> Path:
        """Fetch a package, checked against the signed index; one that is there and whole is kept."""
        argv = [*self.tool("apt-get"), "download", f"{package}={version}"]
        run(argv, log=self.log, cwd=folder, hint=OFFLINE_HINT)
        # apt writes the epoch's colon as %3a.
        for file in folder.glob(f"{package}_{version.replace(':', '%3a')}_*.deb"):
            return file
        message = f"apt-get download {package} left nothing in {folder}"
        raise LabError(message, hint=f"the whole log: {self.log}")

    def download_sources(self, wanted: Sequence[str], folder: Path, *, hint: str) -> None:
        """Fetch the files of source packages, each NAME=VERSION; takes an apt ``querying`` deb-src."""
        argv = [*self.tool("apt-get"), "source", "--download-only", "--only-source", *wanted]
        run(argv, log=self.log, cwd=folder, hint=hint)


@contextlib.contextmanager
def querying(
    context: BuildContext, mirror: Mirror, suites: Sequence[str], *, kind: str = "deb"
) -> Iterator[Apt]:
    """An apt with fresh indexes of ``suites``; suites whose address is not known are left out.

    ``kind`` is deb or deb-src. One process asks at a time. Raises LabError if an index cannot be had or is
    not signed by Debian.
    """
    lines = source_lines(mirror, suites, kind=kind)
    cache = context.cache
    name = hashlib.sha256("\n".join(lines).encode()).hexdigest()[:12]
    with cache.building(), cache.locked("apt", "apt is being asked by another build", context.reporter):
        folder = cache.folder("apt", name)
        for inner in ("state/lists/partial", "cache/archives/partial"):
            cache.folder("apt", name, inner)
        with cache.os_errors():
            (folder / "status").touch()
            (folder / "sources.list").write_text("\n".join(lines) + "\n", encoding="utf-8")
            (folder / "apt.conf").write_text(configuration(folder), encoding="utf-8")
        apt = Apt(folder, cache.log(f"apt-{name}"))
        try:
            run([*apt.tool("apt-get"), "update"], log=apt.log, hint=OFFLINE_HINT)
        except LabError as error:
            # What apt wants to say is in its first complaint; before and after it are lists of addresses.
            text = apt.log.read_text(encoding="utf-8", errors="replace")
            if complaint := re.search(r"^E: (.+)$", text, re.MULTILINE):
                raise LabError(f"{complaint[1]}\nthe whole log: {apt.log}", hint=OFFLINE_HINT) from error
            raise
        yield apt


def configuration(folder: Path) -> str:
    """An apt.conf(5) for an apt whose lists, state and packages are in ``folder``."""
    text = Path(__file__).with_name("apt.conf").read_text(encoding="utf-8")
    return text.format(folder=folder, architecture=ARCHITECTURE)


def source_lines(mirror: Mirror, suites: Sequence[str], *, kind: str = "deb") -> list[str]:
    """A sources.list for ``suites``, everything in it to be signed by Debian."""
    options = f"[arch={ARCHITECTURE} signed-by={KEYRING_FILE}]"
    return [
        f"{kind} {options} {address} {suite} main" for suite in suites if (address := mirror.address(suite))
    ]


def acquire_options() -> list[str]:
    """The machine's settings on how to reach a mirror, one `Name "value"` each, to hand on to another apt."""
    names = r"Acquire::(?:https?|tor|Retries|Check-Date|Check-Valid-Until|ForceIPv[46])\b"
    settings = output(["apt-config", "dump"])
    return [line.rstrip(";") for line in settings.splitlines() if re.match(names, line) and '""' not in line]
