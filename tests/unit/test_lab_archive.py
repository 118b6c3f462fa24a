"""The lab archive: written alike every time, and read whole, or refused with the file and the fix."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import io
import json
import os
import shutil
import subprocess
import tarfile
from typing import TYPE_CHECKING

import pytest
from hostile import JSON, headers
from hostile import members as tars
from hypothesis import given
from hypothesis import strategies as st

from wirelab.errors import InputError
from wirelab.lab import archive
from wirelab.lab.archive import CONTENTS, About, Archive, BuildAbout, RootAbout
from wirelab.lab.entry import DebianFacts, KernelFacts

if TYPE_CHECKING:
    from pathlib import Path

ABOUT = About(
    kernel=BuildAbout(
        key="k" * 20,
        recipe="kernel-newest-1",
        facts=KernelFacts(title="Linux 7.2.12", series="7.2", objects=1, build_s=482),  # type: ignore[call-arg]
    ),
    debian=BuildAbout(
        key="d" * 20,
        recipe="debian-trixie-1",
        facts=DebianFacts(title="Debian", suite="trixie", packages={"bash": "5"}, newest_s=1_000_000_000),
    ),
    rootfs=RootAbout(key="r" * 20, manifest="m" * 64),
)
CONTENT = {"config": b"CONFIG_UML=y\n", "linux.gz": b"a kernel", "debian.tar.gz": bytes(range(256)) * 3}


def written(about: About = ABOUT, content: dict[str, bytes] | None = None) -> bytes:
    """A lab archive."""
    out = io.BytesIO()
    packed = CONTENT if content is None else content
    archive.write(out, about, {name: io.BytesIO(packed[name]) for name in CONTENTS})
    return out.getvalue()


WHOLE = written()


def read(content: bytes) -> Archive:
    """Read it, as the file `lab.tar`."""
    return Archive(io.BytesIO(content), "lab.tar")


def refusal(content: bytes) -> str:
    """Why it is not taken. It names the file and has a hint."""
    with pytest.raises(InputError) as caught:
        read(content)
    assert caught.value.message.startswith("lab.tar: ")
    assert caught.value.hint
    return caught.value.message.removeprefix("lab.tar: ")


def forged(*members: tuple[tarfile.TarInfo, bytes], end: bytes = bytes(1024)) -> bytes:
    """A tar with these members, whatever they are."""
    padded = (content + bytes(-len(content) % 512) for _, content in members)
    heads = (member.tobuf(tarfile.USTAR_FORMAT) for member, _ in members)
    return b"".join(part for pair in zip(heads, padded, strict=True) for part in pair) + end


def members() -> list[tuple[tarfile.TarInfo, bytes]]:
    """Those of a sound lab archive, to be changed and put together again."""
    with tarfile.open(fileobj=io.BytesIO(WHOLE)) as tar:
        pairs = []
        for member in tar:
            content = tar.extractfile(member)
            assert content is not None
            pairs.append((member, content.read()))
    return pairs


def test_what_is_written_is_read() -> None:
    """All of it, and also the facts that only a person reads."""
    file = read(WHOLE)
    assert file.about == ABOUT
    assert file.about.kernel.facts.model_dump() == {
        "title": "Linux 7.2.12",
        "series": "7.2",
        "objects": 1,
        "build_s": 482,
    }
    assert {name: b"".join(file.chunks(name)) for name in CONTENTS} == CONTENT


def test_the_same_lab_is_the_same_bytes() -> None:
    """No time, no user and no machine is in a lab archive."""
    assert written() == WHOLE
    assert forged(*members()) == WHOLE


@pytest.mark.skipif(
    shutil.which("tar") is None or shutil.which("sha256sum") is None, reason="no tar, or no sha256sum"
)
def test_other_tools_can_check_it(tmp_path: Path) -> None:
    """tar(1) unpacks it into a folder of its own, where sha256sum(1) finds every member as it was."""
    (tmp_path / "lab.tar").write_bytes(WHOLE)
    subprocess.run(["tar", "-xf", "lab.tar"], cwd=tmp_path, check=True)  # noqa: S607 - wherever it is
    argv = ["sha256sum", "--strict", "-c", "SHA256SUMS"]
    folder = tmp_path / "wirelab-lab"
    done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=True)  # noqa: S603 - argument lists of our own
    assert done.stdout.splitlines() == [f"{name}: OK" for name in ("lab.json", *CONTENTS)]


@pytest.mark.parametrize(
    "content",
    [b"", b"no lab", bytes(4096), forged((tarfile.TarInfo("etc/passwd"), b"root"))],
    ids=["empty", "text", "zeros", "another-tar"],
)
def test_what_is_no_lab_file_is_told(content: bytes) -> None:
    """Whatever else it is."""
    assert refusal(content) == "not a lab archive"


class Dying(io.BytesIO):
    """A file on a disk that dies after so many bytes."""

    def __init__(self, good_bytes: int) -> None:
        super().__init__(WHOLE)
        self.good_bytes = good_bytes

    def read(self, size: int | None = -1) -> bytes:
        """What can be read."""
        if self.tell() + (size or 0) > self.good_bytes:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return super().read(size)


@pytest.mark.parametrize("good_bytes", [0, 600, len(WHOLE) // 2, len(WHOLE) - 600])
def test_a_disk_that_dies_is_told(good_bytes: int) -> None:
    """At its first byte or later."""
    with pytest.raises(InputError, match=r"^lab\.tar: cannot be read: Input/output error") as caught:
        Archive(Dying(good_bytes), "lab.tar")
    assert caught.value.hint


def test_a_disk_that_dies_later_is_told() -> None:
    """When all of it was read before."""
    file = Dying(len(WHOLE) + 1)
    sound = Archive(file, "lab.tar")
    file.good_bytes = 0
    with pytest.raises(InputError, match=r"^lab\.tar: cannot be read: Input/output error"):
        list(sound.chunks("config"))


@given(st.integers(min_value=512, max_value=len(WHOLE) - 1))
def test_a_file_that_is_cut_short_is_told(length: int) -> None:
    """Wherever the copying of it broke off."""
    assert refusal(WHOLE[:length]) == "a lab archive that is cut short"


@given(st.integers(min_value=0, max_value=len(WHOLE) - 1), st.integers(min_value=1, max_value=255))
def test_no_damaged_byte_is_overlooked(place: int, change: int) -> None:
    """Not in what it says of itself, not in the content, not in what pads it."""
    damaged = bytearray(WHOLE)
    damaged[place] ^= change
    refusal(bytes(damaged))


@pytest.mark.parametrize("name", CONTENTS)
def test_damage_is_told_with_its_place(name: str) -> None:
    """One bit of a member's content."""
    at = WHOLE.index(CONTENT[name])
    damaged = WHOLE[:at] + bytes([WHOLE[at] ^ 1]) + WHOLE[at + 1 :]
    assert refusal(damaged) == f"a lab archive that is damaged ({name})"


