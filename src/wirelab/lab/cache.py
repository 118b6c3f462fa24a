"""What was built once and is used by every run: entries under the hash of what they are made from.

```
<kind>/<key>/entry.json     an entry: it counts as soon as it has this name, and is never changed afterwards
<kind>/<key>/contents.json  the hash of each of its files
<kind>/.<key>.<random>/     an entry in the making
<kind>/.damaged-<key>/      an entry that was damaged, or imported, and was made anew
refs/<name>.json            the key that a question asked of apt was answered with, so that nobody asks twice
locks/ logs/ downloads/ apt/
```
"""

import contextlib
import errno
import json
import os
import re
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from wirelab.errors import LabError
from wirelab.lab import lock
from wirelab.lab.entry import ENTRY, FACTS, DamagedEntryError, Entry, intact, read_entry, record
from wirelab.lab.reporter import Reporter
from wirelab.lab.scratch import discard, replacement

Maker = Callable[[Path], Mapping[str, Any]]

_KEPT_TO_BUILD: Final = ("downloads", "apt", "logs")
_BUILDING: Final = "building"
_KEY: Final = re.compile(r"[0-9a-z]{1,64}")
# Not $USER: in a container there may be none.
_OTHERS: Final = 'set WIRELAB_CACHE to a folder of yours, or make {0} yours: sudo chown -R "$(id -u)" {0}'
_HINTS: Final = {
    errno.ENOSPC: "make room on the disk of {0} (`wirelab lab prune`), or set WIRELAB_CACHE",
    errno.EDQUOT: "make room in your quota for {0} (`wirelab lab prune`), or set WIRELAB_CACHE",
    errno.EACCES: _OTHERS,
    errno.EPERM: _OTHERS,
    errno.EROFS: "set WIRELAB_CACHE to a folder on a disk that can be written",
}


