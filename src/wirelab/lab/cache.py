"""What was built once and is used by every run: entries under the hash of what they are made from.

```
<kind>/<key>/entry.json     an entry: it counts as soon as it has this name, and is never changed afterwards
<kind>/.<key>.<random>/     an entry in the making
refs/<name>.json            the key that a question asked of apt was answered with, so that nobody asks twice
locks/ logs/ downloads/ apt/
```
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wirelab.errors import LabError
from wirelab.lab import lock

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from wirelab.lab.workshop import Listener

KINDS = ("kernel", "debian", "rootfs")
KEY_LENGTH = 20
ENTRY = "entry.json"


@dataclass(frozen=True)
class Entry:
    """A finished build: its folder, and what it says of itself."""

    kind: str
    key: str
    path: Path
    facts: Mapping[str, Any]
    """What it was made from and what came out; always ``title``, ``made_at_s``, ``size_bytes``."""

    @property
    def id(self) -> str:
        """The name of exactly this build, for results to be kept with."""
        return f"{self.kind}-{self.key}"

    def in_use(self) -> contextlib.AbstractContextManager[None]:
        """Keep the entry from being pruned while the context lasts."""
        return lock.shared(self.path / ENTRY)


@dataclass(frozen=True)
class Cache:
    """A folder of entries."""

    root: Path

    @classmethod
    def at(cls, environ: Mapping[str, str]) -> Cache:
        """The user's cache: $WIRELAB_CACHE, else $XDG_CACHE_HOME/wirelab, else ~/.cache/wirelab."""
        try:
            if named := environ.get("WIRELAB_CACHE"):
                return cls(Path(named).expanduser().absolute())
            base = Path(environ.get("XDG_CACHE_HOME", ""))
            return cls((base if base.is_absolute() else Path.home() / ".cache") / "wirelab")
        except RuntimeError as error:
            # A user that only a number names, as in a container, has no home but the one that HOME says.
            message = f"there is no telling where the cache is: user {os.getuid()} has no home folder"
            raise LabError(message, hint="set WIRELAB_CACHE to a folder") from error

    def find(self, kind: str, key: str) -> Entry | None:
        """The entry of that key, None if it is not built."""
        path = self.root / kind / key
        try:
            facts = json.loads((path / ENTRY).read_text(encoding="utf-8"))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise explained(error, path) from error
        return Entry(kind, key, path, facts)

    def entries(self) -> tuple[Entry, ...]:
        """All finished entries, oldest first."""
        found = (self.find(kind, path.name) for kind in KINDS for path in self._folders(kind))
        return tuple(sorted((entry for entry in found if entry), key=lambda entry: entry.facts["made_at_s"]))

    def build(self, kind: str, key: str, make: Callable[[Path], Mapping[str, Any]], tell: Listener) -> Entry:
        """The entry of that key; if there is none, ``make`` fills a new folder and returns its facts.

        One process builds a key at a time: a second waits and finds the entry there. Whatever interrupts
        ``make``, no entry comes to be.
        """
        if found := self.find(kind, key):
            return found
        with self.locked(f"{kind}-{key}", f"another process is building this {kind}", tell):
            if found := self.find(kind, key):
                return found
            with self.os_errors():
                return self._make(kind, key, make)

    def _make(self, kind: str, key: str, make: Callable[[Path], Mapping[str, Any]]) -> Entry:
        home = self.folder(kind)
        for stale in home.glob(f".{key}.*"):
            discard(stale)
        folder = Path(tempfile.mkdtemp(prefix=f".{key}.", dir=home))
        try:
            facts = {
                **make(folder),
                "made_at_s": int(time.time()),
                "size_bytes": sum(os.lstat(path).st_size for path in folder.rglob("*")),
            }
            (folder / ENTRY).write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
            folder.chmod(0o755)
            os.sync()
            folder.rename(home / key)
        except BaseException:
            discard(folder)
            raise
        return Entry(kind, key, home / key, facts)

    def recall(self, name: str) -> dict[str, Any] | None:
        """What was remembered under ``name``, None if nothing was."""
        try:
            remembered = json.loads((self.root / "refs" / f"{name}.json").read_text(encoding="utf-8"))
        except (FileNotFoundError, NotADirectoryError, json.JSONDecodeError):
            return None
        except OSError as error:
            raise explained(error, self.root) from error
        return remembered if isinstance(remembered, dict) else None

    def remember(self, name: str, facts: Mapping[str, Any]) -> None:
        """Keep ``facts`` under ``name``, in place of what was there."""
        with self.os_errors():
            target = self.folder("refs") / f"{name}.json"
            with tempfile.NamedTemporaryFile("w", dir=target.parent, prefix=".", delete=False) as file:
                file.write(json.dumps(facts, indent=2) + "\n")
            fresh = Path(file.name)
            fresh.chmod(0o644)
            fresh.rename(target)

    def folder(self, *names: str) -> Path:
        """A folder of the cache, made if it is not there."""
        path = self.root.joinpath(*names)
        with self.os_errors():
            path.mkdir(parents=True, exist_ok=True)
        return path

    def log(self, name: str) -> Path:
        """A fresh log file."""
        path = self.folder("logs") / f"{name}.log"
        with self.os_errors():
            path.write_bytes(b"")
        return path

    def locked(self, name: str, why: str, tell: Listener) -> contextlib.AbstractContextManager[None]:
        """Hold the lock ``name``; if another process has it, say ``why`` and wait."""
        path = self.folder("locks") / name
        with self.os_errors():
            path.touch()
        return lock.exclusive(path, lambda: tell.say(f"{why}: waiting for it"))

    def prune(self, keep: Collection[Entry], tell: Listener) -> int:
        """Remove every entry but those of ``keep`` and those in use, and all that was only kept to build.

        Returns how many bytes that freed.
        """
        before = disk_bytes(self.root)
        kept = {entry.path for entry in keep}
        with self.os_errors():
            for kind in KINDS:
                for path in self._folders(kind, hidden=True):
                    if path not in kept and not self._remove(kind, path):
                        tell.say(f"{path} is in use: it stays")
            with lock.exclusive_now(self.root / "locks" / "apt") as idle:
                for name in ("downloads", "apt", "logs") if idle else ():
                    discard(self.root / name)
            for ref in (self.root / "refs").glob("*.json"):
                kind = ref.name.split("-")[0]
                remembered = self.recall(ref.stem)
                if not remembered or self.find(kind, str(remembered.get("key"))) is None:
                    ref.unlink(missing_ok=True)
        return before - disk_bytes(self.root)

    def _remove(self, kind: str, path: Path) -> bool:
        key = path.name.removeprefix(".").split(".")[0]
        with (
            lock.exclusive_now(self.root / "locks" / f"{kind}-{key}") as not_building,
            lock.exclusive_now(path / ENTRY) as not_running,
        ):
            if not (not_building and not_running):
                return False
            # Under another name first: half an entry must not count as one.
            doomed = path.with_name(f".{key}.pruned-{os.getpid()}")
            path.rename(doomed)
            discard(doomed)
            return True

    def _folders(self, kind: str, *, hidden: bool = False) -> list[Path]:
        home = self.root / kind
        if not home.is_dir():
            return []
        return sorted(path for path in home.iterdir() if hidden or not path.name.startswith("."))

    @contextlib.contextmanager
    def os_errors(self) -> Iterator[None]:
        """Turn what the operating system refuses within the cache into a LabError that says what to do."""
        try:
            yield
        except OSError as error:
            raise explained(error, self.root) from error


