"""Writes into the documents what their commands print.

    PYTHONPATH=src:. python -m docs.generate

A text that differs in nothing but times and dates is left as it is; ``--anew`` measures and writes it, too.
"""

from __future__ import annotations

import argparse
import sys

from docs.commands import COMMANDS, OUTPUTS, ROOT, masked


def main() -> int:
    """Run what was asked for, and say which outputs are new. Returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("names", nargs="*", help="of outputs; all if none is named")
    parser.add_argument("--anew", action="store_true", help="write what differs only in times and dates, too")
    arguments = parser.parse_args()
    names = arguments.names
    unknown = set(names) - {command.name for command in COMMANDS}
    if unknown:
        parser.error(f"no output is called {', '.join(sorted(unknown))}")
    for command in COMMANDS:
        if names and command.name not in names:
            continue
        stored = command.stored()
        if not arguments.anew and masked(command.run()) == masked(stored):
            continue
        # What is new is shown as a first run shows it.
        command.store(command.run(use_cache=False))
        print(f"new output in {command.path.relative_to(ROOT)}: {command.line}")
    kept = {command.path for command in COMMANDS}
    for path in sorted(OUTPUTS.glob("*.txt")):
        if path not in kept:
            path.unlink()
            print(f"removed {path.relative_to(ROOT)}: no command prints it")
    return 0


if __name__ == "__main__":
    sys.exit(main())
