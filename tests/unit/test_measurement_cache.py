"""What was measured is found again by all that it depends on; what is damaged is measured again."""

from __future__ import annotations

import ast
import gzip
import hashlib
import io
import os
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from recorded import plan, recording
from test_run import WHEN, Playback, trial

from wirelab.plan.node import Host, Switch, Transceiver
from wirelab.plan.types import Plan
from wirelab.runner import entries, measurement_cache, tarball
from wirelab.runner.entries import Entries
from wirelab.runner.measurement_cache import MeasurementCache
from wirelab.runner.store import Store
from wirelab.runner.trial import Runner
from wirelab.verdict.verdict import Verdict

SOURCE = Path(measurement_cache.__file__).parents[1]


def imported(path: Path) -> set[str]:
    """The modules of wirelab that a file imports, by their files in the package."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module}
    places = [name.removeprefix("wirelab.").replace(".", "/") for name in names]
    files = [f"{place}{ending}" for place in places for ending in (".py", "/__init__.py")]
    return {name for name in files if (SOURCE / name).is_file()}


def test_all_that_runs_inside_a_lab_is_named() -> None:
    """Whatever the guest imports, directly or not, a change of it makes what was measured before unknown."""
    covered = {
        path.relative_to(SOURCE).as_posix()
        for pattern in measurement_cache._CODE  # noqa: SLF001 - the point of the test
        for path in SOURCE.glob(pattern)
    }
    reached: set[str] = set()
    waiting = {path.relative_to(SOURCE).as_posix() for path in SOURCE.glob("guest/*.py")}
    while waiting:
        name = waiting.pop()
        reached.add(name)
        waiting |= imported(SOURCE / name) - reached
    assert "plan/traffic/iperf3.py" in reached
    assert reached <= covered


def known(folder: Path, warnings: list[str], lab_id: str = "lab") -> MeasurementCache:
    """What was measured before."""
    return MeasurementCache(Entries(folder, warnings.append), lab_id)


def entry(cache: MeasurementCache, plan: Plan) -> Path:
    """The file that has the raw files of a Plan."""
    return cache.entries.folder / cache.name(plan.physical_json())


def measured(folder: Path) -> Path:
    """A folder of raw files."""
    return recording().write(folder / "raw")


def contents(folder: Path) -> dict[str, bytes]:
    """All files below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_what_was_measured_is_restored(tmp_path: Path) -> None:
    """Every raw file, for the same plan and lab; for another plan or lab nothing."""
    warnings: list[str] = []
    cache, raw = known(tmp_path / "runs", warnings), measured(tmp_path)
    cache.keep(plan(), raw)
    assert cache.restore(plan(), tmp_path / "again")
    assert contents(tmp_path / "again") == contents(raw)
    assert not cache.restore(replace(plan(), seed=2), tmp_path / "other")
    assert not known(tmp_path / "runs", warnings, "another kernel").restore(plan(), tmp_path / "other")
    assert warnings == []


def test_labels_are_no_part_of_a_measurement(tmp_path: Path) -> None:
    """A scenario that is renamed, a sweep with one value more or another drawing measure nothing again."""
    renamed = replace(
        plan("point-17"),
        scenario="another",
        drawing="<->",
        wall_limit_s=1,
        hosts=tuple(Host(host.name, "debian", nic="i225") for host in plan().hosts),
        switches=tuple(Switch(switch.name, "any") for switch in plan().switches),
        modules=tuple(replace(module, part="any") for module in plan().modules),
    )
    cache = known(tmp_path / "runs", [])
    cache.keep(plan(), measured(tmp_path))
    assert cache.restore(renamed, tmp_path / "again")


def test_the_lab_gets_no_labels() -> None:
    """So its guest cannot depend on them; all that a network is made of it gets as it is."""
    physical = Plan.from_json(plan().physical_json())
    assert (physical.scenario, physical.variant, physical.drawing, physical.wall_limit_s) == ("", "", "", 0)
    assert {node.part for node in physical.nodes} == {""}
    assert physical.hosts == (Host("server", ""), Host("client", ""))
    assert physical.modules == (Transceiver("module", "", "module-host", "module-line"),)
    for name in ("seed", "ports", "cables", "flows", "pings", "sysctls", "sample_interval_ns"):
        assert getattr(physical, name) == getattr(plan(), name)


