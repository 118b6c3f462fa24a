"""How often somebody may do something: buckets that fill up again."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

_MOST_BUCKETS: Final = 10_000


class Deed(Enum):
    """What is limited: so many at once, and one more after so many seconds."""

    JOIN = (60, 1.0)
    """A class joins at the same time, behind one address."""
    WRONG_CODE = (20, 6.0)
    WRONG_PASSWORD = (5, 30.0)
    POST = (120, 0.25)
    RUN = (20, 3.0)
    WATCH = (60, 0.5)
    SHELL = (10, 10.0)

    def __init__(self, at_once: int, seconds_each: float) -> None:
        self.at_once = at_once
        self.seconds_each = seconds_each


@dataclass(slots=True)
class Limits:
    """Who has done what lately. May be asked from any thread; ``clock`` gives seconds."""

    clock: Callable[[], float]
    _full_at_s: OrderedDict[tuple[Deed, str], float] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def wait_s(self, deed: Deed, who: str) -> float:
        """How long ``who`` has to wait before that, 0 if it may be done now. It is not counted as done."""
        with self._lock:
            return self._wait_s(deed, who, self.clock())

    def take(self, deed: Deed, who: str) -> float:
        """The same, and where it may be done it is counted."""
        with self._lock:
            now_s = self.clock()
            wait_s = self._wait_s(deed, who, now_s)
            if wait_s == 0:
                full_at_s = max(self._full_at_s.pop((deed, who), now_s), now_s)
                self._full_at_s[deed, who] = full_at_s + deed.seconds_each
                while len(self._full_at_s) > _MOST_BUCKETS:
                    self._full_at_s.popitem(last=False)
            return wait_s

    def give_back(self, deed: Deed, who: str) -> None:
        """It was none after all: it does not count."""
        with self._lock:
            if (full_at_s := self._full_at_s.get((deed, who))) is not None:
                self._full_at_s[deed, who] = full_at_s - deed.seconds_each

    def _wait_s(self, deed: Deed, who: str, now_s: float) -> float:
        ahead_s = self._full_at_s.get((deed, who), now_s) - now_s
        return max(0.0, ahead_s - (deed.at_once - 1) * deed.seconds_each)
