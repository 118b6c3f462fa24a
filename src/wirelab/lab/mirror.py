"""Where this machine gets Debian from: read from its apt configuration, never written down here."""

import itertools
import re
import shlex
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from email import message_from_string
from pathlib import Path
from urllib.parse import urlsplit

from wirelab.errors import LabError
from wirelab.lab.process import output
from wirelab.lab.scratch import scratch_folder

VARIABLE = "WIRELAB_DEBIAN_MIRROR"
APT_FOLDER = Path("/etc/apt")
USABLE_SCHEMES = re.compile(r"((tor\+|mirror\+)?https?|file|copy|ftp)")
SECURITY_SUITE = re.compile(r"[a-z]+(-security|/updates)")
ONE_LINE = re.compile(
    r"deb\s+(?:\[(?P<options>[^\]]*)\]\s+)?(?P<uri>\S+)\s+(?P<suite>\S+)\s+(?P<components>.+)"
)


@dataclass(frozen=True)
class AptSource:
    """One archive apt is told to use: its address, one suite and its components."""

    uri: str
    suite: str
    components: tuple[str, ...]
    signed_by: str = ""

    @property
    def is_debian(self) -> bool:
        """Whether this looks like Debian's own archive and not that of a vendor who builds for Debian.

        Only a guess: what it lets through must still bear Debian's signature.
        """
        address = urlsplit(self.uri)
        if "main" not in self.components or not USABLE_SCHEMES.fullmatch(address.scheme):
            return False
        last = address.path.rstrip("/").rpartition("/")[2]
        return last in ("debian", "debian-security") or "debian-archive" in self.signed_by

    @property
    def is_security(self) -> bool:
        """Whether the archive carries security updates, which have an address of their own."""
        return SECURITY_SUITE.fullmatch(self.suite) is not None


@dataclass(frozen=True)
class Mirror:
    """Addresses of Debian's archive and, where one is known, of its security archive."""

    main: str
    security: str | None = None

    def address(self, suite: str) -> str | None:
        """Where ``suite`` is to be found, None if no address is known for it."""
        return self.security if SECURITY_SUITE.fullmatch(suite) else self.main


def find(environ: Mapping[str, str], apt_folder: Path = APT_FOLDER) -> Mirror:
    """The mirror to use: the one the user names, the machine's own, else mmdebstrap's.

    Raises LabError where none of them is known.
    """
    if named := environ.get(VARIABLE, "").rstrip("/"):
        if "://" not in named:
            hint = f"write it with its scheme, as in {VARIABLE}=https://mirror.example/debian"
            raise LabError(f"{VARIABLE}: `{named}` is not the address of a mirror", hint=hint)
        return Mirror(named)
    mirror = chosen(sources(apt_folder)) or chosen(one_line_sources(_of_mmdebstrap()))
    if mirror is None:
        message = f"the apt configuration in {apt_folder} names no Debian mirror"
        raise LabError(message, hint=f"set {VARIABLE} to the address of one, such as the nearest to you")
    return mirror


def chosen(known: Iterable[AptSource]) -> Mirror | None:
    """The addresses the Debian sources among ``known`` name first, None if there are none."""
    debian = [source for source in known if source.is_debian]
    main = next((source.uri for source in debian if not source.is_security), None)
    security = next((source.uri for source in debian if source.is_security), None)
    return Mirror(main, security) if main else None


def sources(apt_folder: Path) -> Iterator[AptSource]:
    """What apt is told to use, from one-line and deb822 files, in the order apt reads them."""
    folder = apt_folder / "sources.list.d"
    files = [apt_folder / "sources.list", *(sorted(folder.iterdir()) if folder.is_dir() else ())]
    for file in files:
        if file.suffix == ".list":
            yield from one_line_sources(_text(file))
        elif file.suffix == ".sources":
            yield from deb822_sources(_text(file))


def one_line_sources(text: str) -> Iterator[AptSource]:
    """The `deb` lines of a sources.list, see sources.list(5)."""
    for line in text.splitlines():
        if match := ONE_LINE.fullmatch(line.partition("#")[0].strip()):
            signed_by = re.search(r"\bsigned-by=(\S+)", match["options"] or "")
            components = tuple(match["components"].split())
            for uri in _resolved(match["uri"]):
                yield AptSource(uri, match["suite"], components, signed_by[1] if signed_by else "")


def deb822_sources(text: str) -> Iterator[AptSource]:
    """The stanzas of a .sources file, see sources.list(5)."""
    # A comment may stand within a field.
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    for stanza in re.split(r"\n\s*\n", "\n".join(lines)):
        headers = message_from_string(stanza.strip())
        fields = defaultdict(list, {name.casefold(): str(text).split() for name, text in headers.items()})
        if "deb" not in fields["types"] or fields["enabled"][:1] in (["no"], ["false"]):
            continue
        signed_by, components = " ".join(fields["signed-by"]), tuple(fields["components"])
        for listed, suite in itertools.product(fields["uris"], fields["suites"]):
            for uri in _resolved(listed):
                yield AptSource(uri, suite, components, signed_by)


def _resolved(uri: str) -> Iterator[str]:
    """The address itself; those in the file for `mirror+file:`, as Debian's cloud images have it."""
    listed = _text(Path(uri.removeprefix("mirror+file:"))) if uri.startswith("mirror+file:") else uri
    for line in listed.splitlines():
        if words := line.partition("#")[0].split():
            yield words[0].rstrip("/")


def _text(file: Path) -> str:
    """What a file says, nothing if it cannot be read."""
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _of_mmdebstrap() -> str:
    """The sources.list that mmdebstrap writes when it is told no mirror: it knows Debian's own address."""
    with scratch_folder() as folder:
        copy = folder / "sources.list"
        hook = f'cat "$1"/etc/apt/sources.list > {shlex.quote(str(copy))}; exit 1'
        argv = ["mmdebstrap", "--mode=chrootless", "--skip=check/chrootless", "--variant=custom"]
        argv += ["--format=null", "--quiet", f"--setup-hook={hook}", "trixie", "/dev/null"]
        output(argv, check=False)
        return _text(copy)
