"""One step of a release: `python -m ci.release STEP`. `release.mk` has them all."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sys
import tarfile
import zipfile
from dataclasses import dataclass
from email.parser import Parser
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ci import sbom
from wirelab import __version__
from wirelab.cli.errors import exit_code_of
from wirelab.errors import InputError, LabError
from wirelab.lab import export
from wirelab.lab.archive import Archive
from wirelab.lab.process import call
from wirelab.lab.recipe import BuildContext

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

LAB: Final = f"wirelab-lab-{__version__}.tar"
SBOM: Final = "sbom.cdx.json"
SOURCE: Final = f"wirelab-lab-{__version__}-source.tar"
NOTES: Final = "NOTES.md"
SUMS: Final = "SHA256SUMS"

_DIST: Final = Path("dist")
_TAG: Final = re.compile(r"v\d{1,4}\.\d{1,4}\.\d{1,4}")
_HOME: Final = Path(__file__).resolve().parents[1]


@dataclass(frozen=True, slots=True)
class Release:
    """What is released: by which tag, and the folder of its files."""

    environ: Mapping[str, str]
    folder: Path = _DIST / "release"
    changelog: Path = _HOME / "CHANGELOG.md"

    @property
    def tag(self) -> str:
        """The tag, which is that of this version and has its section in the changelog. Raises InputError."""
        tag, wanted = self.environ.get("TAG", ""), f"v{__version__}"
        if not _TAG.fullmatch(tag) or tag != wanted:
            hint = "a tag names the version in src/wirelab/__init__.py, pyproject.toml and lab-wheel/"
            raise InputError(f"TAG={tag!a}: wirelab {__version__} is released as {wanted}", hint=hint)
        if not self.section:
            hint = f"name the section `Unreleased` `## {__version__}`, with the day"
            raise InputError(f"{self.changelog.name} has no section `## {__version__}`", hint=hint)
        return tag

    @property
    def section(self) -> str:
        """What the changelog says of this version, empty if it says nothing."""
        text = self.changelog.read_text(encoding="utf-8")
        found = re.search(rf"^## {re.escape(__version__)}\b.*\n((?:(?!## ).*\n?)*)", text, re.MULTILINE)
        return found[1].strip() if found else ""

    def wheels(self) -> tuple[Path, Path]:
        """The wheel of wirelab and that of its lab, from `make wheels`. Raises LabError if one is missing."""
        found = []
        for name in ("wirelab", "wirelab_lab"):
            wheels = [*_DIST.glob(f"{name}-{__version__}-*.whl")]
            if len(wheels) != 1:
                message = f"{_DIST} has {len(wheels)} wheels {name}-{__version__}"
                raise LabError(message, hint="rm dist/*.whl; make wheels")
            found += wheels
        return found[0], found[1]


def check(release: Release) -> None:
    """Say whether there is anything to release, in seconds, before an hour is spent on it."""
    print(f"{release.tag}: wirelab {__version__}")


def files(release: Release) -> None:
    """Lay out what people take: both wheels, the lab archive, what is in it as an SBOM, and the notes."""
    shutil.rmtree(release.folder, ignore_errors=True)
    release.folder.mkdir(parents=True)
    wheel, lab_wheel = release.wheels()
    for path in (wheel, lab_wheel):
        shutil.copyfile(path, release.folder / path.name)
    lab = release.folder / LAB
    # The very one that the wheel carries.
    with (
        zipfile.ZipFile(lab_wheel) as packed,
        packed.open("wirelab_lab/lab.tar") as source,
        lab.open("wb") as out,
    ):
        shutil.copyfileobj(source, out)
    with zipfile.ZipFile(wheel) as packed:
        metadata = packed.read(f"wirelab-{__version__}.dist-info/METADATA").decode()
    requires = Parser().parsestr(metadata).get_all("Requires-Dist", [])
    with lab.open("rb") as file:
        about = Archive(file, str(lab)).about
    (release.folder / SBOM).write_text(sbom.document(about, requires), encoding="utf-8")
    (release.folder / NOTES).write_text(_notes(release, lab), encoding="utf-8")


def source(release: Release) -> None:
    """Pack what `wirelab lab source` has fetched into dist/lab-source: the source travels with the lab."""
    fetched = sorted((_DIST / "lab-source").rglob("*"))
    if not fetched:
        raise LabError(f"{_DIST / 'lab-source'} has no source", hint="make release-source")
    with tarfile.open(release.folder / SOURCE, "w", format=tarfile.PAX_FORMAT) as tar:
        for path in fetched:
            member = tar.gettarinfo(
                path, f"{SOURCE.removesuffix('.tar')}/{path.relative_to(_DIST / 'lab-source')}"
            )
            member.uid = member.gid = 0
            member.uname = member.gname = ""
            member.mtime, member.mode = 0, 0o755 if member.isdir() else 0o644
            if member.isreg():
                with path.open("rb") as file:
                    tar.addfile(member, file)
            else:
                tar.addfile(member)


def sums(release: Release) -> None:
    """Write the checksum of each file, as sha256sum(1) does."""
    lines = [f"{_sha256(path)}  {path.name}\n" for path in _published(release) if path.name != SUMS]
    (release.folder / SUMS).write_text("".join(lines), encoding="utf-8")
    print("".join(lines), end="")


def publish(release: Release) -> int:
    """Make the release of the tag at GitHub, with all files, by its own program."""
    tag = release.tag
    paths = [str(path) for path in _published(release)]
    notes = str(release.folder / NOTES)
    return call(
        ["gh", "release", "create", tag, "--verify-tag", "--title", tag, "--notes-file", notes, *paths]
    )


def upload(release: Release) -> int:
    """Upload both wheels to the index that twine is told of; the workflow's identity is the password."""
    wheels = [str(path) for path in _published(release) if path.suffix == ".whl"]
    return call(
        [sys.executable, "-m", "twine", "upload", "--non-interactive", "--disable-progress-bar", *wheels]
    )


def _published(release: Release) -> list[Path]:
    """The files that are for people. Raises LabError if there are none."""
    paths = sorted(path for path in release.folder.glob("*") if path.name != NOTES)
    if not paths:
        raise LabError(f"{release.folder} has no files", hint="make release-files")
    return paths


def _notes(release: Release, lab: Path) -> str:
    environ = release.environ
    server, repository = environ.get("GITHUB_SERVER_URL"), environ.get("GITHUB_REPOSITORY")
    where = f"{server}/{repository}/releases/download/v{__version__}/" if server and repository else ""
    address, digest = f"{where}{lab.name}", _sha256(lab)
    recipe = export.recipe_name(BuildContext.of(environ))
    return f"""{release.section}

    pipx install 'wirelab[lab]=={__version__}'

or, in a checkout, with this lab and without building one:

    make scenario NAME=sfp-mismatch WIRELAB_LAB='{address}#sha256={digest}'

For checkouts to take it by themselves, a line in `src/wirelab/lab/released.txt`:

    {recipe} {address} {digest}
"""


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


STEPS: Final[Mapping[str, Callable[[Release], int | None]]] = {
    "check": check,
    "files": files,
    "source": source,
    "sums": sums,
    "github": publish,
    "pypi": upload,
}


def main(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Do the step of that name. Returns the exit code."""
    return exit_code_of(lambda: STEPS[argv[0]](Release(environ)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
