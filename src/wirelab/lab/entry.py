"""An entry of the cache: a finished build, what it says of itself, and whether it still is what was built."""

import contextlib
import errno
import hashlib
import json
import os
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final, TypeVarTuple

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from wirelab.errors import LabError
from wirelab.lab import lock, tree
from wirelab.units import NS_PER_S

ENTRY: Final = "entry.json"
CONTENTS: Final = "contents.json"
"""The hash of each file of a build; in the tree of a root image, also of its mode and time."""

_WATCHED_FILES: Final = 256
_HASH_DIGITS: Final = 16
_NAMED_FILES: Final = 5

Ts = TypeVarTuple("Ts")
Line = Annotated[str, StringConstraints(pattern=r"^[ -~]{1,200}$")]
Key = Annotated[str, StringConstraints(pattern=r"^[0-9a-z]{20}$")]
# Both may come to be a file's time, which not every file system has beyond 32 bits.
Seconds = Annotated[int, Field(ge=0, lt=1 << 32)]


class Facts(BaseModel):
    """Of any build; what else it says is for people."""

    model_config = ConfigDict(strict=True, frozen=True, extra="allow", defer_build=True)

    title: Line


class KernelFacts(Facts):
    """Of a kernel: its series, and how many files were compiled."""

    series: Line
    objects: Annotated[int, Field(ge=0, lt=1 << 32)]


class DebianFacts(Facts):
    """Of a packed Debian: no package of it is newer than ``newest_s``, in seconds since 1970."""

    suite: Line
    packages: dict[str, str]
    newest_s: Seconds


class RootFacts(DebianFacts):
    """Of a root image: a hash over all that a lab sees of it, and the key of its Debian."""

    manifest: Line
    debian: Line


class KeptFacts(BaseModel):
    """What the cache adds for itself. ``watched``: see `record`; older entries have none.

    ``imported``: another machine has made it, or what it was made of.
    """

    model_config = ConfigDict(strict=True, defer_build=True)

    made_at_s: Seconds
    size_bytes: Annotated[int, Field(ge=0)]
    watched: dict[str, tuple[int, int]] = {}
    imported: bool = False


IMPORTED: Final = {"imported": True}


FACTS: Final[dict[str, type[Facts]]] = {"kernel": KernelFacts, "debian": DebianFacts, "rootfs": RootFacts}
PRODUCTS: Final = {"kernel": "linux", "debian": "debian.tar.gz", "rootfs": "root"}
"""The file or folder of an entry that each kind of build is made for."""


class DamagedEntryError(LabError):
    """An entry that is not what was built."""

    def __init__(self, path: Path, reason: str, *, hint: str = "wirelab lab build") -> None:
        super().__init__(f"{path} is damaged: {reason}", hint=hint)


@dataclass(frozen=True)
class Entry:
    """A finished build: its folder, and what it says of itself."""

    kind: str
    key: str
    path: Path
    facts: Mapping[str, Any]
    """What it was made from and what came out; always ``title``, ``made_at_s``, ``size_bytes``."""
    watched: Mapping[str, tuple[int, int]] = field(default_factory=dict, repr=False)

    @property
    def id(self) -> str:
        """The name of exactly this build, for results to be kept with."""
        return f"{self.kind}-{self.key}"

    @property
    def product(self) -> Path:
        """What it was built for: the kernel's program, the packed Debian, the folder that is a lab's root."""
        return self.path / PRODUCTS[self.kind]

    @property
    def is_imported(self) -> bool:
        """Whether it is not of this machine's making."""
        return bool(self.facts.get("imported"))

    def in_use(self) -> contextlib.AbstractContextManager[None]:
        """Keep the entry from being pruned while the context lasts."""
        return lock.shared(self.path / ENTRY)

    def check(self) -> None:
        """Raise DamagedEntryError if its content changed, as far as `is_suspicious` can see."""
        if is_suspicious(self.path, self.watched):
            self._compare("wirelab lab build")

    def verify(self) -> bool:
        """Compare all content with what was built. Raises DamagedEntryError naming the files.

        Returns False where nothing is known of it: the entry is of a wirelab that kept no hashes.
        """
        if self.watched:
            # A build looks at sizes and times, and would take it for sound.
            self._compare(f"rm -r {self.path}; wirelab lab build")
        return bool(self.watched)

    def _compare(self, hint: str) -> None:
        if files := differences(self.path):
            more = [f"and {len(files) - _NAMED_FILES} more"] if len(files) > _NAMED_FILES else []
            raise DamagedEntryError(self.path, ", ".join([*files[:_NAMED_FILES], *more]), hint=hint)


