"""A release, carried out as far as it goes without GitHub's and the index's servers."""

from __future__ import annotations

import hashlib
import json
import shutil
import threading
import zipfile
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

import wirelab
from tests.ci import conftest
from tests.ci.expressions import Reader
from tests.ci.runner import HERE, environment, lay_out_wirelab, load
from wirelab.lab.archive import Archive

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator
    from pathlib import Path

WORKFLOW = HERE / ".github" / "workflows" / "release.yml"
VERSION = wirelab.__version__
TAG = f"v{VERSION}"
HOSTILE = (
    "$(touch stolen)",
    "`touch stolen`",
    "v0.1.0; touch stolen",
    "v0.1.0' ; touch stolen '",
    "$(shell touch stolen)",
    "--repo=stolen",
    "v0.1.0\ntouch stolen",
    "",
)


def make(folder: Path, *argv: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """What a target does in a copy of this checkout, built with the tools that are installed."""
    return conftest.make_in(folder, *argv, PIP_NO_BUILD_ISOLATION="0", **variables)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of this one whose changelog has the day of the release, with its files laid out."""
    folder = tmp_path_factory.mktemp("release") / "wirelab"
    lay_out_wirelab(folder)
    changelog = folder / "CHANGELOG.md"
    text = changelog.read_text(encoding="utf-8")
    changelog.write_text(text.replace("## Unreleased", f"## {VERSION} - 2027-01-01", 1), encoding="utf-8")
    server = {"GITHUB_SERVER_URL": "https://forge.example", "GITHUB_REPOSITORY": "owner/wirelab"}
    for target in ("release-files", "release-sums"):
        done = make(folder, target, **server)
        assert done.returncode == 0, done.stdout + done.stderr
    return folder


def released(checkout: Path) -> Path:
    """The folder of its files."""
    return checkout / "dist" / "release"


def test_every_file_is_there_with_its_checksum(checkout: Path) -> None:
    """Wheels, lab and SBOM; the notes are GitHub's page, and no file of their own."""
    folder = released(checkout)
    lines = (folder / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    known = {name: digest for digest, name in (line.split("  ") for line in lines)}
    assert set(known) == {
        "sbom.cdx.json",
        f"wirelab-{VERSION}-py3-none-any.whl",
        f"wirelab-lab-{VERSION}.tar",
        f"wirelab_lab-{VERSION}-py3-none-manylinux_2_17_x86_64.musllinux_1_1_x86_64.whl",
    }
    for name, digest in known.items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest


def test_the_lab_is_the_one_of_the_wheel(checkout: Path) -> None:
    """To the byte, sound, and below what an index takes; the wheel says of what it was made."""
    folder = released(checkout)
    (wheel,) = folder.glob("wirelab_lab-*.whl")
    assert wheel.stat().st_size < 10**8
    lab = folder / f"wirelab-lab-{VERSION}.tar"
    with zipfile.ZipFile(wheel) as packed, lab.open("rb") as file:
        assert packed.read("wirelab_lab/lab.tar") == lab.read_bytes()
        sources = packed.read("wirelab_lab/SOURCES").decode()
        about = Archive(file, "lab").about
    facts = about.kernel.facts.model_dump()
    assert f"\n  {facts['package']} {facts['version']} {facts['suite']}\n" in sources


def test_the_sbom_names_every_package_of_the_lab(checkout: Path) -> None:
    """In its version, once; all that depends on something that is there."""
    document = json.loads((released(checkout) / "sbom.cdx.json").read_text(encoding="utf-8"))
    with (released(checkout) / f"wirelab-lab-{VERSION}.tar").open("rb") as file:
        about = Archive(file, "lab").about
    named = {part["name"]: part.get("version") for part in document["components"]}
    assert about.debian.facts.packages.items() <= named.items()
    assert {"pydantic", "typer", about.kernel.facts.model_dump()["package"]} <= set(named)
    references = [part["bom-ref"] for part in document["components"]]
    assert len(set(references)) == len(references)
    for entry in document["dependencies"]:
        assert {entry["ref"], *entry["dependsOn"]} <= {*references, "wirelab"}


def test_the_notes_say_how_to_take_the_lab(checkout: Path) -> None:
    """By pip, or by an address with its checksum; what the changelog says stands before."""
    text = (released(checkout) / "NOTES.md").read_text(encoding="utf-8")
    lab = f"wirelab-lab-{VERSION}.tar"
    digest = hashlib.sha256((released(checkout) / lab).read_bytes()).hexdigest()
    address = f"https://forge.example/owner/wirelab/releases/download/{TAG}/{lab}"
    assert f"WIRELAB_LAB='{address}#sha256={digest}'" in text
    assert f" {address} {digest}\n" in text
    assert text.startswith("The first complete path")


def test_a_tag_that_is_not_the_versions_is_refused(checkout: Path) -> None:
    """Before anything is built; so is a changelog that does not know the version yet."""
    assert make(checkout, "release-check", TAG=TAG).stdout == f"{TAG}: wirelab {VERSION}\n"
    done = make(checkout, "release-check", TAG="v9.9.9")
    assert done.returncode == 2
    assert f"error: TAG='v9.9.9': wirelab {VERSION} is released as {TAG}\n" in done.stderr
    changelog = checkout / "CHANGELOG.md"
    dated = changelog.read_text(encoding="utf-8")
    try:
        changelog.write_text(dated.replace(f"## {VERSION} ", "## 9.9.9 ", 1), encoding="utf-8")
        done = make(checkout, "release-check", TAG=TAG)
    finally:
        changelog.write_text(dated, encoding="utf-8")
    assert done.returncode == 2
    assert f"error: CHANGELOG.md has no section `## {VERSION}`\n" in done.stderr


@pytest.mark.parametrize("tag", HOSTILE)
@pytest.mark.parametrize("target", ["release-check", "release-github"])
def test_a_tag_is_never_carried_out(tag: str, target: str, checkout: Path) -> None:
    """Whoever may push a tag chooses its name: it is text for us, and told as bad input."""
    for argv, variables in (((f"TAG={tag}",), {}), ((), {"TAG": tag})):
        done = make(checkout, target, *argv, **variables)
        assert done.returncode == 2, done.stdout + done.stderr
        assert f"is released as {TAG}" in done.stderr
        assert "Traceback" not in done.stderr
    assert not list(checkout.rglob("stolen*"))


def test_it_is_published_with_every_file(checkout: Path, tmp_path: Path) -> None:
    """`gh` is started once, for the tag that is there; a stand-in writes down what it is told."""
    program = tmp_path / "bin" / "gh"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >{tmp_path}/told\n', encoding="utf-8")
    program.chmod(0o755)
    path = f"{program.parent}:{environment()['PATH']}"
    done = make(checkout, "release-github", TAG=TAG, PATH=path)
    assert done.returncode == 0, done.stderr
    told = (tmp_path / "told").read_text(encoding="utf-8").splitlines()
    assert told[:6] == ["release", "create", TAG, "--verify-tag", "--title", TAG]
    assert told[6:8] == ["--notes-file", "dist/release/NOTES.md"]
    published = {str(path.relative_to(checkout)) for path in released(checkout).iterdir()}
    assert {*told[8:]} == published - {"dist/release/NOTES.md"}


@contextmanager
def index() -> Iterator[tuple[str, list[bytes]]]:
    """A package index on this machine, and what was uploaded to it."""
    uploads: list[bytes] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            uploads.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/legacy/", uploads
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.skipif(find_spec("twine") is None, reason="twine is not installed: pip install --group release")
def test_both_wheels_are_uploaded(checkout: Path) -> None:
    """Whole, and nothing else, to an index that twine's own variables name."""
    with index() as (address, uploads):
        told = {"TWINE_REPOSITORY_URL": address, "TWINE_USERNAME": "me", "TWINE_PASSWORD": "secret"}
        done = make(checkout, "release-pypi", "READY_TO_UPLOAD=", **told, no_proxy="127.0.0.1")
    assert done.returncode == 0, done.stdout + done.stderr
    wheels = sorted(released(checkout).glob("*.whl"))
    assert len(uploads) == len(wheels) == 2
    for wheel in wheels:
        assert sum(wheel.read_bytes() in upload for upload in uploads) == 1
    assert "secret" not in done.stdout + done.stderr


def test_without_files_nothing_is_published(checkout: Path, tmp_path: Path) -> None:
    """The message says which step makes them."""
    bare = tmp_path / "wirelab"
    lay_out_wirelab(bare)
    shutil.copyfile(checkout / "CHANGELOG.md", bare / "CHANGELOG.md")
    done = make(bare, "release-github", TAG=TAG)
    assert done.returncode == 2
    assert "error: dist/release has no files\nhint: make release-files\n" in done.stderr


def test_what_a_job_publishes_was_tested_and_attested() -> None:
    """And a release's files come from a build that no cache has a part in."""
    jobs = load(WORKFLOW)["jobs"]
    assert set(jobs["github"]["needs"]) == {"check", "tests", "attest"}
    assert (jobs["attest"]["needs"], jobs["pypi"]["needs"]) == ("build", "github")
    assert jobs["check"]["if"] == "github.ref_type == 'tag'"
    used = [step.get("uses", "") for step in jobs["build"]["steps"]]
    assert not any(action.startswith(("actions/cache", "./")) for action in used)
    assert jobs["build"]["steps"][1]["env"] == {"FROM_SOURCE": "1"}
    folders = {
        step["with"]["path"]
        for job in jobs.values()
        for step in job.get("steps", ())
        if step.get("uses", "").startswith(("actions/upload-artifact", "actions/download-artifact"))
    }
    assert folders == {"dist/release"}


@pytest.mark.parametrize(
    ("event", "ref_type", "is_published"),
    [("push", "tag", True), ("workflow_dispatch", "tag", False), ("workflow_dispatch", "branch", False)],
)
def test_by_hand_nothing_is_published(event: str, ref_type: str, *, is_published: bool) -> None:
    """Neither for a branch nor for a tag, which may be chosen there, too."""
    jobs = load(WORKFLOW)["jobs"]
    github = {"event_name": event, "ref_type": ref_type}
    for name in ("github", "pypi"):
        assert Reader(jobs[name]["if"], {"github": github}).read() is is_published
