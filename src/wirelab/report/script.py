"""The script that draws a page's charts and pictures: part of the page, and the only one that it allows."""

import base64
import hashlib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Self


@dataclass(frozen=True, slots=True)
class Script:
    """What esbuild makes of the folder ``page``, and the hash by which a page's policy knows it."""

    text: str
    hash: str

    @classmethod
    @cache
    def load(cls, name: str = "page.js") -> Self:
        """It comes with the program: nothing is loaded from elsewhere."""
        text = resources.files("wirelab.report").joinpath(name).read_text(encoding="utf-8")
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        return cls(text, f"sha256-{digest}")

    @property
    def policy(self) -> str:
        """The policy of a page that has it: it loads nothing, and runs nothing else."""
        return policy(self)


def policy(*scripts: Script) -> str:
    """The policy of a page that has these scripts, and no other."""
    hashes = " ".join(f"'{script.hash}'" for script in scripts)
    return f"default-src 'none'; style-src 'unsafe-inline'; script-src {hashes}"