def test_nothing_may_follow() -> None:
    """Two files in one are none."""
    assert refusal(WHOLE + b"x") == "a lab archive that is damaged (the end)"


def test_another_format_is_told() -> None:
    """With the one that this wirelab reads: nothing else of the file is looked at."""
    head = b'{"format": 7, "parts": []}'
    assert "a lab archive of format 7" in refusal(forged((members()[0][0], head.ljust(members()[0][0].size))))


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.DIRTYPE])
@pytest.mark.parametrize("number", range(5))
def test_a_member_of_another_kind_is_refused(kind: bytes, number: int) -> None:
    """No link, device or folder is taken for a member, and none is made."""
    pairs = members()
    pairs[number][0].type, pairs[number][0].linkname = kind, "/etc/passwd"
    refusal(forged(*pairs))


@pytest.mark.parametrize("name", ["../lab.json", "/etc/passwd", "wirelab-lab/../linux.gz", "linux.gz"])
@pytest.mark.parametrize("number", range(5))
def test_a_member_of_another_name_is_refused(name: str, number: int) -> None:
    """No name of a file is a path for us."""
    pairs = members()
    pairs[number][0].name = name
    refusal(forged(*pairs))


def test_members_have_their_order() -> None:
    """Each once: nobody reads one thing where another program reads another."""
    pairs = members()
    refusal(forged(*pairs[:2], pairs[3], pairs[2], pairs[4]))
    refusal(forged(*pairs, pairs[4]))
    assert refusal(forged(*pairs[:4], end=b"")) == "a lab archive that is cut short"


