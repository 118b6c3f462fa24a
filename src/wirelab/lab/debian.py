"""A Debian as mmdebstrap installs it, packed: the same archive whoever installs it and wherever."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from wirelab.errors import LabError
from wirelab.lab import apt, mirror, packages
from wirelab.lab.process import output, run
from wirelab.lab.recipe import hash_of

if TYPE_CHECKING:
    from pathlib import Path

    from wirelab.lab.cache import Entry
    from wirelab.lab.workshop import Workshop

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


def find(shop: Workshop) -> Entry | None:
    """The Debian with the recipe's packages, None if there is none. Asks nobody."""
    remembered = shop.cache.recall(question(shop))
    return shop.cache.find(KIND, str(remembered["key"])) if remembered and "key" in remembered else None


def ensure(shop: Workshop, *, update: bool = False) -> Entry:
    """The Debian with the recipe's packages, installed if it is not there.

    ``update`` asks apt again, for newer packages. Raises LabError if one cannot be had or does not install.
    """
    if not update and (found := find(shop)):
        return found
    packages.require("root")
    wanted = _resolve(shop)
    asked = {"suite": SUITE, "packages": wanted.packages, "newest_s": wanted.newest_s, "steps": STEPS_VERSION}
    key = hash_of(asked)

    def make(folder: Path) -> dict[str, Any]:
        _install(shop, wanted, folder, shop.cache.log(f"{KIND}-{key}"))
        _require_same(wanted.packages, _installed(folder / ARCHIVE, folder / "dpkg"))
        title = f"Debian {SUITE}, {len(wanted.packages)} packages"
        return {"title": title, "suite": SUITE, "packages": wanted.packages, "newest_s": wanted.newest_s}

    entry = shop.cache.build(KIND, key, make, shop.tell)
    take(shop, entry)
    return entry


def take(shop: Workshop, entry: Entry) -> None:
    """Make ``entry`` what ``find`` finds."""
    shop.cache.remember(question(shop), {"key": entry.key})


def question(shop: Workshop) -> str:
    """The name under which the answer to "which Debian is that?" is remembered, one for each recipe."""
    asked = {"packages": sorted(shop.recipe.packages), "steps": STEPS_VERSION}
    return f"{KIND}-{SUITE}-{hash_of(asked)}"


@dataclass(frozen=True)
class Resolved:
    """What apt answered: every package with its version, from where, and how old they are at least."""

    sources: tuple[str, ...]
    packages: dict[str, str]
    newest_s: int
    """Seconds since 1970. No package is newer than the index that names it: what is, installing made."""


def _resolve(shop: Workshop) -> Resolved:
    apt.require_keyring()
    debian_mirror = mirror.find(shop.environ)
    shop.tell.step(f"asking apt for the packages of {SUITE}")
    with apt.asking(shop, debian_mirror, [SUITE]) as asked:
        listed = {package.name: package.version for package in asked.closure(shop.recipe.packages)}
        newest_s = int(parsedate_to_datetime(asked.release_date(SUITE)).timestamp())
    return Resolved(tuple(apt.source_lines(debian_mirror, [SUITE])), listed, newest_s)


def _install(shop: Workshop, wanted: Resolved, folder: Path, log: Path) -> None:
    """Pack the recipe's packages, installed, into ``folder``."""
    as_root = os.geteuid() == 0
    options = [f"--aptopt={option}" for option in apt.acquire_options()]
    options += [f"--dpkgopt=path-exclude=/usr/share/{name}/*" for name in EXCLUDED]
    options += ["--dpkgopt=path-include=/usr/share/doc/*/copyright"]
    argv = ["mmdebstrap", f"--mode={'root' if as_root else 'unshare'}", "--variant=minbase", "--format=tar"]
    argv += [
        "--verbose",
        *options,
        f"--include={','.join(shop.recipe.packages)}",
        SUITE,
        "-",
        *wanted.sources,
    ]
    env = {name: value for name, value in shop.environ.items() if not name.startswith("MAKE")}
    env |= {"LC_ALL": "C", "SOURCE_DATE_EPOCH": str(wanted.newest_s)}
    shop.tell.step(f"installing Debian {SUITE}", len(wanted.packages))
    configured = 0

    def count(line: str) -> None:
        nonlocal configured
        if line.startswith("Setting up "):
            configured += 1
            shop.tell.advance(min(configured, len(wanted.packages)))

    unpacked = folder / ARCHIVE.removesuffix(".gz")
    with unpacked.open("wb") as product:
        hint = ROOT_HINT if as_root else USER_HINT
        run(argv, log=log, env=env, stdout=product, on_line=count, hint=hint)
    shop.tell.step("packing it")
    run(["gzip", "-1", str(unpacked)], log=log)


def unpack(entry: Entry, root: Path, log: Path) -> None:
    """Fill the new folder ``root`` with the Debian of ``entry``, which belongs to us then."""
    root.mkdir()
    argv = ["tar", "-xf", str(entry.path / ARCHIVE), "-C", str(root), "--exclude=./dev/*"]
    run([*argv, "--no-same-owner", "--no-same-permissions"], log=log)


def _installed(archive: Path, folder: Path) -> dict[str, str]:
    """The packages installed in an archive, with their versions; ``folder`` is for the moment."""
    folder.mkdir()
    status = output(["tar", "-xf", str(archive), "--to-stdout", "./var/lib/dpkg/status"])
    (folder / "status").write_text(status, encoding="utf-8")
    told = output(["dpkg-query", f"--admindir={folder}", "-W", "-f", "${Package} ${Version}\n"])
    shutil.rmtree(folder)
    return dict(line.split() for line in told.splitlines())


def _require_same(listed: dict[str, str], got: dict[str, str]) -> None:
    names = sorted(name for name in got.keys() | listed.keys() if got.get(name) != listed.get(name))
    if names:
        raise LabError(f"the mirror changed during the build: {', '.join(names)}", hint="build again")
