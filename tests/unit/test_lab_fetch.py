"""A lab from an address: it counts with its checksum alone, and a password in it is for its server alone."""

from __future__ import annotations

import errno
import os
import resource
import signal
from base64 import b64encode
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest
from addresses import heard_by, served, sha256
from labs import exported, ids

from wirelab.errors import InputError, LabError
from wirelab.lab import origin
from wirelab.lab.fetch import fetched

if TYPE_CHECKING:
    from wirelab.lab.recipe import BuildContext


def test_an_address_is_fetched_and_taken(here: BuildContext, there: BuildContext) -> None:
    """Also where it leads to another; what was fetched does not stay in the cache beside the lab."""
    whole = exported(here)
    answers = {"/lab.tar": (200, whole, len(whole)), "/moved": (302, b"/lab.tar", 0)}
    with served(answers) as server:
        context, _ = heard_by(there, WIRELAB_LAB=f"{server}/moved#sha256={sha256(whole)}")
        assert origin.take_at_hand(context)
    assert ids(there) == ids(here)
    assert list((there.cache.root / "downloads").iterdir()) == []


@pytest.mark.parametrize(
    ("path", "message", "kind"),
    [
        ("/another", "has the checksum", InputError),
        ("/short", "came cut short", LabError),
        ("/gone", "cannot be fetched: Not Found", LabError),
        ("/elsewhere", "cannot be fetched", LabError),
        ("/text", "not a lab archive", InputError),
    ],
)
def test_what_comes_from_an_address_is_not_trusted(
    path: str, message: str, kind: type[Exception], here: BuildContext, there: BuildContext
) -> None:
    """Replaced, cut short, gone, led to a file of this machine: the address is named, nothing is taken."""
    whole = exported(here)
    answers = {
        "/another": (200, whole[:-1] + b"x", len(whole)),
        "/short": (200, whole[:-9000], len(whole)),
        "/gone": (404, b"", 0),
        "/elsewhere": (302, b"file:///etc/passwd", 0),
        "/text": (200, b"no lab", 6),
    }
    known = sha256(b"no lab") if path == "/text" else sha256(whole)
    with served(answers) as server:
        context, _ = heard_by(there, WIRELAB_LAB=f"{server}{path}#sha256={known}")
        with pytest.raises(kind, match=message) as caught:
            origin.take_at_hand(context)
    assert getattr(caught.value, "hint", None)
    assert f"{server}{path}: " in str(caught.value)
    assert there.cache.entries() == ()
    assert list((there.cache.root / "downloads").iterdir()) == []


def test_a_full_disk_is_not_taken_for_the_network(here: BuildContext, there: BuildContext) -> None:
    """What the disk refuses while a lab is fetched is told as that."""
    whole = exported(here)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    previous = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with served({"/lab": (200, whole, len(whole))}) as server:
        context, _ = heard_by(there, WIRELAB_LAB=f"{server}/lab#sha256={sha256(whole)}")
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
        try:
            with pytest.raises(LabError) as caught:
                origin.take_at_hand(context)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
            signal.signal(signal.SIGXFSZ, previous)
    assert caught.value.message == f"{there.cache.root}: {os.strerror(errno.EFBIG)}"
    assert "network" not in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("named", "pair"),
    [
        ("me:se%40cret@", b"me:se@cret"),
        ("me:a@b:c@", b"me:a@b:c"),
        ("me@", b"me:"),
        ("m%C3%BC:@", "mü:".encode()),
    ],
)
def test_a_password_in_an_address_is_for_its_server_alone(
    named: str, pair: bytes, here: BuildContext, there: BuildContext
) -> None:
    """As RFC 7617 has it; neither a line that is said nor where the address leads to has it."""
    whole, told = exported(here), list[tuple[str, str | None]]()
    answers = {"/lab.tar": (200, whole, len(whole)), "/moved": (302, b"/lab.tar", 0)}
    with served(answers, told) as server:
        address = server.replace("://", f"://{named}")
        context, said = heard_by(there, WIRELAB_LAB=f"{address}/moved#sha256={sha256(whole)}")
        assert origin.take_at_hand(context)
    assert told == [("/moved", f"Basic {b64encode(pair).decode()}"), ("/lab.tar", None)]
    assert ids(there) == ids(here)
    assert said == [f"taking the lab from {server}/moved into {there.cache.root}"]


@pytest.mark.parametrize("message", ["Unauthorized", ".*refused"])
def test_a_password_is_in_no_error(message: str, there: BuildContext) -> None:
    """Whether the server takes another, or there is none."""
    with ExitStack() as stack:
        server = stack.enter_context(served({"/lab.tar": (401, b"", 0)}))
        if message != "Unauthorized":
            stack.close()
        named = f"{server.replace('://', '://me:secret@')}/lab.tar#sha256={'0' * 64}"
        context, said = heard_by(there, WIRELAB_LAB=named)
        with pytest.raises(LabError, match=rf"/lab\.tar: cannot be fetched: {message}") as caught:
            origin.take_at_hand(context)
    assert caught.value.message.startswith(f"{server}/lab.tar: ")
    assert "secret" not in f"{caught.value} {caught.value.hint} {said}"


def test_what_is_being_fetched_is_not_pruned(there: BuildContext) -> None:
    """Another process may make room meanwhile; it says what stays."""
    context, said = heard_by(there)
    with (
        served({"/lab": (200, b"a lab", 5)}) as server,
        fetched(context, f"{server}/lab", sha256(b"a lab")) as file,
    ):
        there.cache.prune([], context.reporter)
        assert file.read_bytes() == b"a lab"
    assert said[-1].startswith("a build is under way: downloads")


def test_nobody_at_the_address_is_told(there: BuildContext) -> None:
    """With what to look at."""
    with served({}) as server:
        pass
    context, _ = heard_by(there, WIRELAB_LAB=f"{server}/lab.tar#sha256={'0' * 64}")
    with pytest.raises(LabError, match=r"/lab\.tar: cannot be fetched: .*refused") as caught:
        origin.take_at_hand(context)
    assert "check the network" in (caught.value.hint or "")
