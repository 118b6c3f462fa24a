"""What makes a lab fast and changes nothing in what it measures; each can be turned off, to show that.

The file ``slow`` beside the Plan names what is: ``idle``, ``blocks``.
"""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

# kernel/patches/0008-um-idle-until-wanted.patch
_STAY_IDLE = Path("/sys/module/time/parameters/stay_idle")
# arch/x86/include/uapi/asm/prctl.h, as kernel/patches/0010-um-read-whole-blocks.patch has it
_ARCH_UM_READ_BLOCK = 0x1F01
# asm/unistd_64.h
_ARCH_PRCTL = 158


class Shortcuts:
    """The ones that a lab takes."""

    def __init__(self, slow: frozenset[str] = frozenset()) -> None:
        self._whole_blocks = "blocks" not in slow
        if "idle" in slow:
            _STAY_IDLE.write_text("N")

    @classmethod
    def of(cls, plan_folder: Path) -> Self:
        """All but those that a plan folder turns off."""
        file = plan_folder / "slow"
        return cls(frozenset(file.read_text().split() if file.exists() else ()))

    @contextmanager
    def read_whole(self, size_bytes: int | None) -> Iterator[None]:
        """Let what is started meanwhile wait in the kernel whenever it reads ``size_bytes`` from a socket.

        TCP sees no difference; the program wakes once a block, not once a batch of frames. None, and a
        kernel without the patch, change nothing.
        """
        if size_bytes is None or not self._whole_blocks:
            yield
            return
        kernel = ctypes.CDLL(None)
        kernel.syscall(_ARCH_PRCTL, _ARCH_UM_READ_BLOCK, size_bytes)
        try:
            yield
        finally:
            kernel.syscall(_ARCH_PRCTL, _ARCH_UM_READ_BLOCK, 0)
