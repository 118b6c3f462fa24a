"""iperf3 as people type it in a lab: whoever asks for an amount has a bitrate, or it would never end."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest

from wirelab.guest import substitutes

SCRIPT = (
    Path(substitutes.__file__).with_name("iperf3.sh").read_text().replace("exec /usr/bin/iperf3", "echo told")
)


def told(words: str) -> str:
    """What iperf3 is told where somebody types ``words``."""
    argv = ["sh", "-c", SCRIPT, "iperf3", *shlex.split(words)]
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout  # noqa: S603 - our own


@pytest.mark.parametrize(
    "words",
    [
        "-c h2 -n 1M",
        "-Rn1M -c h2",
        "-1Vk 20",
        "--blockcount=20 --bidir",
        "--by 1M -c u",
        "-c h2 -C bbr -n 1M",
    ],
)
def test_an_amount_gets_a_bitrate(words: str) -> None:
    """However it is asked for."""
    assert told(words) == f"told -b 1T {words}\n"


@pytest.mark.parametrize(
    "words",
    ["-s", "-n 1M -b 2M", "-u -n 1M", "-Runk 1", "--udp --bytes 1M", "-n 1M --bandwidth=1M", "-cnk -t 1"],
)
def test_everything_else_is_left_alone(words: str) -> None:
    """Whoever has a bitrate, UDP among them, and whoever asks for no amount: a value can look like that."""
    assert told(words) == f"told {words}\n"
