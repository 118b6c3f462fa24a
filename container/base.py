"""Make the Debian that the container image starts from: `base.py FILE` writes a tar for `docker import`.

It is what `debian:trixie-slim` is, with the two packages that the image needs. The mirror is this machine's.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from wirelab.errors import WirelabError
from wirelab.lab import apt, mirror, packages
from wirelab.lab.debian import SUITE, mmdebstrap
from wirelab.lab.process import run
from wirelab.lab.recipe import BuildContext

PACKAGES = ("python3", "tini")
SUITES = (SUITE, f"{SUITE}-updates", f"{SUITE}-security")
# What tells of the machine that made it.
UNWANTED = ("sources.list", "sources.list.d/*", "apt.conf.d/99mmdebstrap")
HOOK = 'cd "$1"/etc && rm -f resolv.conf hostname && cd apt && rm -f ' + " ".join(UNWANTED)


def make(file: Path) -> None:
    """Write the tar ``file``. Raises LabError if a package cannot be had or does not install."""
    packages.require("root")
    context = BuildContext.of(os.environ)
    argv = [*mmdebstrap(PACKAGES, f"--customize-hook={HOOK}"), SUITE, "-"]
    argv += apt.source_lines(mirror.find(os.environ), SUITES)
    with file.open("wb") as product:
        env = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
        run(argv, log=context.cache.log("image-base"), env={**env, "LC_ALL": "C"}, stdout=product)


def main() -> int:
    """Do it, as a program does. Returns the exit code."""
    try:
        make(Path(sys.argv[1]))
    except WirelabError as error:
        print(f"error: {error}\n{error.hint or ''}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
