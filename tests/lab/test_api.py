"""The way in for Python, with a real lab: a run, and the frames around its first drop."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import wirelab
from docs.commands import EXAMPLES

if TYPE_CHECKING:
    from pathlib import Path

SLOW_LINK = EXAMPLES / "notebooks" / "slow-link.yaml"


@pytest.fixture(scope="module")
def run(request: pytest.FixtureRequest) -> wirelab.Run:
    """A download that loses frames in a module."""
    option = request.config.getoption
    kernel: Path | None = option("--kernel")
    root: Path | None = option("--root")
    return wirelab.run(SLOW_LINK, kernel=kernel, root=root)


def test_the_frames_around_the_first_drop(run: wirelab.Run) -> None:
    """Each is sent, received or dropped within the window; what is dropped finds a FIFO without room for it.

    In the same window the other port of the module has every one of the lost frames arrive, by its number.
    """
    both = run.frames(["module.line", "module.host"], "first drop ± 100 us")
    frames, host = both[both.port == "module.line"], both[both.port == "module.host"]
    lost = frames[frames.what == "dropped"]
    assert run.port("module.line").drops["queue"] >= len(lost) > 0
    assert frames.at_ns.is_monotonic_increasing
    first_ns = lost.at_ns.iloc[0]
    assert ((frames.at_ns - first_ns).abs() <= 100_000).all()
    assert frames.at_ns.min() < first_ns < frames.at_ns.max()
    assert set(lost.why) == {"FIFO 16 KiB full, 15 140 B waiting"}
    segments = frames[frames.length_bytes == 1514]
    assert set(zip(segments.protocol, segments.destination_port, segments.payload_bytes, strict=True)) == {
        ("tcp", 5201, 1460)
    }
    assert set(lost.frame) <= set(host[host.what == "received"].frame)


def test_bad_windows_and_ports_are_refused(run: wirelab.Run) -> None:
    """With the nearest right word, or what there is."""
    with pytest.raises(wirelab.InputError, match=r"unknown port `modul\.line`; did you mean `module\.line`?"):
        run.frames(["module.line", "modul.line"])
    with pytest.raises(wirelab.InputError, match="no port is named"):
        run.frames([])
    with pytest.raises(wirelab.InputError, match=r"switch\.p2 drops nothing in this run"):
        run.frames("switch.p2")
    with pytest.raises(wirelab.InputError, match=r"`100s\.\.101s` is outside the run"):
        run.frames("module.line", "100s..101s")
    with pytest.raises(wirelab.InputError, match="unknown flow `upload`"):
        run.flow("upload")