def explained(error: OSError, path: Path) -> LabError:
    """A LabError for what the operating system refused, with the path and what to do."""
    where = error.filename or path
    # Not $USER: in a container there may be none.
    others = f'set WIRELAB_CACHE to a folder of yours, or make {path} yours: sudo chown -R "$(id -u)" {path}'
    hints = {
        errno.ENOSPC: f"make room on the disk of {path} (`wirelab lab prune`), or set WIRELAB_CACHE",
        errno.EDQUOT: f"make room in your quota for {path} (`wirelab lab prune`), or set WIRELAB_CACHE",
        errno.EACCES: others,
        errno.EPERM: others,
        errno.EROFS: "set WIRELAB_CACHE to a folder on a disk that can be written",
    }
    hint = hints.get(error.errno or 0, "set WIRELAB_CACHE to a folder of yours")
    return LabError(f"{where}: {error.strerror or error}", hint=hint)


def discard(path: Path) -> None:
    """Remove a tree, whatever modes its folders have and whoever else is removing it."""
    for folder, names, _ in os.walk(path):
        for name in names:
            inner = Path(folder, name)
            if not inner.is_symlink():
                with contextlib.suppress(OSError):
                    inner.chmod(0o700)
    shutil.rmtree(path, ignore_errors=True)


def disk_bytes(path: Path) -> int:
    """The disk space a tree takes, a file with several names counted once."""
    seen: dict[tuple[int, int], int] = {}
    for folder, _, names in os.walk(path):
        for name in names:
            with contextlib.suppress(OSError):
                stat = os.lstat(Path(folder, name))
                seen[stat.st_dev, stat.st_ino] = stat.st_blocks * 512
    return sum(seen.values())
