"""From two wheels to a verdict, on systems that have Python and nothing else: `make test-hosts`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.fleet.conftest import QUICKEST
from tests.fleet.hosts import CannotError
from tests.hosts.conftest import digest_in
from tests.hosts.systems import HOME, WIRELAB, installed

if TYPE_CHECKING:
    from pathlib import Path


def test_two_wheels_give_a_verdict(release: str, folder: Path, wheels: Path, digest: str) -> None:
    """No root, no network, no compiler: the first run takes the lab from its wheel, and measures the same."""
    try:
        system = installed(release, folder, wheels)
    except CannotError as error:
        pytest.skip(f"no {release} here: {error}")
    for command in ("gcc", "make", "mmdebstrap"):
        assert not list(system.root.glob(f"usr/bin/{command}"))
    system.call(WIRELAB, "run", QUICKEST, "--quiet", "--json-file", "all.json")
    assert digest_in((system.root / HOME[1:] / "all.json").read_text()) == digest
