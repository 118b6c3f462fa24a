"""What was measured before need not be measured again: raw files under the hash of all they depend on.

In virtual time the raw files of a Plan are a pure function of what the lab gets of it, the kernel, the root
image and the code that runs inside. They are kept; a changed expectation is judged on what was measured.

```
<cache>/runs/<key>          the SHA-256 of the rest, a newline, a tarball of the raw folder
<cache>/runs/<key>-<name>   the same with what else was made of that run, such as its picture
```

Beside them is what became of whole jobs: `kept_results.py`.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from wirelab.lab.select import Lab
from wirelab.plan.types import Plan
from wirelab.runner import tarball
from wirelab.runner.code import PACKAGE, files_id
from wirelab.runner.entries import Entries

FOLDER: Final = "runs"
RAW_LIMIT_BYTES: Final = 256 << 20
"""What the raw files of one run may hold; more is not kept."""

# What an entry looks like: one of another form has another key, and is not found instead of called damaged.
_FORM: Final = "ustar"
_KEY_DIGITS: Final = 40
_AGAIN: Final = ", and what it held is measured again"
_CODE: Final = (
    "guest/*.py",
    "model/__init__.py",
    "model/graph.py",
    "model/trace.py",
    "plan/__init__.py",
    "plan/bond.py",
    "plan/capture.py",
    "plan/event.py",
    "plan/iproute2.py",
    "plan/jsonform.py",
    "plan/node.py",
    "plan/path.py",
    "plan/port_settings.py",
    "plan/queue.py",
    "plan/shape.py",
    "plan/tagged.py",
    "plan/traffic/*.py",
    "plan/types.py",
    "lab/machine.py",
)


@dataclass(frozen=True, slots=True)
class MeasurementCache:
    """The runs that were measured with one lab; may be asked from any thread."""

    entries: Entries
    lab_id: str

    @classmethod
    def of(cls, cache_root: Path, lab: Lab, warn: Callable[[str], None]) -> Self:
        """The runs of ``lab`` in a cache folder; ``warn`` is told what was damaged and is forgotten."""
        parts = (_FORM, lab.kernel_id, lab.root_id, guest_code_id())
        return cls(Entries(cache_root / FOLDER, warn), hashlib.sha256("\0".join(parts).encode()).hexdigest())

    def name(self, *of: str) -> str:
        """The name of the entry of something that was made in this lab of no more than these."""
        key = hashlib.sha256("\0".join((self.lab_id, *of)).encode()).hexdigest()
        return key[:_KEY_DIGITS]

    def has(self, plan: Plan) -> bool:
        """Whether the raw files of ``plan`` are kept; they are not read."""
        return (self.entries.folder / self._raw(plan)).is_file()

    def restore(self, plan: Plan, raw: Path) -> bool:
        """Put the raw files of ``plan`` into the folder ``raw``, which is made. False: they are not known."""
        name = self._raw(plan)
        packed = self.entries.read(name, _AGAIN)
        if packed is None:
            return False
        try:
            # All of it, before anything is written.
            files = dict(tarball.unpack(packed, RAW_LIMIT_BYTES))
        except tarball.DamagedTarballError as error:
            self.forget(plan, str(error))
            return False
        raw.mkdir()
        for path, content in files.items():
            tarball.write(raw / path, content)
        self.entries.used(name)
        return True

    def keep(self, plan: Plan, raw: Path) -> None:
        """Keep the raw files of ``plan``."""
        if sum(path.stat().st_size for path in raw.rglob("*")) <= RAW_LIMIT_BYTES:
            self.entries.write(self._raw(plan), tarball.pack(raw))

    def forget(self, plan: Plan, why: str) -> None:
        """Remove what is kept of ``plan``: it is damaged."""
        self.entries.forget(self._raw(plan), why, _AGAIN)

    def beside(self, plan: Plan, name: str) -> bytes | None:
        """What was kept of that name beside the raw files of ``plan``; None where there is nothing whole."""
        return self.entries.read(self._beside(plan, name))

    def keep_beside(self, plan: Plan, name: str, content: bytes) -> None:
        """Keep something that was made of ``plan`` in the same lab."""
        self.entries.write(self._beside(plan, name), content)

    def forget_beside(self, plan: Plan, name: str, why: str) -> None:
        """Remove what is kept of that name: it is damaged."""
        self.entries.forget(self._beside(plan, name), why)

    def _raw(self, plan: Plan) -> str:
        return self.name(plan.physical_json())

    def _beside(self, plan: Plan, name: str) -> str:
        return f"{self._raw(plan)}-{name}"


def guest_code_id() -> str:
    """A hash of the code whose doing the raw files are."""
    return files_id(PACKAGE, (path for pattern in _CODE for path in PACKAGE.glob(pattern)))
