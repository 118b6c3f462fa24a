"""The image, run as somebody who has nothing to lose and no rights to lose it with."""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator
    from pathlib import Path

    from tests.image.engine import Engine

# Nobody on any machine: what only works for the image's own user, or for a user with a name, fails.
UID, GID = 23456, 34567

# All that the image claims to do without. The seccomp profile is the engine's default.
LOCKED = (
    "--read-only",
    "--cap-drop=ALL",
    "--security-opt=no-new-privileges",
)

_LOOKS = 600
_LOOK_S = 0.1


@dataclass(frozen=True)
class Box:
    """Runs the image; each container has a name of its own, by which it is removed."""

    engine: Engine
    image: str
    names: Iterator[str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", (f"{self.image}-{number}" for number in itertools.count(1)))

    def run(
        self,
        *argv: str,
        results: Path | None = None,
        user: str = f"{UID}:{GID}",
        options: tuple[str, ...] = (),
    ) -> subprocess.CompletedProcess[str]:
        """Run it to its end, ``results`` being the folder mounted for results; returns what it said."""
        name = next(self.names)
        try:
            return self.engine.docker(
                "run", "--rm", *self._options(name, results, user), *options, self.image, *argv, check=False
            )
        finally:
            self.remove(name)

    def start(self, *argv: str, results: Path, options: tuple[str, ...] = (), network: str = "none") -> str:
        """Start it in the background. Returns the container's name, for ``remove``."""
        name = next(self.names)
        given = self._options(name, results, f"{UID}:{GID}", network)
        self.engine.docker("run", "--detach", *given, *options, self.image, *argv)
        return name

    def remove(self, name: str) -> None:
        """Remove a container, if it is there, with the volumes that have no name."""
        self.engine.docker("rm", "--force", "--volumes", name, check=False)

    def inspect(self, what: str, name: str) -> str:
        """A field of a container, in the words of docker's templates."""
        return self.engine.docker("inspect", "--format", f"{{{{{what}}}}}", name).stdout.strip()

    def _options(self, name: str, results: Path | None, user: str, network: str = "none") -> list[str]:
        given = ["--name", name, f"--network={network}", *LOCKED]
        given += ["--user", user] if user else []
        return [*given, "--volume", f"{results}:/results"] if results else given


def wait_for_a_lab(results: Path) -> None:
    """Wait until a lab of a run that writes to ``results`` is switched on."""
    for _ in range(_LOOKS):
        if any(path.stat().st_size for path in results.glob(".partial-*/*/.lab/results/progress")):
            return
        time.sleep(_LOOK_S)
    msg = f"no lab came up: {sorted(map(str, results.rglob('*')))}"
    raise AssertionError(msg)