@dataclass(frozen=True)
class Cache:
    """A folder of entries."""

    root: Path

    @classmethod
    def at(cls, environ: Mapping[str, str]) -> Self:
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

    def find(self, kind: str, key: str | None) -> Entry | None:
        """The entry of that key, None if it is not built. Raises DamagedEntryError for half of one."""
        with self.os_errors():
            return read_entry(self.root / kind / key, kind) if key else None

    def entries(self, on_damage: Callable[[DamagedEntryError], None] = lambda _: None) -> tuple[Entry, ...]:
        """All finished entries, oldest first. ``on_damage`` hears of those that cannot be read."""
        entries = []
        for kind in FACTS:
            for path in self._folders(kind):
                try:
                    entries.append(self.find(kind, path.name))
                except DamagedEntryError as error:
                    on_damage(error)
        return tuple(sorted(filter(None, entries), key=lambda entry: entry.facts["made_at_s"]))

    def build(
        self, kind: str, key: str, make: Maker, reporter: Reporter, *, from_source: bool = False
    ) -> Entry:
        """The entry of that key; if there is none, ``make`` fills a new folder and returns its facts.

        One process builds a key at a time: a second waits and finds the entry there. Whatever interrupts
        ``make``, no entry comes to be. One that is damaged is set aside, and with ``from_source`` one that
        was imported.
        """

        def usable(say: Callable[[str], None] = lambda _: None) -> Entry | None:
            entry = intact(self.find, kind, key, say=say)
            return None if entry and from_source and entry.is_imported else entry

        if entry := usable():
            return entry
        why = f"another process is building this {kind}"
        with self.building(), self.locked(f"{kind}-{key}", why, reporter):
            if entry := usable(reporter.say):
                return entry
            with self.os_errors():
                path = self.root / kind / key
                if os.path.lexists(path) and not self._retire(path, f".damaged-{key}"):
                    message = f"{path} is to be made anew, and in use by a run"
                    raise LabError(message, hint="wait for its end, and build again")
                return self._make(kind, key, make)

    def _retire(self, path: Path, name: str) -> Path | None:
        """Take an entry its name, unless it is in use. Half an entry must not count as one."""
        # What cannot be opened cannot be in use.
        with contextlib.suppress(OSError):
            if (path / ENTRY).is_symlink():
                (path / ENTRY).unlink()
            elif not os.access(path / ENTRY, os.R_OK):
                (path / ENTRY).chmod(0o600)
        with lock.exclusive_now(path / ENTRY) as not_running:
            if not not_running:
                return None
            target = path.with_name(name)
            discard(target)
            return path.rename(target)

    def _make(self, kind: str, key: str, make: Maker) -> Entry:
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
            watched = record(folder)
            text = json.dumps({**facts, "watched": watched}, indent=2) + "\n"
            (folder / ENTRY).write_text(text, encoding="utf-8")
            folder.chmod(0o755)
            os.sync()
            folder.rename(home / key)
        except BaseException:
            discard(folder)
            raise
        return Entry(kind, key, home / key, facts, watched)

    def remembered(self, name: str) -> str | None:
        """The key that was remembered under ``name``, None if none was."""
        with self.os_errors():
            try:
                key = json.loads((self.root / "refs" / f"{name}.json").read_bytes())["key"]
            except PermissionError:
                # What we may not read is somebody else's cache, not an answer that nobody knows.
                raise
            except (OSError, ValueError, LookupError, TypeError, RecursionError):
                return None
        return key if isinstance(key, str) and _KEY.fullmatch(key) else None

    def remember(self, name: str, key: str) -> None:
        """Keep ``key`` under ``name``, in place of what was there."""
        with self.os_errors():
            target = self.folder("refs") / f"{name}.json"
            with replacement(target) as fresh:
                fresh.write_text(json.dumps({"key": key}, indent=2) + "\n", encoding="utf-8")
                fresh.chmod(0o644)
                if target.is_dir():
                    discard(target)

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

    def locked(self, name: str, why: str, reporter: Reporter) -> contextlib.AbstractContextManager[None]:
        """Hold the lock ``name``; if another process has it, say ``why`` and wait."""
        return lock.exclusive(self._lock(name), lambda: reporter.say(f"{why}: waiting for it"))

    def building(self) -> contextlib.AbstractContextManager[None]:
        """Keep what is only kept to build from being pruned while the context lasts."""
        return lock.shared(self._lock(_BUILDING))

    def _lock(self, name: str) -> Path:
        path = self.folder("locks") / name
        with self.os_errors():
            path.touch()
        return path

    def prune(self, keep: Collection[Entry], reporter: Reporter) -> int:
        """Remove every entry but those of ``keep`` and those in use, and all that was only kept to build.

        Returns how many bytes that freed.
        """
        before = disk_bytes(self.root)
        kept = {entry.path for entry in keep}
        with self.os_errors():
            for kind in FACTS:
                for path in self._folders(kind, hidden=True):
                    if path not in kept and not self._remove(kind, path):
                        reporter.say(f"{path} is in use: it stays")
            with lock.exclusive_now(self._lock(_BUILDING)) as idle:
                if not idle:
                    reporter.say(f"a build is under way: {', '.join(_KEPT_TO_BUILD)} of {self.root} stay")
                for name in _KEPT_TO_BUILD if idle else ():
                    discard(self.root / name)
            for ref in (self.root / "refs").glob("*.json"):
                key = self.remembered(ref.stem)
                if not key or not (self.root / ref.name.split("-")[0] / key).exists():
                    discard(ref)
        return before - disk_bytes(self.root)

    def _remove(self, kind: str, path: Path) -> bool:
        key = path.name.removeprefix(".").split(".")[0]
        with lock.exclusive_now(self.root / "locks" / f"{kind}-{key}") as not_building:
            doomed = self._retire(path, f".{key}.pruned-{os.getpid()}") if not_building else None
            if doomed:
                discard(doomed)
        return bool(doomed)

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
            hint = _HINTS.get(error.errno or 0, "set WIRELAB_CACHE to a folder of yours").format(self.root)
            raise LabError(f"{error.filename or self.root}: {error.strerror or error}", hint=hint) from error


def disk_bytes(path: Path) -> int:
    """The disk space a tree takes, a file with several names counted once."""
    seen: dict[tuple[int, int], int] = {}
    for folder, _, names in os.walk(path):
        for name in names:
            with contextlib.suppress(OSError):
                stat = os.lstat(Path(folder, name))
                seen[stat.st_dev, stat.st_ino] = stat.st_blocks * 512
    return sum(seen.values())
