"""The mirror is read from the machine's apt configuration, whatever form that has."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from wirelab.errors import LabError
from wirelab.lab.mirror import AptSource, Mirror, chosen, deb822_sources, find, one_line_sources, sources

if TYPE_CHECKING:
    from pathlib import Path

DEBIAN_12 = """\
Types: deb deb-src
# a comment within a stanza
URIs: http://near.example/debian/
Suites: bookworm bookworm-updates
Components: main contrib
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: http://near.example/debian-security
Suites: bookworm-security
Components: main
"""
NEAR = Mirror("http://near.example/debian", "http://near.example/debian-security")


def apt_folder(folder: Path, **files: str) -> Path:
    """An /etc/apt with these files in sources.list.d; two underscores stand for the dot."""
    (folder / "sources.list.d").mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / "sources.list.d" / name.replace("__", ".")).write_text(text)
    return folder


def test_deb822(tmp_path: Path) -> None:
    """Debian 12's own file: the archive and the security archive."""
    assert find({}, apt_folder(tmp_path, debian__sources=DEBIAN_12)) == NEAR


def test_one_line(tmp_path: Path) -> None:
    """The form of /etc/apt/sources.list, with options, comments and source lines."""
    (tmp_path / "sources.list").write_text(
        "# deb http://old.example/debian bookworm main\n"
        "deb-src http://near.example/debian bookworm main\n"
        "deb [ arch=amd64 signed-by=/k.gpg ] http://near.example/debian bookworm main contrib # near\n"
        "deb http://near.example/debian-security bookworm-security main\n"
    )
    assert find({}, tmp_path) == NEAR


def test_cloud_images_name_a_file_of_mirrors(tmp_path: Path) -> None:
    """`mirror+file:` is followed; what the file says of a mirror's rank is left aside."""
    (tmp_path / "debian.list").write_text("# mirrors\nhttps://cloud.example/debian\tpriority:1\n")
    text = f"Types: deb\nURIs: mirror+file:{tmp_path}/debian.list\nSuites: trixie\nComponents: main\n"
    assert find({}, apt_folder(tmp_path, debian__sources=text)) == Mirror("https://cloud.example/debian")


@pytest.mark.parametrize(
    "line",
    [
        "deb https://vendor.example/linux/debian bookworm stable",
        "deb https://vendor.example/apt bookworm main",
        "deb https://vendor.example/debian/12/prod bookworm main",
        "deb cdrom:[Debian 12]/debian bookworm main",
        "deb http://archive.example/ubuntu noble main",
    ],
)
def test_who_builds_for_debian_is_not_debian(line: str) -> None:
    """A vendor's repository, a disc and another distribution carry no Debian."""
    assert chosen(one_line_sources(line)) is None


def test_debian_is_found_among_vendors(tmp_path: Path) -> None:
    """Files are read by name, so a vendor's may come first; a mirror may have an unusual path."""
    text = "Types: deb\nURIs: https://a.example/mirror1\nSuites: trixie\nComponents: main\nSigned-By: {}\n"
    folder = apt_folder(
        tmp_path,
        a_vendor__list="deb https://vendor.example/apt bookworm main\n",
        debian__sources=text.format("/usr/share/keyrings/debian-archive-keyring.pgp"),
    )
    assert find({}, folder) == Mirror("https://a.example/mirror1")


def test_a_disabled_stanza_is_not_used() -> None:
    """`Enabled: no`, and stanzas of sources alone."""
    off = DEBIAN_12.replace("Types: deb\n", "Enabled: no\nTypes: deb\n").replace("deb deb-src", "deb-src")
    assert list(deb822_sources(off)) == []


def test_a_field_goes_on_in_the_next_line() -> None:
    """deb822 continues a field with an indented line; a key in the file itself is one."""
    uris = "URIs:\n http://a.example/debian\n http://b.example/debian"
    text = f"Types: deb\n{uris}\nSuites: trixie\nComponents: main\n"
    assert [source.uri for source in deb822_sources(text)] == [
        "http://a.example/debian",
        "http://b.example/debian",
    ]


def test_files_that_apt_ignores_are_ignored(tmp_path: Path) -> None:
    """Only .list and .sources count; what cannot be read is passed over."""
    folder = apt_folder(tmp_path, debian__sources__bak=DEBIAN_12)
    (folder / "sources.list.d" / "x.list").symlink_to(tmp_path / "nowhere")
    assert list(sources(folder)) == []


def test_the_user_has_the_last_word(tmp_path: Path) -> None:
    """WIRELAB_DEBIAN_MIRROR overrides the machine's configuration; one without a scheme is refused."""
    folder = apt_folder(tmp_path, debian__sources=DEBIAN_12)
    mine = "https://mine.example/debian"
    assert find({"WIRELAB_DEBIAN_MIRROR": f"{mine}/"}, folder) == Mirror(mine)
    with pytest.raises(
        LabError, match=r"WIRELAB_DEBIAN_MIRROR: `mine\.example` is not the address"
    ) as caught:
        find({"WIRELAB_DEBIAN_MIRROR": "mine.example"}, folder)
    assert "https://" in (caught.value.hint or "")


@pytest.mark.skipif(shutil.which("mmdebstrap") is None, reason="mmdebstrap is not installed")
def test_without_a_debian_mirror_mmdebstrap_knows_one(tmp_path: Path) -> None:
    """Ubuntu's configuration names no Debian: mmdebstrap's default archive is used."""
    text = DEBIAN_12.replace("debian", "ubuntu").replace("bookworm", "noble")
    mirror = find({}, apt_folder(tmp_path, ubuntu__sources=text))
    assert mirror.main.endswith("/debian")
    assert mirror.address("trixie-security") != mirror.main


def test_a_security_suite_has_its_own_address() -> None:
    """Without one it has none, and is not looked for in the archive."""
    assert NEAR.address("trixie") == NEAR.main
    assert NEAR.address("trixie-backports") == NEAR.main
    assert NEAR.address("trixie-security") == NEAR.security
    assert Mirror("http://near.example/debian").address("trixie-security") is None
    assert AptSource("http://near.example/debian", "buster/updates", ("main",)).is_security