@pytest.mark.parametrize("lines", range(4))
def test_no_checksum_may_be_missing(lines: int) -> None:
    """A table that ends early says nothing of the rest: nobody takes that for sound, or stumbles over it."""
    pairs = members()
    table = b"".join(pairs[1][1].splitlines(keepends=True)[:lines])
    pairs[1][0].size = len(table)
    content = forged(pairs[0], (pairs[1][0], table), *pairs[2:])
    assert refusal(content) == "a lab archive that is damaged (SHA256SUMS)"


def test_a_size_beyond_all_measure_is_refused() -> None:
    """Before anything of that size is read."""
    pairs = members()
    pairs[0][0].size = 1 << 32
    assert refusal(forged(*pairs)) == "not a lab archive"
    pairs = members()
    pairs[4][0].size = 1 << 32
    assert refusal(forged(*pairs)) == "a lab archive that is damaged (debian.tar.gz)"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"key":"kkkkkkkkkkkkkkkkkkkk"', '"key":"../../../../../../.."'),
        ('"title":"Debian"', '"title":"Deb\\u001b["'),
        ('"newest_s":1000000000', '"newest_s":"yesterday"'),
        ('"newest_s":1000000000', '"newest_s":99999999999999999999'),
        ('"newest_s":1000000000', '"newest_s":-1'),
        ('"manifest":', '"manifests":'),
    ],
    ids=["path", "escape", "type", "huge", "negative", "unknown"],
)
def test_a_forged_description_is_refused(old: str, new: str) -> None:
    """Also with the right checksums: a key is a path in a cache, a title is shown on a terminal."""
    whole = ABOUT.model_dump_json()
    assert old in whole
    assert refusal(described(whole.replace(old, new).encode())) == "a lab archive that is damaged (lab.json)"


def described(head: bytes) -> bytes:
    """A lab archive that says this of itself, with the right checksums."""
    pairs = members()
    sums = pairs[1][1].decode().split("\n", 1)
    table = f"{hashlib.sha256(head).hexdigest()}  lab.json\n{sums[1]}".encode()
    pairs[0][0].size = len(head)
    return forged((pairs[0][0], head), (pairs[1][0], table), *pairs[2:])


def read_or_refuse(content: bytes) -> None:
    """Nothing else may come of it."""
    with contextlib.suppress(InputError):
        read(content)


@given(headers(WHOLE))
def test_a_header_of_nonsense(content: bytes) -> None:
    """Negative and huge numbers, other types, names with NUL and no characters at all."""
    read_or_refuse(content)


@given(tars())
def test_members_of_any_kind_are_no_lab(content: bytes) -> None:
    """Links, devices, sparse files, PAX records."""
    assert refusal(content) == "not a lab archive"


@given(
    st.dictionaries(st.sampled_from(["format", "wirelab", "kernel", "debian", "rootfs"]), JSON, min_size=1)
)
def test_a_description_of_wrong_types(fields: dict[str, object]) -> None:
    """Whatever JSON can say."""
    read_or_refuse(described(json.dumps({**ABOUT.model_dump(), **fields}).encode()))


@given(st.sampled_from(["kernel", "debian"]), st.dictionaries(st.text(max_size=8), JSON))
def test_facts_of_wrong_types(part: str, facts: dict[str, object]) -> None:
    """Also beside those that are known, which are kept."""
    about = ABOUT.model_dump()
    about[part]["facts"] |= facts
    read_or_refuse(described(json.dumps(about).encode()))


def test_deep_nesting_is_no_crash() -> None:
    """A description made to break a parser."""
    head = b"[" * 100_000
    member = members()[0][0]
    member.size = len(head)
    assert refusal(forged((member, head))) == "a lab archive that is damaged (lab.json)"
