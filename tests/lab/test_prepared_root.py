"""A root image that somebody has prepared for an attack: what its first process reaches of the host."""

from __future__ import annotations

import errno
import os
import shutil
import socket
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.jail.attempts import (
    DENIED,
    Attempt,
    of_another_run,
    of_the_host,
    of_what_a_lab_is,
    words,
)
from tests.jail.programs import answers, compiled
from wirelab.lab import host

if TYPE_CHECKING:
    from tests.lab.rig import Rig

pytestmark = pytest.mark.skipif(not host.landlock_abi(), reason="this host has no Landlock")

# No such device, no such process, no way there: what a lab has not got.
LACKING = frozenset(
    {errno.ENXIO, errno.ENODEV, errno.ENOENT, errno.ENOSYS, errno.ENETUNREACH, errno.ENETDOWN, errno.ESRCH}
    | {errno.EAFNOSUPPORT, errno.ECONNREFUSED, errno.EPERM}
)
CHANNELS = ("mem", "kmem", "port", "sound", "watchdog", "random", "kvm", "disk", "ubd", "mconsole", "kcore")
CALLS = ("iopl", "ioperm", "vsock")


@dataclass(frozen=True)
class Prepared:
    """Such a root image, for the lab's own kernel, and a folder of the user's."""

    folder: Path
    kernel: Path

    @property
    def root(self) -> Path:
        """A folder with one program, the first that the lab runs."""
        return self.folder / "root"

    def answers(self, attempts: list[Attempt], *options: str) -> dict[str, int]:
        """What its attempts came to, as errnos, who is given to `wirelab exec`."""
        (self.root / "attempts").write_text("".join(f"{line}\n" for line in words(attempts)))
        argv = [sys.executable, "-m", "wirelab", "exec", "--limit", "60", *options]
        argv += ["--kernel", str(self.kernel), "--root", str(self.root), "--", "anything"]
        work = self.folder / "work"
        done = subprocess.run(argv, cwd=work, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return answers(done.stdout)


@pytest.fixture
def prepared(rig: Rig, tmp_path: Path) -> Prepared:
    """What somebody was given to unpack; beside it is a secret."""
    made = Prepared(tmp_path, rig.lab.kernel)
    for name in ("usr/sbin", "etc", "dev", "host", "own", "proc", "results"):
        (made.root / name).mkdir(parents=True)
    (tmp_path / "work").mkdir()
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "notes.txt").write_text("mine\n")
    shutil.move(compiled("prepared", tmp_path), made.root / "usr/sbin/wirelab-init")
    (made.root / "etc" / "passwd").write_text("of-the-lab")
    (made.root / "etc" / "fstab").write_text("")
    (made.root / "link").symlink_to("/etc/passwd")
    (made.root / "folder").symlink_to(tmp_path / "private")
    return made


def test_its_first_process_reaches_no_file_of_the_host(prepared: Prepared, rig: Rig) -> None:
    """From its first instruction on, as root: nothing that nobody named, no other run, nothing to rewrite."""
    rig.execute("true")
    secret = prepared.folder / "private" / "notes.txt"
    attempts = of_the_host(Path.home(), secret, prepared.kernel) + of_what_a_lab_is(prepared.kernel)
    attempts += of_another_run(rig.folder / "lab-1" / "results" / "status.json")
    attempts += [(prepared.root, "made", "make"), (prepared.root, "etc/passwd", "rename")]
    told = prepared.answers([*attempts, ("/proc/self/cwd/work", "", "list")])
    # The current folder is that of `exec`, and shows that it can mount one.
    assert told.pop("/proc/self/cwd/work::list") == 0
    assert set(words(attempts)) <= told.keys()
    assert {line: told[line] for line in words(attempts) if told[line] not in DENIED} == {}
    assert secret.read_text() == "mine\n"
    assert [path.name for path in secret.parent.iterdir()] == [secret.name]
    assert (rig.folder / "lab-1" / "results" / "status.json").is_file()


def test_a_link_in_it_leads_nowhere_outside(prepared: Prepared) -> None:
    """The lab follows it in its own root, and the host, where the lab has it follow, refuses."""
    folder = prepared.root / "folder"
    through: list[Attempt] = [
        (folder, "notes.txt", "read"),
        (folder, "", "list"),
        ("/proc/self/cwd/root/folder", "", "list"),
        ("/proc/self/cwd/root", "folder/notes.txt", "read"),
    ]
    told = prepared.answers(through)
    assert told["link:of-the-lab"] == 0
    assert told["link-to-a-folder"] == errno.ENOENT
    assert {told[line] for line in words(through)} <= DENIED


def test_a_link_in_the_place_of_its_first_program_starts_nothing(prepared: Prepared) -> None:
    """Not even a program of the host's: the lab finds none in its own root, and says so."""
    init = prepared.root / "usr" / "sbin" / "wirelab-init"
    init.unlink()
    init.symlink_to(shutil.which("true") or "/bin/true")
    argv = [sys.executable, "-m", "wirelab", "exec", "--kernel", str(prepared.kernel)]
    argv += ["--root", str(prepared.root), "--", "anything"]
    done = subprocess.run(argv, cwd=prepared.folder / "work", capture_output=True, text=True, check=False)
    assert done.returncode == 4
    assert "Requested init /usr/sbin/wirelab-init failed (error -2)" in done.stderr


def test_no_channel_leads_out_of_it(prepared: Prepared) -> None:
    """It makes any device, as root does, and there is nothing behind; nobody of the host can be called."""
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.socket(socket.AF_UNIX) as local,
    ):
        out = prepared.folder / "out"
        out.mkdir()
        local.bind(str(out / "server"))
        local.listen()
        host_process = str(os.getpid())
        attempts: list[Attempt] = [
            ("127.0.0.1", str(server.getsockname()[1]), "call"),
            (out, "server", "speak"),
            (host_process, "", "signal"),
            (host_process, "", "trace"),
        ]
        told = prepared.answers(attempts, "--writable", str(out))
        for listening in (server, local):
            listening.setblocking(False)  # noqa: FBT003 - its only argument
            with pytest.raises(BlockingIOError):
                listening.accept()
    tried = (*words(attempts), *CHANNELS, *CALLS)
    assert told["proc"] == 0
    assert {name: told[name] for name in tried if told[name] not in LACKING} == {}


def test_without_jail_it_reaches_what_its_user_may(prepared: Prepared) -> None:
    """So it knows how: it is the jail that keeps it."""
    secret: Attempt = (prepared.folder / "private", "notes.txt", "read")
    told = prepared.answers([secret], "--without-jail")
    assert told[words([secret])[0]] == 0
