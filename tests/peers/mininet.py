"""Mininet 2.3.0's own tests, and those of its examples, as its source package in Debian has them."""

from __future__ import annotations

import ast
import re
import tarfile
import warnings
from typing import TYPE_CHECKING

from tests.peers.case import FAILED, PASSED, SKIPPED, Case, Ended, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ARCHIVE = "mininet_2.3.0.orig.tar.gz"
# Below Debian's archive, and what was there in November 2026.
PLACE = f"pool/main/m/mininet/{ARCHIVE}"
SHA256 = "1b16ee53ddb9a34a3751a77517643bda2286fc31be123209e84884d0697107b0"
FOLDER = "mininet-2.3.0"

SUITES = {"mininet": "mininet/test", "mininet-examples": "examples/test"}
# A thousand hosts, and a shell at each.
LARGE = "test_tree1024.testTree1024.testTree1024"
LARGE_LIMIT_S, LARGE_MEMORY_MIB = 1500, 2048


def unpacked(archive: Path, folder: Path) -> Path:
    """Unpack the source into a folder, and return where it begins."""
    with tarfile.open(archive) as source:
        # Debian 12's Python has none; the archive is one that is known.
        source.extraction_filter = getattr(tarfile, "data_filter", lambda member, _path: member)
        source.extractall(folder)  # noqa: S202 - filtered
    return folder / FOLDER


def cases(suite: str, source: Path) -> list[Case]:
    """Each test of a suite by itself: what a failed one leaves behind would make the next fail."""
    files = sorted((source / SUITES[suite]).glob("test_*.py"))
    # Their regular expressions are older than what Python warns of.
    argv = ["env", "-C", SUITES[suite], "python3", "-W", "ignore", "-m", "unittest", "-v"]
    return [
        _case(name, source, [*argv, file.stem, "-k", f"*{name}"]) for file in files for name in names(file)
    ]


def _case(name: str, source: Path, argv: list[str]) -> Case:
    if name == LARGE:
        return Case(name, source, argv, outcome, LARGE_LIMIT_S, LARGE_MEMORY_MIB)
    return Case(name, source, argv, outcome)


def names(file: Path) -> Iterator[str]:
    """What unittest calls the tests of a file."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(file.read_text(encoding="utf-8"))
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    for name, node in classes.items():
        if any(isinstance(base, ast.Attribute) and base.attr == "TestCase" for base in node.bases):
            for method in _methods(name, classes):
                yield f"{file.stem}.{name}.{method}"


def _methods(name: str, classes: dict[str, ast.ClassDef]) -> list[str]:
    if name not in classes:
        return []
    inherited = [base.id for base in classes[name].bases if isinstance(base, ast.Name)]
    found = [method for base in inherited for method in _methods(base, classes)]
    own = [node.name for node in classes[name].body if isinstance(node, ast.FunctionDef)]
    return list(dict.fromkeys([*found, *(method for method in own if method.startswith("test"))]))


def outcome(ended: Ended) -> Outcome:
    """What unittest says became of the one test."""
    if skipped := re.search(r"\.\.\. skipped ['\"](.+)['\"]$", ended.printed, re.MULTILINE):
        return Outcome(SKIPPED, skipped[1])
    if ended.code == 0 and ended.last() == "OK":
        return Outcome(PASSED)
    complaints = re.findall(r"^[\w.]*(?:Error|Exception|EOF|TIMEOUT|Exit)\b.*$", ended.printed, re.MULTILINE)
    return Outcome(FAILED, complaints[0] if complaints else ended.last())
