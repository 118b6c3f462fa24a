"""What a lab is to record of its frames, for its kernel's command line (kernel/driver/record.c)."""

from dataclasses import dataclass
from typing import Final

RECORD: Final = "record.bin"
"""Its name among the raw files."""


@dataclass(frozen=True, slots=True)
class Recording:
    """Windows of the lab's clock in ns, one after the other, and the most that the file may hold."""

    windows_ns: tuple[tuple[int, int], ...]
    limit_bytes: int

    def options(self, file: str) -> tuple[str, ...]:
        """The words of the command line; ``file`` is the host's."""
        windows = ",".join(f"{from_ns}-{until_ns}" for from_ns, until_ns in self.windows_ns)
        return (
            f"record={file}",
            f"record_windows={windows}",
            f"record_bytes={self.limit_bytes}",
        )
