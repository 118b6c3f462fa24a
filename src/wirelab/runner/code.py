"""Which code it is: files by name and content, as one hash."""

import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Final

PACKAGE: Final = Path(__file__).parents[1]
"""The folder of wirelab's modules and templates."""

# Installed below the package; a checkout has them elsewhere.
_NO_CODE: Final = {"catalogue", "recipe"}
_COMPILED: Final = "__pycache__"


def files_id(base: Path, paths: Iterable[Path]) -> str:
    """A hash of the files among ``paths``, by what they are called below ``base``.

    What Python has compiled of them is left out, and so are folders.
    """
    digest = hashlib.sha256()
    for path in sorted(filter(Path.is_file, paths)):
        if _COMPILED not in path.parts:
            content = hashlib.sha256(path.read_bytes()).hexdigest()
            digest.update(f"{path.relative_to(base).as_posix()}\0{content}\n".encode())
    return digest.hexdigest()


@cache
def package_id() -> str:
    """That of the package: all that plans, measures, judges and draws."""
    paths = PACKAGE.rglob("*")
    return files_id(PACKAGE, (path for path in paths if not _NO_CODE & {*path.relative_to(PACKAGE).parts}))
