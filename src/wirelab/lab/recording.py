"""What a lab is to record of its frames, for its kernel's command line (kernel/driver/recorder.c)."""

from dataclasses import dataclass
from typing import ClassVar, Final

RECORD: Final = "record.bin"
"""Its name among the raw files."""
MOMENTS: Final = "moments.bin"
"""The same of a file that has moments only, in blocks."""
LEAST_BYTES: Final = 16 << 20
"""What a file of moments may have at the least, to be of any use."""


@dataclass(frozen=True, slots=True)
class Recording:
    """Windows of the lab's clock in ns, one after the other, and the most that the file may hold."""

    file: ClassVar[str] = RECORD

    windows_ns: tuple[tuple[int, int], ...]
    limit_bytes: int

    def options(self, folder: str) -> tuple[str, ...]:
        """The words of the command line; ``folder`` is the host's, of the raw files."""
        windows = ",".join(f"{from_ns}-{until_ns}" for from_ns, until_ns in self.windows_ns)
        return (
            f"record={folder}/{self.file}",
            f"record_windows={windows}",
            f"record_bytes={self.limit_bytes}",
        )


@dataclass(frozen=True, slots=True)
class Moments:
    """So much around the first drop and around the most drops; of a run without any, the same of pauses.

    ``around_ns`` is from 1 ns to 1 s on either side. The file takes the place of twelve times that at the
    most, and of no more than ``limit_bytes``.
    """

    file: ClassVar[str] = MOMENTS

    around_ns: int
    limit_bytes: int

    def options(self, folder: str) -> tuple[str, ...]:
        """The words of the command line; ``folder`` is the host's, of the raw files."""
        return (
            f"record={folder}/{self.file}",
            f"record_around={self.around_ns}",
            f"record_bytes={self.limit_bytes}",
        )
