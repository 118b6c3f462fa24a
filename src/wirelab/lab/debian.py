"""A Debian as mmdebstrap installs it, packed: the same archive whoever installs it and wherever."""

import os
import re
from collections.abc import Iterable
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

from wirelab.errors import LabError
from wirelab.lab import apt, mirror, packages, untar
from wirelab.lab.entry import PRODUCTS, Entry, intact
from wirelab.lab.process import output, run
from wirelab.lab.recipe import BuildContext, hash_of
from wirelab.lab.reporter import counter

KIND = "debian"
ARCHIVE = PRODUCTS[KIND]
STATUS = "var/lib/dpkg/status"
SUITE = "trixie"
# Raise it whenever this file changes what comes out.
STEPS_VERSION = 3
# Keys and logs that installing makes anew each time; unwanted.txt keeps them from labs anyway.
RANDOM = ("etc/openvswitch-testcontroller/*.pem", "var/lib/openvswitch/pki", "var/log/openvswitch")
EXCLUDED = ("man", "info", "locale", "lintian", "doc", "bash-completion")

ROOT_HINT = "apt's messages in the log say why"
USER_HINT = (
    f"{ROOT_HINT}; without root it takes unprivileged user namespaces and a line for you in /etc/subuid and "
    "/etc/subgid: sudo usermod --add-subuids 100000-165535 --add-subgids 100000-165535 $USER"
)


def find(context: BuildContext) -> Entry | None:
    """The Debian with the recipe's packages, None if there is none. Asks nobody."""
    return context.cache.find(KIND, context.cache.remembered(question(context)))


def ensure(context: BuildContext, *, update: bool = False, from_source: bool = False) -> Entry:
    """The Debian with the recipe's packages, installed if it is not there, or ``from_source`` not of here.

    ``update`` asks apt again, for newer packages. Raises LabError if one cannot be had or does not install.
    """
    if not update and (entry := intact(find, context)) and not (from_source and entry.is_imported):
        return entry
    packages.require("root")
    debian_mirror = mirror.find(context.environ)
    context.reporter.step(f"asking apt for the packages of {SUITE}")
    with apt.querying(context, debian_mirror, [SUITE]) as query:
        versions = query.closure(context.recipe.packages)
        # All packages are older than the index that names them: what is newer was made while installing them.
        newest_s = int(parsedate_to_datetime(query.release_date(SUITE)).timestamp())
    facts = {"suite": SUITE, "packages": versions, "newest_s": newest_s}
    key = hash_of({**facts, "steps": STEPS_VERSION})

    def make(folder: Path) -> dict[str, Any]:
        log = context.cache.log(f"{KIND}-{key}")
        unpacked = folder / ARCHIVE.removesuffix(".gz")
        env = {name: value for name, value in context.environ.items() if not name.startswith("MAKE")}
        env["SOURCE_DATE_EPOCH"] = str(newest_s)
        count = counter(context.reporter, f"installing Debian {SUITE}", len(versions), "Setting up ")
        hook = " ".join(("rm -rf", *(f'"$1"/{pattern}' for pattern in RANDOM)))
        options = ("--verbose", f"--customize-hook={hook}")
        argv = [*mmdebstrap(context.recipe.packages, *options), SUITE, "-"]
        argv += apt.source_lines(debian_mirror, [SUITE])
        hint = ROOT_HINT if os.geteuid() == 0 else USER_HINT
        with unpacked.open("wb") as product:
            run(argv, log=log, env=env, stdout=product, on_line=count, hint=hint)
        context.reporter.step("packing it")
        pack(unpacked, log)
        status = output(["tar", "-xf", str(folder / ARCHIVE), "--to-stdout", f"./{STATUS}"])
        if changed := sorted({name for name, _ in versions.items() ^ installed(status).items()}):
            raise LabError(f"the mirror changed during the build: {', '.join(changed)}", hint="build again")
        image = f" with {context.recipe.image}" if context.recipe.image else ""
        return {"title": f"Debian {SUITE}{image}, {len(versions)} packages", **facts}

    entry = context.cache.build(KIND, key, make, context.reporter, from_source=from_source)
    take(context, entry)
    return entry


def pack(unpacked: Path, log: Path) -> None:
    """Put its archive in the place of a tar. Raises LabError if there is no room for it."""
    # Without a name and a time of here: the same packages are the same archive. And also where somebody has
    # copied the cache by hard links meanwhile, which gzip takes for a reason to leave a file alone.
    run(["gzip", "-1", "--no-name", "--force", str(unpacked)], log=log)


def take(context: BuildContext, entry: Entry) -> None:
    """Make ``entry`` what ``find`` finds."""
    context.cache.remember(question(context), entry.key)


def question(context: BuildContext) -> str:
    """The name under which the answer to "which Debian is that?" is remembered, one for each recipe."""
    ingredients = {"packages": sorted(context.recipe.packages), "steps": STEPS_VERSION}
    return f"{KIND}-{SUITE}-{hash_of(ingredients)}"


def mmdebstrap(packages: Iterable[str], *options: str) -> list[str]:
    """The beginning of a command line that makes a tar of a Debian with ``packages``, without manuals."""
    argv = ["mmdebstrap", f"--mode={'root' if os.geteuid() == 0 else 'unshare'}", "--variant=minbase"]
    argv += ["--format=tar", *options, *(f"--aptopt={option}" for option in apt.acquire_options())]
    argv += [f"--dpkgopt=path-exclude=/usr/share/{name}/*" for name in EXCLUDED]
    return [*argv, "--dpkgopt=path-include=/usr/share/doc/*/copyright", f"--include={','.join(packages)}"]


def unpack(entry: Entry, root: Path) -> None:
    """Fill the new folder ``root`` with the Debian of ``entry``, which belongs to us then.

    Raises DamagedEntryError if it is not what was built.
    """
    entry.verify()
    untar.unpack(entry.product, root)


def installed(status: str) -> dict[str, str]:
    """The packages in ``status``, the text of dpkg's file STATUS, with their versions."""
    versions = {}
    for paragraph in status.split("\n\n"):
        fields = dict(re.findall(r"^(Package|Version): (\S+)$", paragraph, re.MULTILINE))
        if {"Package", "Version"} <= fields.keys():
            versions[fields["Package"]] = fields["Version"]
    return versions
