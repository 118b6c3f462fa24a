"""Other releases than this machine's, for hosts to start in: a minimal system with an ssh server, each.

What provision.yml installs is not there, but was fetched: on the hosts' network is no mirror.
"""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

from tests.fleet.hosts import USER, CannotError
from wirelab.errors import LabError
from wirelab.lab import apt, mirror

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

# What each calls Python 3.
RELEASES = {"bookworm": "3.11", "trixie": "3.13", "noble": "3.12"}
UBUNTU = frozenset({"jammy", "noble"})

# `mount` is how a host takes leave of the machine that started it; apt is not part of a minimal Ubuntu.
PACKAGES = ("apt", "python3", "openssh-server", "sudo", "mount")
# Ansible asks apt by python3-apt, and installs that first if need be.
FETCHED = ("python3-venv", "python3-apt")
CLEAN = 'APT_CONFIG="$MMDEBSTRAP_APT_CONFIG" apt-get clean'
FETCH = 'APT_CONFIG="$MMDEBSTRAP_APT_CONFIG" apt-get install --yes --download-only --install-recommends '
# Who logs in may do what a machine's first user may.
ALLOW = f"echo '{USER} ALL=(ALL) NOPASSWD: ALL' > \"$1/etc/sudoers.d/{USER}\""

# A package index that is a day old is asked for anew, which cannot be done there.
FRESH_INDEX = 'touch "$root/var/lib/apt/lists"'


HOOKS = (ALLOW, CLEAN, FETCH + " ".join(FETCHED))


def make(
    release: str, folder: Path, *, packages: Sequence[str] = PACKAGES, hooks: Sequence[str] = HOOKS
) -> None:
    """Install a release into ``folder``. Raises CannotError where its archive or keys are not to be had."""
    argv = ["mmdebstrap", "--mode=root", "--variant=minbase", "--format=directory", "--quiet"]
    argv += [f"--aptopt={option}" for option in apt.acquire_options()]
    argv += [f"--include={','.join(packages)}", "--skip=cleanup/apt"]
    argv += [f"--customize-hook={hook}" for hook in hooks]
    if release in UBUNTU:
        # mmdebstrap knows its address, and that python3-venv is not in its main part.
        argv += ["--components=main,universe", release, str(folder)]
    else:
        try:
            argv += [release, str(folder), *apt.source_lines(mirror.find(os.environ), [release])]
        except LabError as error:
            raise CannotError(str(error)) from error
    try:
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise CannotError("mmdebstrap is not installed: apt-get install mmdebstrap") from error
    if done.returncode != 0:
        told = [line for line in done.stderr.splitlines() if line.startswith("E:")]
        hint = ": is ubuntu-archive-keyring installed?" if release in UBUNTU else ""
        raise CannotError(f"no {release} can be installed: {' '.join(told[:2])}{hint}")