def test_no_room_is_nobodys_trouble(tmp_path: Path) -> None:
    """A cache that cannot be written keeps nothing and says nothing."""
    (tmp_path / "file").touch()
    warnings: list[str] = []
    cache = known(tmp_path / "file" / "runs", warnings)
    cache.keep(plan(), measured(tmp_path))
    assert not cache.restore(plan(), tmp_path / "again")
    assert warnings == []


def test_what_is_too_large_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would be called damaged when it is read."""
    warnings: list[str] = []
    cache, raw = known(tmp_path / "runs", warnings), measured(tmp_path)
    monkeypatch.setattr(entries, "ENTRY_LIMIT_BYTES", 100)
    cache.keep(plan(), raw)
    assert not cache.restore(plan(), tmp_path / "again")
    assert warnings == []


def test_the_oldest_go_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once all of them are too much; until then nobody looks through the folder."""
    cache, raw = known(tmp_path / "runs", []), measured(tmp_path)
    plans = [replace(plan(), seed=seed) for seed in range(12)]
    cache.keep(plans[0], raw)
    size_bytes = entry(cache, plans[0]).stat().st_size
    monkeypatch.setattr(entries, "LIMIT_BYTES", 10 * size_bytes + 100)
    monkeypatch.setattr(entries, "_TRIMMED_BYTES", 5 * size_bytes + 100)
    for age, kept in enumerate(plans):
        cache.keep(kept, raw)
        if entry(cache, kept).exists():
            os.utime(entry(cache, kept), (age, age))
    assert [entry(cache, kept).exists() for kept in plans] == [False] * 6 + [True] * 6


def sealed(packed: bytes) -> bytes:
    """An entry whose checksum is right, whatever is in it."""
    return hashlib.sha256(packed).hexdigest().encode() + b"\n" + packed


