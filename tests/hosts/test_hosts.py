"""From two wheels to a verdict, on systems that have Python and nothing else: `make test-hosts`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.fleet.conftest import QUICKEST
from tests.hosts.conftest import digest_in
from tests.hosts.systems import WIRELAB

if TYPE_CHECKING:
    from tests.hosts.systems import System


def test_two_wheels_give_a_verdict(system: System, digest: str) -> None:
    """No root, no network, no compiler: the first run takes the lab from its wheel, and measures the same."""
    for command in ("gcc", "make", "mmdebstrap"):
        assert not list(system.root.glob(f"usr/bin/{command}"))
    system.call(WIRELAB, "run", QUICKEST, "--quiet", "--json-file", "all.json")
    assert digest_in((system.home / "all.json").read_text()) == digest
