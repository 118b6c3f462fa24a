"""``python -m wirelab``."""

from __future__ import annotations

from wirelab.cli.app import main

if __name__ == "__main__":
    main()