def read_entry(path: Path, kind: str) -> Entry | None:
    """The entry in the folder ``path``, None if there is none.

    Raises DamagedEntryError if it cannot be understood, OSError if it is somebody else's secret.
    """
    file = path / ENTRY
    try:
        content = file.read_bytes()
        facts = FACTS[kind].model_validate_json(content).model_dump(exclude={"watched"})
        kept = KeptFacts.model_validate_json(content)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if error.errno == errno.EACCES and not (
            os.access(path, os.X_OK) and file.stat().st_uid == os.getuid()
        ):
            raise
        raise DamagedEntryError(file, error.strerror or str(error)) from error
    except ValidationError as error:
        problem = error.errors()[0]
        field_name = ".".join(map(str, problem["loc"]))
        raise DamagedEntryError(file, f"{field_name}: {problem['msg']}".removeprefix(": ")) from error
    return Entry(kind, path.name, path, facts, kept.watched)


def intact(
    find: Callable[[*Ts], Entry | None], *args: *Ts, say: Callable[[str], None] = lambda _: None
) -> Entry | None:
    """What ``find`` finds, if it is as it was built; None if it is not, which ``say`` hears, or not there."""
    try:
        if entry := find(*args):
            entry.check()
    except DamagedEntryError as error:
        say(f"{error.message}; it is made anew")
        return None
    return entry


def record(folder: Path) -> dict[str, tuple[int, int]]:
    """Write CONTENTS of a build in ``folder``. Returns what ``is_suspicious`` looks at.

    That is the sizes in bytes and the times in ns of the largest files, and the times of their folders.
    """
    for path in folder.iterdir():
        # In whole seconds, as they are in a container's image.
        if path.is_file():
            os.utime(path, ns=(whole_ns := path.stat().st_mtime_ns // NS_PER_S * NS_PER_S, whole_ns))
    hashes = _hashes(folder)
    (folder / CONTENTS).write_text(json.dumps(hashes, indent=0) + "\n", encoding="utf-8")
    sizes_bytes = {name: size for name in hashes if (size := _look(f"{folder}/{name}")[0]) >= 0}
    watched = sorted(sizes_bytes, key=lambda name: (-sizes_bytes[name], name))[:_WATCHED_FILES]
    watched += sorted({parent for name in watched if (parent := os.path.dirname(name))})  # noqa: PTH120 - a str
    return {name: _look(f"{folder}/{name}") for name in watched if name.isprintable()}


def is_suspicious(folder: Path, watched: Mapping[str, tuple[int, int]]) -> bool:
    """Whether one of the ``watched`` has another size or time, or is gone: some 300 calls of lstat(2).

    It misses a small file that was written in place, a change after which the times were put back, and bytes
    that rotted on the disk. ``differences`` misses none of these.
    """
    try:
        return any(_look(f"{folder}/{name}") != known for name, known in watched.items())
    except OSError:
        return True


def differences(folder: Path) -> list[str]:
    """Every file that is not as it was when CONTENTS was written, with what is wrong with it."""
    try:
        known = json.loads((folder / CONTENTS).read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        return [f"{CONTENTS} cannot be read: {error}"]
    if not isinstance(known, dict):
        return [f"{CONTENTS} holds no hashes"]
    try:
        hashes = _hashes(folder)
    except OSError as error:
        return [f"{error.filename} cannot be read: {error.strerror}"]
    changed = [f"{name} was changed" for name in known.keys() & hashes.keys() if known[name] != hashes[name]]
    missing = [f"{name} is missing" for name in known.keys() - hashes.keys()]
    return sorted([*changed, *missing, *(f"{name} was added" for name in hashes.keys() - known.keys())])


def _look(path: str) -> tuple[int, int]:
    status = os.lstat(path)
    return (status.st_size if stat.S_ISREG(status.st_mode) else -1), status.st_mtime_ns


def _hashes(folder: Path) -> dict[str, str]:
    records = {}
    for path in sorted(folder.iterdir()):
        if path.is_dir():
            for name, seen in tree.records(path):
                records[os.path.normpath(os.path.join(path.name, os.fsdecode(name)))] = seen  # noqa: PTH118 - a str
        elif path.name not in (CONTENTS, ENTRY):
            records[path.name] = tree.file_digest(path)
    return {name: hashlib.sha256(seen).hexdigest()[:_HASH_DIGITS] for name, seen in records.items()}
