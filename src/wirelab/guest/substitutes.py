"""Programs in front of others: what a command of the user's starts by name, and no scenario does."""

from pathlib import Path

from wirelab.guest.shell import run

FOLDER = Path("/run/wirelab/bin")
"""Whoever is to find them has it first in the PATH, or has them laid over."""

_LOCAL = Path("/usr/local/bin")
_SYSTEM = Path("/usr/bin")
_IPERF3 = "iperf3"
_SCRIPT = Path(__file__).with_name("iperf3.sh")


def make() -> None:
    """Make them in ``FOLDER``, of what is as Debian has it."""
    FOLDER.mkdir()
    if (_SYSTEM / _IPERF3).exists() and not (_LOCAL / _IPERF3).exists():
        script = FOLDER / _IPERF3
        script.write_text(_SCRIPT.read_text())
        script.chmod(0o755)


def lay_over() -> None:
    """Have everybody find them: sudo and sshd begin with a PATH of their own. Raises CommandError."""
    run(["mount", "-t", "overlay", "-o", f"lowerdir={FOLDER}:{_LOCAL}", "overlay", str(_LOCAL)])
