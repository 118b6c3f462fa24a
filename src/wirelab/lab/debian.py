"""A Debian as mmdebstrap installs it, packed: the same archive whoever installs it and wherever."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from wirelab.errors import LabError
from wirelab.lab import apt, mirror, packages
from wirelab.lab.entry import intact
from wirelab.lab.process import output, run
from wirelab.lab.recipe import hash_of
from wirelab.lab.reporter import counter

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from wirelab.lab.context import BuildContext
    from wirelab.lab.entry import Entry

KIND = "debian"
ARCHIVE = "debian.tar.gz"
SUITE = "trixie"
# Raise it whenever this file changes what comes out.
STEPS_VERSION = 3
EXCLUDED = ("man", "info", "locale", "lintian", "doc", "bash-completion")

USER_HINT = (
    "apt's messages in the log say why; without root it takes unprivileged user namespaces and a line for "
    "you in /etc/subuid and /etc/subgid: "
    "sudo usermod --add-subuids 100000-165535 --add-subgids 100000-165535 $USER"
)
ROOT_HINT = "apt's messages in the log say why"


def find(context: BuildContext) -> Entry | None:
    """The Debian with the recipe's packages, None if there is none. Asks nobody."""
    return context.cache.find(KIND, context.cache.recall(question(context)))


def ensure(context: BuildContext, *, update: bool = False) -> Entry:
    """The Debian with the recipe's packages, installed if it is not there.

    ``update`` asks apt again, for newer packages. Raises LabError if one cannot be had or does not install.
    """
    if not update and (entry := intact(lambda: find(context))):
        return entry
    packages.require("root")
    wanted = _resolve(context)
    facts = {"suite": SUITE, "packages": wanted.packages, "newest_s": wanted.newest_s}
    key = hash_of({**facts, "steps": STEPS_VERSION})

    def make(folder: Path) -> dict[str, Any]:
        _install(context, wanted, folder, context.cache.log(f"{KIND}-{key}"))
        _require_same(wanted.packages, _installed(folder / ARCHIVE, folder / "dpkg"))
        return {"title": f"Debian {SUITE}, {len(wanted.packages)} packages", **facts}

    entry = context.cache.build(KIND, key, make, context.reporter)
    take(context, entry)
    return entry


def take(context: BuildContext, entry: Entry) -> None:
    """Make ``entry`` what ``find`` finds."""
    context.cache.remember(question(context), entry.key)


def question(context: BuildContext) -> str:
    """The name under which the answer to "which Debian is that?" is remembered, one for each recipe."""
    ingredients = {"packages": sorted(context.recipe.packages), "steps": STEPS_VERSION}
    return f"{KIND}-{SUITE}-{hash_of(ingredients)}"


@dataclass(frozen=True)
class Resolved:
    """What apt answered: every package with its version, from where, and how old they are at least."""

    sources: tuple[str, ...]
    packages: dict[str, str]
    newest_s: int
    """Seconds since 1970. No package is newer than the index that names it: what is, installing made."""


def _resolve(context: BuildContext) -> Resolved:
    apt.require_keyring()
    debian_mirror = mirror.find(context.environ)
    context.reporter.step(f"asking apt for the packages of {SUITE}")
    with apt.querying(context, debian_mirror, [SUITE]) as query:
        versions = query.closure(context.recipe.packages)
        newest_s = int(parsedate_to_datetime(query.release_date(SUITE)).timestamp())
    return Resolved(tuple(apt.source_lines(debian_mirror, [SUITE])), versions, newest_s)


def _install(context: BuildContext, wanted: Resolved, folder: Path, log: Path) -> None:
    """Pack the recipe's packages, installed, into ``folder``."""
    env = {name: value for name, value in context.environ.items() if not name.startswith("MAKE")}
    env |= {"LC_ALL": "C", "SOURCE_DATE_EPOCH": str(wanted.newest_s)}
    count = counter(context.reporter, f"installing Debian {SUITE}", len(wanted.packages), "Setting up ")
    unpacked = folder / ARCHIVE.removesuffix(".gz")
    with unpacked.open("wb") as product:
        argv = [*mmdebstrap(context.recipe.packages, "--verbose"), SUITE, "-", *wanted.sources]
        hint = ROOT_HINT if os.geteuid() == 0 else USER_HINT
        run(argv, log=log, env=env, stdout=product, on_line=count, hint=hint)
    context.reporter.step("packing it")
    run(["gzip", "-1", str(unpacked)], log=log)


def mmdebstrap(packages: Iterable[str], *options: str) -> list[str]:
    """The beginning of a command line that makes a tar of a Debian with ``packages``, without manuals."""
    argv = ["mmdebstrap", f"--mode={'root' if os.geteuid() == 0 else 'unshare'}", "--variant=minbase"]
    argv += ["--format=tar", *options, *(f"--aptopt={option}" for option in apt.acquire_options())]
    argv += [f"--dpkgopt=path-exclude=/usr/share/{name}/*" for name in EXCLUDED]
    return [*argv, "--dpkgopt=path-include=/usr/share/doc/*/copyright", f"--include={','.join(packages)}"]


def unpack(entry: Entry, root: Path, log: Path) -> None:
    """Fill the new folder ``root`` with the Debian of ``entry``, which belongs to us then.

    Raises DamagedEntryError if it is not what was built.
    """
    entry.verify()
    root.mkdir()
    argv = ["tar", "-xf", str(entry.path / ARCHIVE), "-C", str(root), "--exclude=./dev/*"]
    run([*argv, "--no-same-owner", "--no-same-permissions"], log=log)


def _installed(archive: Path, folder: Path) -> dict[str, str]:
    """The packages installed in an archive, with their versions; ``folder`` is for the moment."""
    folder.mkdir()
    status = output(["tar", "-xf", str(archive), "--to-stdout", "./var/lib/dpkg/status"])
    (folder / "status").write_text(status, encoding="utf-8")
    table = output(["dpkg-query", f"--admindir={folder}", "-W", "-f", "${Package} ${Version}\n"])
    shutil.rmtree(folder)
    return dict(line.split() for line in table.splitlines())


def _require_same(listed: dict[str, str], installed: dict[str, str]) -> None:
    names = sorted({name for name, _ in listed.items() ^ installed.items()})
    if names:
        raise LabError(f"the mirror changed during the build: {', '.join(names)}", hint="build again")
