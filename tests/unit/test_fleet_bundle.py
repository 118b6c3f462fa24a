"""A result on its way: it arrives whole, or it does not count."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from wirelab.errors import LabError
from wirelab.fleet import bundle
from wirelab.lab import ustar
from wirelab.runner import tarball
from wirelab.runner.store import Store

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

NOW = datetime(2026, 7, 22, 10, 15, 30, tzinfo=UTC)
DOCUMENT = {
    "scenario": "sfp-mismatch",
    "verdict": "pass",
    "seed": 1,
    "kernel": "7.2",
    "wall_s": 1.5,
    "virtual_s": 20.0,
    "digest": "0123" * 16,
    "variants": [],
}


def packed(files: Mapping[str, str]) -> bytes:
    """A bundle of these files."""
    buffer = io.BytesIO()
    with gzip.GzipFile(fileobj=buffer, mode="wb") as tar:
        for name, text in files.items():
            ustar.write(tar, name, io.BytesIO(text.encode()))
        ustar.write_end(tar)
    return buffer.getvalue()


def keep(content: bytes, store: Store) -> Path:
    """Keep what came for sfp-mismatch with seed 1."""
    return bundle.keep(content, store, scenario="sfp-mismatch", seed=1, now=NOW)[0]


def test_a_result_arrives_as_it_was(tmp_path: Path) -> None:
    """Every file, in a folder that is named by the controller's clock."""
    sent = tmp_path / "20200101T000000Z-sfp-mismatch"
    (sent / "main/raw").mkdir(parents=True)
    (sent / "main/plan.json").write_text("{}", encoding="utf-8")
    (sent / "main/raw/tcp.bin").write_bytes(bytes(range(256)))
    (sent / "report.html").write_text("<p>", encoding="utf-8")
    (sent / "result.json").write_text(json.dumps(DOCUMENT), encoding="utf-8")
    folder = keep(tarball.pack(sent), Store(tmp_path / "results"))
    assert folder.name == "20260722T101530Z-sfp-mismatch"
    files = {path.relative_to(sent) for path in sent.rglob("*") if path.is_file()}
    assert {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()} == files
    assert all((folder / name).read_bytes() == (sent / name).read_bytes() for name in files)
    assert (tmp_path / "results/latest/sfp-mismatch").resolve() == folder


WHOLE = {"result.json": json.dumps(DOCUMENT), "main/plan.json": "{}"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "cannot be unpacked"),
        (b"no archive at all", "cannot be unpacked"),
        (packed(WHOLE)[:60], "cannot be unpacked"),
        (packed({"main/plan.json": "{}"}), "without result.json"),
        (packed({**WHOLE, "result.json": '{"scenario": "sfp'}), "half a result"),
        (packed({**WHOLE, "result.json": json.dumps({**DOCUMENT, "seed": 2})}), "with seed 2 for"),
        (packed({**WHOLE, "result.json": json.dumps({**DOCUMENT, "scenario": "x"})}), "a result of x"),
        (packed({**WHOLE, "../outside": "x"}), "../outside"),
        (packed({**WHOLE, "/etc/outside": "x"}), "/etc/outside"),
    ],
    ids=["empty", "noise", "cut", "no-result", "half", "seed", "scenario", "up", "absolute"],
)
def test_what_is_not_the_whole_result_leaves_nothing(tmp_path: Path, content: bytes, message: str) -> None:
    """Cut short, of something else, or with names that lead elsewhere: refused, and no trace of it."""
    with pytest.raises(bundle.DamagedError, match=message):
        keep(content, Store(tmp_path / "results"))
    assert list(tmp_path.rglob("*")) == [tmp_path / "results"]


def test_a_link_is_no_file(tmp_path: Path) -> None:
    """A worker cannot make the controller write through one."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        member = tarfile.TarInfo("main")
        member.type, member.linkname = tarfile.SYMTYPE, "/etc"
        tar.addfile(member)
    with pytest.raises(bundle.DamagedError, match="'main' is no plain file"):
        keep(buffer.getvalue(), Store(tmp_path / "results"))


def test_results_that_cannot_be_kept_are_not_the_workers_fault(tmp_path: Path) -> None:
    """The error names the path and is no DamagedError."""
    (tmp_path / "results").touch()
    with pytest.raises(LabError, match="results") as raised:
        keep(packed(WHOLE), Store(tmp_path / "results"))
    assert not isinstance(raised.value, bundle.DamagedError)