def tar_of(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    """A tarball of what no folder holds; it ends like those of the cache, where tarfile's own are padded."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for member, content in members:
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
        end = tar.offset
    return gzip.compress(buffer.getvalue()[:end] + bytes(2 * tarfile.BLOCKSIZE), mtime=0)


def member(name: str, kind: bytes = tarfile.REGTYPE, to: str = "", **pax: str) -> tarfile.TarInfo:
    """A member of a tar."""
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.pax_headers = kind, to, pax
    return info


SPARSE = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.realsize": str(1 << 50)}
HURTFUL = {
    "nothing": b"",
    "no tar": b"hello",
    "a gzip that is no tar": gzip.compress(b"hello" * 1000),
    "cut short": tar_of((member("status.json"), b"x" * 9999))[:-40],
    "upwards": tar_of((member("../../x"), b"x")),
    "absolute": tar_of((member("/wirelab-x"), b"x")),
    "a link": tar_of((member("status.json", tarfile.SYMTYPE, "/etc/passwd"), b"")),
    "a hard link": tar_of((member("status.json", tarfile.LNKTYPE, "/etc/passwd"), b"")),
    "a device": tar_of((member("status.json", tarfile.CHRTYPE), b"")),
    "a fifo": tar_of((member("status.json", tarfile.FIFOTYPE), b"")),
    "twice": tar_of((member("a"), b"x"), (member("a"), b"y")),
    "a file that is a folder": tar_of((member("a"), b"x"), (member("a/b"), b"y")),
    "a long name": tar_of((member("x" * 5000), b"")),
    "a bomb": gzip.compress(bytes(measurement_cache.RAW_LIMIT_BYTES + 1), compresslevel=9),
    "a sparse bomb": tar_of((member("status.json", tarfile.REGTYPE, "", **SPARSE), b"1\n0\n")),
    "no measurement": tar_of((member("status.json"), b"{}")),
    "deep JSON": tar_of((member("status.json"), b"[" * 200_000)),
}


def answered(folder: Path, content: bytes) -> tuple[Verdict, bool, list[str]]:
    """What comes of a trial where the cache has that entry: verdict, whether from the cache, warnings."""
    warnings: list[str] = []
    cache = known(folder / "runs", warnings)
    path = entry(cache, plan())
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    runner = Runner(Playback({"main": recording()}), cache)
    with Store(folder / "results").begin("x", WHEN) as draft:
        record = runner.run(trial(), draft, cpu=0, on_progress=lambda _: None)
        assert contents(draft.folder / "main" / "raw") == contents(measured(folder))
    assert record.cached or cache.restore(plan(), folder / "restored")
    assert {path.name for path in folder.iterdir()} <= {"runs", "results", "raw", "restored"}
    return record.verdict, record.cached, [warning.replace(str(path), "PATH") for warning in warnings]


@pytest.mark.parametrize("packed", HURTFUL.values(), ids=HURTFUL)
def test_what_is_damaged_is_named_removed_and_measured_again(packed: bytes, tmp_path: Path) -> None:
    """Whatever is in it, and with a right checksum too: the next answer from the cache is whole."""
    verdict, cached, (warning,) = answered(tmp_path, sealed(packed))
    assert (verdict, cached) == (Verdict.PASS, False)
    assert warning.startswith("PATH is damaged (")
    assert warning.endswith("); it is removed, and what it held is measured again")
    assert not Path("/wirelab-x").exists()


@pytest.mark.parametrize("content", [b"", b"short", b"0" * 64 + b"\n" + b"\0" * 500])
def test_a_wrong_checksum_is_enough(content: bytes, tmp_path: Path) -> None:
    """Cut short, empty or overwritten."""
    assert answered(tmp_path, content) == (
        Verdict.PASS,
        False,
        ["PATH is damaged (its checksum is wrong); it is removed, and what it held is measured again"],
    )


@pytest.mark.parametrize("kind", ["folder", "fifo", "link"])
def test_an_entry_that_is_no_file(kind: str, tmp_path: Path) -> None:
    """It is not read, which might take for ever, but removed; what a link leads to stays."""
    warnings: list[str] = []
    cache, raw = known(tmp_path / "runs", warnings), measured(tmp_path)
    path = entry(cache, plan())
    path.parent.mkdir()
    if kind == "folder":
        (path / "deep").mkdir(parents=True)
    elif kind == "fifo":
        os.mkfifo(path)
    else:
        path.symlink_to(raw)
    assert not cache.restore(plan(), tmp_path / "again")
    assert len(warnings) == 1
    cache.keep(plan(), raw)
    assert cache.restore(plan(), tmp_path / "again")
    assert contents(tmp_path / "again") == contents(raw)


WHOLE = tar_of((member("status.json"), b"{}"), (member("flows/x"), b"y"))


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    flips=st.lists(st.tuples(st.integers(0, 3000), st.integers(0, 255)), max_size=6),
    inner=st.booleans(),
    cut=st.integers(0, 40),
)
@example(flips=[], inner=False, cut=0)
def test_no_bytes_get_out_of_their_folder(flips: list[tuple[int, int]], inner: bool, cut: int) -> None:  # noqa: FBT001 - drawn
    """Of any bytes come files below the folder, no more than is there, or a DamagedTarballError."""
    content = bytearray(gzip.decompress(WHOLE) if inner else WHOLE)
    for place, byte in flips:
        content[place % len(content)] = byte
    del content[len(content) - cut :]
    packed = gzip.compress(bytes(content)) if inner else bytes(content)
    try:
        files = dict(tarball.unpack(packed, 1 << 20))
    except tarball.DamagedTarballError:
        return
    assert sum(map(len, files.values())) <= 1 << 20
    assert all(Path("/a/b", path).resolve().is_relative_to("/a/b") for path in files)


def test_a_tarball_is_its_files_in_order() -> None:
    """What the mutations above begin with is read whole."""
    assert list(tarball.unpack(WHOLE, 3)) == [("status.json", b"{}"), ("flows/x", b"y")]


@settings(max_examples=200, deadline=None)
@given(
    name=st.text(max_size=300),
    kind=st.sampled_from([bytes([code]) for code in range(256)]),
    to=st.text(max_size=20),
)
def test_no_name_leads_out(name: str, kind: bytes, to: str) -> None:
    """Whatever a tar calls its members."""
    try:
        packed = tar_of((member(name, kind, to), b"x"))
        files = dict(tarball.unpack(packed, 1 << 20))
    except (ValueError, tarfile.TarError):
        return
    assert all(Path("/a/b", path).resolve().is_relative_to("/a/b") for path in files)
