"""The recipe of a lab: the files of kernel/ and rootfs/, and a hash over those that matter."""

import hashlib
import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from pydantic import TypeAdapter

from wirelab.errors import InputError, LabError, unknown
from wirelab.lab.cache import Cache
from wirelab.lab.reporter import Reporter
from wirelab.lab.tree import Mend

KEY_LENGTH = 20
DRIVER_FILES = ("*.c", "*.h", "Kconfig", "Makefile")


@dataclass(frozen=True)
class Series:
    """A kernel series the driver is tested with, or one of them with more in it.

    ``source`` is the series whose source and patches that takes, "" its own; ``also`` are configurations of
    kernel/ that are laid over the lab's. Nobody gets a series that is ``on_request`` who does not name it.
    """

    name: str
    suites: tuple[str, ...]
    objects: int
    absent: frozenset[str]
    source: str = ""
    also: tuple[str, ...] = ()
    on_request: bool = False

    @property
    def release(self) -> str:
        """The series that Linux knows it by."""
        return self.source or self.name

    @property
    def package(self) -> str:
        """The Debian package of its source."""
        return f"linux-source-{self.release}"


@dataclass(frozen=True)
class Recipe:
    """The folder that holds kernel/ and rootfs/; ``image`` is one of the larger root images, "" the plain."""

    home: Path
    image: str = ""

    @classmethod
    def find(cls) -> Self:
        """The recipe this copy of wirelab came with. Raises LabError if it came without."""
        package = Path(__file__).resolve().parents[1]
        homes = (package / "recipe", package.parents[1])
        for home in homes:
            if (home / "kernel" / "lab.config").is_file():
                return cls(home)
        message = f"the lab's recipe (kernel/, rootfs/) is neither in {homes[0]} nor in {homes[1]}"
        raise LabError(message, hint="install wirelab again: this copy of it is not whole")

    def configs(self, series: Series) -> tuple[Path, ...]:
        """The files of a kernel's configuration; what a later one says counts."""
        return tuple(self.home / "kernel" / name for name in ("lab.config", *series.also))

    @property
    def driver(self) -> tuple[Path, ...]:
        """The driver's source files."""
        folder = self.home / "kernel" / "driver"
        return tuple(sorted(path for pattern in DRIVER_FILES for path in folder.glob(pattern)))

    def patches(self, series: Series) -> tuple[Path, ...]:
        """The patches of a series in the order they are applied.

        One in ``kernel/patches/<series>/`` replaces its namesake in ``kernel/patches/``; empty, it drops it.
        """
        folder = self.home / "kernel" / "patches"
        places = (folder, folder / series.release)
        named = {path.name: path for place in places for path in place.glob("*.patch")}
        return tuple(path for _, path in sorted(named.items()) if path.stat().st_size > 0)

    @property
    def series(self) -> tuple[Series, ...]:
        """The series the driver is tested with, newest first."""
        table = tomllib.loads((self.home / "kernel" / "series.toml").read_text(encoding="utf-8"))
        return TypeAdapter(tuple[Series, ...]).validate_python(table["series"])

    @property
    def series_names(self) -> tuple[str, ...]:
        """The names of all series."""
        return tuple(series.name for series in self.series)

    def choices(self, name: str | None) -> tuple[Series, ...]:
        """The series of that name, or for None all but those on request.

        Raises InputError for an unknown name.
        """
        if name is None:
            return tuple(series for series in self.series if not series.on_request)
        chosen = tuple(series for series in self.series if series.name == name)
        if not chosen:
            raise InputError(unknown("kernel series", name, self.series_names))
        return chosen

    @property
    def packages(self) -> tuple[str, ...]:
        """The packages asked for in the root image."""
        folder = self.home / "rootfs"
        more = lines(folder / "with" / f"{self.image}.txt") if self.image else ()
        return (*lines(folder / "packages.txt"), *more)

    @property
    def images(self) -> tuple[str, ...]:
        """The names of the larger root images."""
        return tuple(sorted(path.stem for path in (self.home / "rootfs" / "with").glob("*.txt")))

    def of_image(self, name: str) -> Self:
        """The recipe of a larger root image, "" the plain one. Raises InputError for an unknown name."""
        if name and name not in self.images:
            raise InputError(unknown("root image", name, self.images))
        return replace(self, image=name)

    @property
    def overlay(self) -> Path:
        """The folder whose files are laid over the Debian root."""
        return self.home / "rootfs" / "overlay"

    @property
    def overlay_files(self) -> tuple[Path, ...]:
        """The files of the overlay."""
        return tuple(path for path in sorted(self.overlay.rglob("*")) if not path.is_dir())

    @property
    def links(self) -> dict[str, str]:
        """The symbolic links laid over the Debian root, each with what it points to."""
        return dict(line.split() for line in lines(self.home / "rootfs" / "links.txt"))

    @property
    def mends(self) -> tuple[Mend, ...]:
        """What is mended in files of the Debian root."""
        told = tomllib.loads((self.home / "rootfs" / "mends.toml").read_text(encoding="utf-8"))
        return tuple(Mend(**mend) for mend in told["mend"])


@dataclass(frozen=True)
class BuildContext:
    """From which recipe, into which cache, in which environment, and who hears of it."""

    recipe: Recipe
    cache: Cache
    environ: Mapping[str, str]
    reporter: Reporter

    @classmethod
    def of(cls, environ: Mapping[str, str], reporter: Reporter | None = None) -> Self:
        """That of this copy of wirelab and this user. Raises LabError if there is no recipe."""
        return cls(Recipe.find(), Cache.at(environ), environ, reporter or Reporter())

    def of_image(self, name: str) -> Self:
        """That of a larger root image, "" the plain one. Raises InputError for an unknown name."""
        return replace(self, recipe=self.recipe.of_image(name))


def lines(path: Path) -> Iterator[str]:
    """What a list says, without comments and empty lines."""
    for line in path.read_text(encoding="utf-8").splitlines():
        if entry := line.partition("#")[0].strip():
            yield entry


def hash_of(facts: Mapping[str, object]) -> str:
    """A key for whatever is made from ``facts``: equal facts, equal key."""
    canonical = json.dumps(facts, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()[:KEY_LENGTH]


def hashes(files: Iterable[Path], base: Path) -> dict[str, str]:
    """Each file's name below ``base``, with the hash of what it holds and whether it can be executed."""
    return {
        str(path.relative_to(base)): ("x" if path.stat().st_mode & 0o100 else "-")
        + hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files
    }
