"""Runs scripts one after the other, each in a network namespace of its own, and prints what each has printed.

    each.py '[["one_flow.py", "--speed", "100"], ["one_flow.py"]]'

To boot a lab takes longer than most scripts do. Each prints one JSON object, and may leave namespaces behind.
"""

from __future__ import annotations

import json
import subprocess
import sys

answers = []
for argv in json.loads(sys.argv[1]):
    subprocess.run(("ip", "netns", "add", "own"), check=True)
    done = subprocess.run(
        ("ip", "netns", "exec", "own", "python3", "-B", *argv), check=False, stdout=subprocess.PIPE
    )
    if done.returncode:
        sys.exit(f"{argv}: exit code {done.returncode}")
    answers.append(json.loads(done.stdout))
    subprocess.run(("ip", "-all", "netns", "delete"), check=True)
print(json.dumps(answers))
