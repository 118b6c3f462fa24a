"""What ports say, several of them at one instant: a program that is started to ask takes time."""

from __future__ import annotations

import sys
from pathlib import Path

# The guest's own code, which is in every lab.
sys.path.insert(0, "/run/wirelab/lib")
from wirelab.guest.ethtool import Ethtool


def coalescing(port: str) -> dict[str, int]:
    """What `ethtool -c` says of frames that come."""
    told = Ethtool().get(port, "ethtool -C")
    return {name: told[name] for name in ("rx-usecs", "rx-frames")}


def counted(port: str) -> dict[str, int]:
    """What `ethtool -S` says without groups, and the frames received of `ip -s link`."""
    asked = Ethtool()
    received = Path(f"/sys/class/net/{port}/statistics/rx_packets").read_text(encoding="ascii")
    return {**asked.named(port, asked.raw_stats(port)), "rx_frames": int(received)}
