"""Inside the lab: bash does the same over and over, as scripts do: `programs.py 1000 'ip -V >/dev/null'`."""

import subprocess
import sys


def main() -> None:
    """Have it do the second argument as often as the first says."""
    times, what = sys.argv[1:]
    subprocess.run(["/usr/bin/bash", "-c", f"for i in {{1..{int(times)}}}; do {what}; done"], check=True)


main()
