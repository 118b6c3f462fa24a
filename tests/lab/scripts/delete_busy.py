"""Inside the lab: ports are deleted while others write and read their attributes without a pause.

Prints how many were deleted. Where who deletes and who writes wait for each other, it says so and fails.
"""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

ROUNDS = 10
# Of virtual time: a deletion takes next to none.
PATIENCE_S = 10
# Attributes, what is written to them.
ATTRIBUTES = {"follow": "p2\n", "cable_delay_ns": "15\n", "xoff_bytes": "1000\n"}
FOLDER = Path("/sys/class/net/p1/etherport")
# What a port says that is being deleted, or is gone.
GONE = (errno.ENODEV, errno.ENOENT)


def use(attribute: Path, text: str) -> None:
    """Write and read ``attribute`` until its port is gone, letting others go first each time."""
    try:
        while True:
            attribute.write_text(text)
            os.sched_yield()
            attribute.read_text()
            os.sched_yield()
    except OSError as error:
        if error.errno not in GONE:
            raise


def start(attribute: Path, text: str) -> int:
    """A process that uses ``attribute``."""
    process = os.fork()
    if process == 0:
        use(attribute, text)
        os._exit(0)
    return process


def delete() -> None:
    """Delete the port. Behind all others in the queue for the CPU: whoever can get in its way does."""
    deletion = subprocess.Popen(["nice", "-n", "19", "ip", "link", "del", "p1"])
    try:
        code = deletion.wait(timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        # Not waited for: it cannot even be killed.
        print("who deletes the port and who writes to it wait for each other", file=sys.stderr, flush=True)
        os._exit(1)
    if code:
        sys.exit(code)


def main() -> None:
    """Delete one port after the other, each while its attributes are in use."""
    for _ in range(ROUNDS):
        subprocess.run(["ip", "link", "add", "name", "p1", "type", "etherport"], check=True)
        subprocess.run(["ip", "link", "set", "p1", "up"], check=True)
        users = [start(FOLDER / name, text) for name, text in ATTRIBUTES.items()]
        os.sched_yield()
        delete()
        if any(os.waitpid(user, 0)[1] for user in users):
            sys.exit("an attribute failed in another way than by the end of its port")
    print(ROUNDS)


main()
