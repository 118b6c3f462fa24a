"""A bundle or an answer that was made to hurt is read or refused, and touches nothing outside the results."""

from __future__ import annotations

import gzip
import json
import tempfile
from pathlib import Path

import pytest
from hostile import JSON, headers, members
from hypothesis import given
from hypothesis import strategies as st
from test_fleet_bundle import DOCUMENT, WHOLE, keep, packed

from wirelab.fleet.bundle import LIMIT_BYTES, DamagedError
from wirelab.fleet.queue import QueuedJob
from wirelab.fleet.worker import Agent, BrokeError, LostError
from wirelab.runner.store import Store

SOUND = packed(WHOLE)
TAR = gzip.decompress(SOUND)


def read_or_refuse(content: bytes) -> bool:
    """Whether it was kept; there is nothing but it, or nothing at all."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name, "results")
        try:
            folder = keep(content, Store(root))
        except DamagedError:
            assert list(Path(name).rglob("*")) == [root]
            return False
        assert folder.parent == root
        assert {path.name for path in Path(name).iterdir()} == {"results"}
        return True


def test_the_sound_one_is_kept() -> None:
    """Or what follows says nothing."""
    assert read_or_refuse(SOUND)
    assert read_or_refuse(gzip.compress(TAR))


@given(headers(TAR))
def test_a_header_of_nonsense(tar: bytes) -> None:
    """Negative and huge numbers, other types, names with NUL, escapes and no characters at all."""
    read_or_refuse(gzip.compress(tar, 1))


@given(members())
def test_members_of_any_kind(tar: bytes) -> None:
    """Links, devices, sparse files, and PAX records that contradict all of it."""
    assert not read_or_refuse(gzip.compress(tar, 1))


@given(st.integers(0, len(TAR) - 1), st.binary(min_size=1, max_size=16))
def test_other_bytes_anywhere(place: int, noise: bytes) -> None:
    """In the tar, with the compression's checksum mended."""
    read_or_refuse(gzip.compress(TAR[:place] + noise + TAR[place + len(noise) :], 1))


@given(st.integers(0, len(SOUND) - 1), st.binary(max_size=16))
def test_other_bytes_in_what_is_compressed(place: int, noise: bytes) -> None:
    """Also cut short, where there is no noise."""
    read_or_refuse(SOUND[:place] + noise + (SOUND[place + len(noise) :] if noise else b""))


@given(st.dictionaries(st.sampled_from(sorted(DOCUMENT)), JSON, min_size=1))
def test_a_document_of_wrong_types(fields: dict[str, object]) -> None:
    """Whatever JSON can say."""
    read_or_refuse(packed({"result.json": json.dumps({**DOCUMENT, **fields})}))


@pytest.mark.parametrize(
    "files",
    [
        {"a": "", "a/b": ""},
        {"a/b": "", "a": ""},
        {"result.json/x": ""},
        {"\x1b[2J": ""},
        {"a/../b": ""},
        {"/": ""},
        {"//x": ""},
    ],
)
def test_names_that_cannot_be_files(files: dict[str, str]) -> None:
    """It is the bundle's fault, and not that of the folder of results."""
    assert not read_or_refuse(packed({**WHOLE, **files}))


def test_a_bomb_is_not_unpacked() -> None:
    """A gigabyte of zeros takes a megabyte: it is refused for its size before it is read."""
    header = bytearray(TAR[:512])
    header[124:136] = b"%011o\0" % (LIMIT_BYTES + 1)
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    with tempfile.TemporaryDirectory() as name, pytest.raises(DamagedError, match="more than 1024 MiB"):
        keep(gzip.compress(bytes(header)), Store(Path(name)))


@given(
    st.one_of(st.binary(), JSON.map(lambda value: json.dumps(value).encode()))
    | st.dictionaries(
        st.sampled_from(["error", "hint", "full", "cpus", "code", "lab", "verdict", "size_bytes", "sha256"]),
        JSON,
    ).map(lambda value: json.dumps(value).encode())
)
def test_an_answer_of_nonsense(line: bytes) -> None:
    """A worker that says anything at all has broken a run, or is lost; the controller goes on."""
    agent = Agent(lambda _: line + b"\n", ("python",), "/there")
    requests = (agent.hello, lambda: agent.run(QueuedJob("a", 1), [0], use_cache=True))
    for request in requests:
        try:
            request()
        except (BrokeError, LostError) as error:
            shown = str(error)
        else:
            continue
        assert shown.replace("\n", "").isprintable()
