"""Makes the pages with sliders that the project publishes of its exercises, and a page that leads to them.

    PYTHONPATH=src:. python -m docs.explore dist/site

What was measured before is not measured again.
"""

from __future__ import annotations

import argparse
import html
import subprocess
import sys
from pathlib import Path

from docs.commands import ROOT
from wirelab.model.exercise_reader import load_exercise

EXERCISES = ("what-a-gigabit-carries", "burst-and-buffer", "say-stop", "the-window", "long-queue")
"""Those in which one looks for how a figure follows from another, and nothing is hidden."""

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>wirelab: networks to turn</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ margin: 0 auto; padding: 1.5rem 1rem 3rem; max-width: 46rem; font: 16px/1.5 system-ui, sans-serif; }}
h1 {{ font-size: 1.6rem; }} h2 {{ margin: 1.6rem 0 0; font-size: 1.15rem; }} p {{ margin: .2rem 0; }}
</style>
</head>
<body>
<h1>Networks to turn</h1>
<p>Each was run with every combination of the settings that its sliders have. All that the lab measured
is there, to look at as closely as you like; nothing is loaded from elsewhere.</p>
{entries}
</body>
</html>
"""


def main() -> int:
    """Make all of it in a folder. Returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    for name in EXERCISES:
        argv = [sys.executable, "-m", "wirelab", "site", name, "-o", str(folder / name)]
        subprocess.run(argv, cwd=ROOT, check=True)
    index = folder / "index.html"
    index.write_text(leading(), encoding="utf-8")
    print(index)
    return 0


def leading() -> str:
    """The page that leads to the pages of each exercise."""
    entries = []
    for name in EXERCISES:
        said = load_exercise(name, ROOT).said
        title, goal = html.escape(said.title), html.escape(said.goal)
        entries.append(f'<h2><a href="{name}/index.html">{title}</a></h2>\n<p>{goal}</p>')
    return PAGE.format(entries="\n".join(entries))


if __name__ == "__main__":
    sys.exit(main())
