"""``python -m wirelab``."""

from wirelab.cli.app import main

if __name__ == "__main__":
    main()
