"""On a processor that is emulated, as on an arm64 laptop: `make test-emulated`. It takes some ten minutes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.fleet.conftest import QUICKEST
from tests.fleet.hosts import CannotError
from tests.hosts import emulated
from tests.hosts.systems import PYTHONS, WIRELAB, installed

if TYPE_CHECKING:
    from pathlib import Path

RELEASE = "trixie"
# It is a hundred times as slow where the machine has other things to do.
WALL_LIMIT_S = 3000


def test_an_emulated_processor_measures_the_same(
    folder: Path, wheels: Path, digest: str, request: pytest.FixtureRequest
) -> None:
    """The lab needs nothing of a processor that an emulator does not have: the same digest, later."""
    if not request.config.getoption("emulated"):
        pytest.skip("no --emulated: make test-emulated")
    try:
        system = installed(RELEASE, folder, wheels, (emulated.KERNEL_PACKAGE,))
    except CannotError as error:
        pytest.skip(f"no {RELEASE} here: {error}")
    again = [WIRELAB, "run", QUICKEST, "--no-cache"]
    try:
        console, ended = emulated.run(system, PYTHONS[RELEASE], folder, [again, again], WALL_LIMIT_S)
    except emulated.EmulatorError as error:
        pytest.skip(str(error))
    assert [command.code for command in ended] == [0, 0], console
    assert re.findall(r"digest\s+([0-9a-f]{12})", console) == [digest[:12]] * 2
    first, second = ended
    told = f"{QUICKEST}: {first.wall_s} s with the lab to be taken first, {second.wall_s} s without"
    print(told)  # noqa: T201 - how long one waits is what a reader asks
