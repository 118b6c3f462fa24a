"""Inside the lab: p1 = p2, which take their time to negotiate, and when there is a carrier.

Arguments, one after the other: commands for a shell, and ``@<ms>``, which waits until so many milliseconds
after the beginning and notes the carrier of every port that there is: 1, 0, or - for one that is down.
Prints the notes.
"""

import json
import subprocess
import sys
import time
from pathlib import Path

from inside import make_pair, run

# What a process needs to look, and to be woken.
SLACK_S = 0.0001


def carriers() -> str:
    """Of p1, p2 ... a character each."""
    noted = ""
    for port in sorted(Path("/sys/class/net").glob("p[0-9]")):
        try:
            noted += (port / "carrier").read_text().strip()
        except OSError:
            noted += "-"
    return noted


def main() -> None:
    """See above."""
    make_pair()
    for port in ("p1", "p2"):
        run("ethtool", "-s", port, "autoneg", "on")
    start_s = time.monotonic()
    notes = {}
    for word in sys.argv[1:]:
        if word.startswith("@"):
            time.sleep(max(0, start_s + float(word[1:]) / 1000 - time.monotonic() + SLACK_S))
            notes[word[1:]] = carriers()
        else:
            subprocess.run(["bash", "-euc", word], check=True, stdout=subprocess.DEVNULL)
    print(json.dumps(notes))


main()
