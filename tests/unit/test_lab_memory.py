"""Where a lab's memory lives: somewhere with room, from where code may be executed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from mounts import in_memory

from wirelab.errors import LabError
from wirelab.lab.memory import memory_folder

if TYPE_CHECKING:
    from pathlib import Path

MIB = 1 << 20


def test_a_folder_in_memory_has_room_and_lets_code_be_executed(tmp_path: Path) -> None:
    """As Docker makes /dev/shm it has 64 MiB and is noexec: neither will do; a gibibyte will."""
    with (
        in_memory(tmp_path / "small", "size=64m") as small,
        in_memory(tmp_path / "noexec", "size=1g,noexec") as noexec,
        in_memory(tmp_path / "good", "size=1g") as good,
    ):
        assert memory_folder(tmp_path, [tmp_path / "not-there", small, noexec, good]) == good
        assert memory_folder(tmp_path, [small, noexec]) == tmp_path
        assert memory_folder(small, [noexec]) == small


def test_no_folder_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names the last one, and what to do where: on a machine, in a container."""
    with in_memory(tmp_path / "noexec", "size=1g,noexec") as noexec:
        with pytest.raises(LabError, match="noexec does not let code be executed") as caught:
            memory_folder(noexec, [])
        assert "TMPDIR" in (caught.value.hint or "")
        monkeypatch.setenv("container", "oci")
        with pytest.raises(LabError) as caught:
            memory_folder(noexec, [])
        assert "--tmpfs /tmp:exec" in (caught.value.hint or "")
