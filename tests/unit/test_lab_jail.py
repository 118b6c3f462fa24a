"""What a lab can ask of its host, even one whose own kernel has been taken over."""

from __future__ import annotations

import errno
import os
import re
import shutil
import subprocess
import threading
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner

from wirelab.cli.app import app
from wirelab.errors import LabError
from wirelab.lab import command, doctor, host, landlock, machine, seccomp
from wirelab.lab.jail import Confinement
from wirelab.lab.keeper import Keeper
from wirelab.lab.lock import exclusive_now
from wirelab.lab.machine import Machine
from wirelab.lab.select import Lab
from wirelab.lab.syscalls import ALLOWED, QUIET, TESTED

ATTACK = Path(__file__).parent / "jail" / "taken.c"
NUMBERS = Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h")
X86_64, I386 = 0xC000003E, 0x40000003
ALLOW = 0x7FFF0000
MEMORY = ("/dev/shm", f"/run/user/{os.getuid()}")  # noqa: S108 - where labs have their memory
EPERM, ENOSYS = 0x50000 | errno.EPERM, 0x50000 | errno.ENOSYS

# A host without Landlock is one that SECURITY.md promises less for.
needs_landlock = pytest.mark.skipif(not host.landlock_abi(), reason="this host has no Landlock")


def fate(number: int, *arguments: int, architecture: int = X86_64) -> int:
    """What the filter says to a system call: an interpreter of its language, as far as it speaks it."""
    words = {0: number, 4: architecture}
    words |= {16 + 8 * index: argument & 0xFFFFFFFF for index, argument in enumerate(arguments)}
    steps, place, held = seccomp.program(), 0, 0
    while True:
        code, yes, no, constant = steps[place]
        place += 1
        if code == 0x06:
            return constant
        if code == 0x20:
            held = words.get(constant, 0)
        elif code == 0x05:
            place += constant
        else:
            is_so = {0x15: held == constant, 0x35: held >= constant, 0x45: held & constant != 0}[code]
            place += yes if is_so else no


def test_every_call_that_is_not_named_is_refused() -> None:
    """And no other: those of today, of x32, of 32-bit programs and of kernels to come."""
    named = {*ALLOWED.values(), *QUIET.values(), *(number for number, _ in TESTED.values())}
    assert {number: fate(number) for number in ALLOWED.values()} == dict.fromkeys(ALLOWED.values(), ALLOW)
    for number in {*range(600), 0x40000000, 0x40000027, 0x7FFFFFFF, 0xFFFFFFFF} - named:
        assert fate(number) == (EPERM if number < 424 else ENOSYS), number
    assert fate(39, architecture=I386) == ENOSYS


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("open", (0, os.O_RDONLY, 0o4000), ALLOW),
        ("open", (0, os.O_CREAT, 0o644), ALLOW),
        ("open", (0, os.O_CREAT, 0o4755), EPERM),
        ("openat", (0, 0, os.O_CREAT, 0o2755), EPERM),
        ("openat", (0, 0, os.O_TMPFILE, 0o4755), EPERM),
        ("openat", (0, 0, os.O_TMPFILE, 0o700), ALLOW),
        ("mkdir", (0, 0o2755), EPERM),
        ("mkdir", (0, 0o755), ALLOW),
        ("mknod", (0, 0o010644), ALLOW),
        ("mknod", (0, 0o020644), EPERM),
        ("mknodat", (0, 0, 0o060644), EPERM),
        ("mknodat", (0, 0, 0o140755), ALLOW),
        ("ioctl", (0, 0x5401), ALLOW),
        ("ioctl", (0, 0x40086602), EPERM),
        ("ioctl", (0, 0x5412), EPERM),
        ("fcntl", (0, 4), ALLOW),
        ("fcntl", (0, 1024), EPERM),
        ("clone", (0x4111,), ALLOW),
        ("clone", (0x10000011,), EPERM),
        ("kill", (1234,), ALLOW),
        ("kill", (-1,), EPERM),
        ("prlimit64", (0,), ALLOW),
        ("prlimit64", (1,), EPERM),
        ("socketpair", (1, 0o2000001), ALLOW),
        ("socketpair", (1, 2), EPERM),
        ("socketpair", (2, 1), EPERM),
        ("prctl", (1,), ALLOW),
        ("prctl", (4,), EPERM),
        ("ptrace", (0,), ALLOW),
        ("ptrace", (16,), EPERM),
        ("ptrace", (0x4206,), EPERM),
        ("ptrace", (4,), EPERM),
        ("personality", (0x0040000,), ALLOW),
        ("personality", (0,), EPERM),
    ],
)
def test_what_a_call_asks_for_is_looked_at(name: str, arguments: tuple[int, ...], expected: int) -> None:
    """No program that is another user's, no device, no namespace, no datagram, no process but its own."""
    assert fate(TESTED[name][0], *arguments) == expected


def test_a_change_of_mode_owner_or_time_is_not_carried_out() -> None:
    """And nobody is told, or cp -p and Python's shutil.copy() would fail in a writable folder."""
    assert {fate(number) for number in QUIET.values()} == {0x50000}


@pytest.mark.skipif(not NUMBERS.is_file(), reason="no headers of the kernel are installed")
def test_numbers_are_those_of_the_host() -> None:
    """A call is allowed by its name, and the filter knows numbers."""
    known = dict(re.findall(r"#define __NR_(\w+) (\d+)", NUMBERS.read_text()))
    ours = {**ALLOWED, **QUIET, **{name: number for name, (number, _) in TESTED.items()}}
    # Added in Linux 6.6.
    assert {name for name in ours if name not in known} <= {"fchmodat2"}
    assert {name: int(known[name]) for name in ours if name in known} == {
        name: number for name, number in ours.items() if name in known
    }


def test_a_later_landlock_forbids_more() -> None:
    """Each version has all that the one before it had."""
    handled = [landlock.handled_rights(version) for version in range(1, 9)]
    assert handled == [0x1FFF, 0x3FFF, 0x7FFF, 0x7FFF, 0xFFFF, 0xFFFF, 0xFFFF, 0xFFFF]


@dataclass(frozen=True)
class Ground:
    """Folders around a lab whose kernel has been taken over."""

    folder: Path
    kernel: Path

    @property
    def root(self) -> Path:
        """The root image."""
        return self.folder / "root-image"

    @property
    def writable(self) -> Path:
        """A folder that was named."""
        return self.folder / "writable"

    def answers(self, attempts: list[tuple[str, Path | str]]) -> dict[str, int]:
        """What each attempt came to, as an errno: those of the program itself, and ``attempts`` on files."""
        run = self.folder / "run"
        (run / "plan").mkdir(parents=True)
        (run / "plan" / "files").write_text("".join(f"{how} {path}\n" for how, path in attempts))
        (run / "writable").mkdir()
        (run / "writable" / "0").symlink_to(self.writable)
        with Machine(
            self.kernel,
            self.root,
            run,
            seed=1,
            cpu=min(os.sched_getaffinity(0)),
            writable=[self.writable],
            confinement=Confinement.WHOLE,
        ) as lab:
            lab.wait(20)
        lines = (run / "results" / "answers").read_text().splitlines()
        return {name: int(code) for name, _, code in (line.rpartition(" ") for line in lines)}


@pytest.fixture(scope="session")
def attacker(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program that stands for the kernel."""
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    program = tmp_path_factory.mktemp("attacker") / "linux"
    subprocess.run(["gcc", "-static", "-O1", "-o", program, ATTACK], check=True)  # noqa: S603, S607 - a compiler
    return program


@pytest.fixture
def ground(tmp_path: Path, attacker: Path) -> Ground:
    """A kernel, a root image and a writable folder, with a secret beside them."""
    made = Ground(tmp_path, tmp_path / "kernels" / "linux")
    for folder in (made.root, made.writable, made.kernel.parent):
        folder.mkdir()
    shutil.copy(attacker, made.kernel)
    (tmp_path / "secret").write_text("mine\n")
    (made.root / "fstab").write_text("of the lab\n")
    (made.writable / "notes").write_text("of both\n")
    return made


REFUSED = [
    "socket-inet", "socket-unix", "socket-netlink", "pair-of-datagrams", "connect", "bind", "sendto",
    "bpf", "keyctl", "add_key", "userfaultfd", "perf_event_open", "mount", "umount2", "chroot",
    "pivot_root", "unshare", "setns", "clone-namespace", "open_by_handle_at", "init_module",
    "kexec_load", "reboot", "sethostname", "setxattr", "setuid", "capset", "shmget", "mq_open",
    "inotify_init1", "fanotify_init", "iopl", "personality", "dumpable", "chattr", "lease",
    "kill-everybody", "attach", "seize", "process_vm_readv", "process_vm_writev", "kcmp",
    "prlimit-parent", "setpriority", "sched_setaffinity", "setpgid",
]  # fmt: skip
ABSENT = ["io_uring_setup", "fsopen", "clone3", "pidfd_open", "x32", "ia32"]


@needs_landlock
def test_the_host_answers_no_other_call(ground: Ground) -> None:
    """Sockets, other processes, namespaces, modules, keys: asked for natively, as the lab's kernel would."""
    answers = ground.answers([])
    assert {name: answers[name] for name in REFUSED} == dict.fromkeys(REFUSED, errno.EPERM)
    assert {name: answers[name] for name in ABSENT} == dict.fromkeys(ABSENT, errno.ENOSYS)
    assert answers["memory-of-parent"] == errno.EACCES
    assert answers["root-of-parent"] == errno.EACCES
    done = ("getpid", "pair-of-streams", "kill-child")
    assert {name: answers[name] for name in done} == dict.fromkeys(done, 0)


@pytest.mark.skipif(
    host.landlock_abi() < 6, reason="this host's Landlock knows no signals, it is older than 6.12"
)
def test_no_signal_reaches_others(ground: Ground) -> None:
    """Not even whoever has started the lab."""
    answers = ground.answers([])
    assert (answers["kill-parent"], answers["tgkill-parent"]) == (errno.EPERM, errno.EPERM)


@needs_landlock
def test_files_are_those_that_were_named(ground: Ground, tmp_path: Path) -> None:
    """Root image, kernel and code can be read and not changed; nothing else of the host can be opened."""
    other = tmp_path / "results" / "other"
    other.mkdir(parents=True)
    (other / "result.json").write_text("{}")
    ours, closed = ground.root / "fstab", (tmp_path / "secret", other / "result.json", Path("/etc/passwd"))
    special = ("/dev/mem", "/dev/ptmx", "/proc/self/mem", "/proc/1/environ")
    folders = ("/", "/proc", *MEMORY, Path.home(), tmp_path, other)
    sealed = (tmp_path, ground.root, other, ground.kernel.parent, Path("plan"))
    refused: list[tuple[str, Path | str]] = [
        *(("read", path) for path in (*closed, *special) if Path(path).exists()),
        *(("list", path) for path in folders if Path(path).is_dir()),
        *(("change", path) for path in (ours, *closed)),
        *(("make", folder / "new") for folder in sealed),
        *(("unlink", path) for path in (ours, ground.kernel, *closed)),
        *(("symlink", path) for path in ("results/link", ground.root / "link")),
        *(("fifo", path) for path in ("results/fifo", ground.root / "fifo")),
        ("execute", "/bin/sh"),
    ]
    let: list[tuple[str, Path | str]] = [
        ("read", ours),
        ("read", ground.kernel),
        ("change", ground.writable / "notes"),
        ("make", "results/new"),
    ]
    let += [(how, ground.writable / how) for how in ("make", "symlink", "fifo")]
    answers = ground.answers([("change", ground.kernel), *refused, *let])
    # It runs: the host says so before it asks whether it may be written.
    assert answers.pop(f"change:{ground.kernel}") in (errno.EACCES, errno.ETXTBSY)
    for how, path in refused:
        assert answers[f"{how}:{path}"] == errno.EACCES, f"{how} {path}"
    assert [answers[f"{how}:{path}"] for how, path in let] == [0] * len(let)


@needs_landlock
def test_nothing_of_a_file_is_changed_by_its_name(ground: Ground, tmp_path: Path) -> None:
    """Landlock does not keep modes, owners and times; nor, before its third version, sizes."""
    files = [ground.root / "fstab", ground.kernel, tmp_path / "secret", ground.writable / "notes"]
    before = {path: (path.stat().st_mode, path.stat().st_uid, path.stat().st_mtime_ns) for path in files}
    bytes_before = {path: path.read_bytes() for path in files}
    quiet = [(how, path) for how in ("chmod", "chown", "utimes") for path in files]
    refused = [("truncate", path) for path in files]
    refused += [(how, ground.writable / "new") for how in ("set-id", "device")]
    answers = ground.answers([*quiet, *refused, ("link", ground.kernel)])
    assert {answers[f"{how}:{path}"] for how, path in quiet} == {0}
    assert {answers[f"{how}:{path}"] for how, path in refused} == {errno.EPERM}
    assert answers[f"link:{ground.kernel}"] in (errno.EACCES, errno.EXDEV)
    after = {path: (path.stat().st_mode, path.stat().st_uid, path.stat().st_mtime_ns) for path in files}
    assert (after, {path: path.read_bytes() for path in files}) == (before, bytes_before)
    assert sorted(path.name for path in ground.writable.iterdir()) == ["notes"]


@needs_landlock
def test_its_memory_is_a_folder_of_its_own_and_goes_with_it(
    ground: Ground, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other labs have theirs beside it; what one has left whose wirelab was killed goes, too."""
    disk = tmp_path / "disk"
    left, used = disk / "wirelab-lab-left", disk / "wirelab-lab-used"
    for folder in (left, used):
        (folder / ".uml").mkdir(parents=True)
    monkeypatch.setattr(machine, "memory_folder", lambda *_, **__: disk)
    with exclusive_now(used):
        answers = ground.answers([("list", used), ("list", disk)])
    assert (answers[f"list:{used}"], answers[f"list:{disk}"]) == (errno.EACCES, errno.EACCES)
    assert list(disk.iterdir()) == [used]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes what belongs to somebody else")
def test_what_somebody_else_has_put_there_is_left_alone(
    ground: Ground, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All may write to a disk in memory: a link that is called as our folders are leads anywhere."""
    disk = tmp_path / "disk"
    strange = disk / "wirelab-lab-link"
    disk.mkdir()
    strange.symlink_to(tmp_path)
    os.chown(strange, 65534, 65534, follow_symlinks=False)
    monkeypatch.setattr(machine, "memory_folder", lambda *_, **__: disk)
    ground.answers([])
    assert list(disk.iterdir()) == [strange]


@needs_landlock
def test_who_starts_a_lab_is_not_confined(ground: Ground, tmp_path: Path) -> None:
    """It is a thread that gives up its rights, and it ends with the lab."""
    ground.answers([])
    assert (tmp_path / "secret").read_text() == "mine\n"
    (tmp_path / "secret").chmod(0o600)
    assert (tmp_path / "secret").stat().st_mode & 0o777 == 0o600
    for thread in threading.enumerate():
        if thread.name == "lab":
            thread.join(20)
            assert not thread.is_alive()


def test_what_goes_wrong_in_the_thread_is_raised_where_it_was_started() -> None:
    """Not printed beside it by the thread."""

    def fail() -> None:
        raise LabError("no")

    with pytest.raises(LabError, match="no"):
        Keeper(lambda: None, fail).start()
    with pytest.raises(LabError, match="no"):
        Keeper(fail, lambda: 1).start()


@needs_landlock
def test_a_script_is_no_kernel(ground: Ground) -> None:
    """It needs a shell, which is another file of the host: the message says so."""
    ground.kernel.write_text("#!/bin/sh\nexit 0\n")
    with pytest.raises(LabError, match=r"the lab could not be started: .*Permission denied") as caught:
        ground.answers([])
    assert "a script" in (caught.value.hint or "")


@pytest.fixture
def bare_host(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host that says it has no Landlock, as Linux before 5.13 does."""

    def absent() -> int:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))

    monkeypatch.setattr(landlock, "abi", absent)


@pytest.mark.usefixtures("bare_host")
def test_a_host_without_landlock_is_told(tmp_path: Path) -> None:
    """By `--version` and doctor, for whom nothing is missing; a command is refused, and told the way out."""
    said = "this host cannot keep a lab from your files: it has no Landlock"
    version = CliRunner().invoke(app, ["--version"], env={"WIRELAB_CACHE": str(tmp_path)})
    assert version.output.endswith(f"\njail: {said}\n")
    (finding,) = (finding for finding in doctor.examine() if finding.name == "jail")
    assert finding.ok
    assert finding.detail.startswith(f"{said}: `wirelab exec` needs --without-jail. Linux 5.13 and newer")
    lab = Lab(tmp_path / "linux", tmp_path, "", "")
    with (
        pytest.raises(LabError, match="it has no Landlock") as caught,
        (tmp_path / "out").open("wb") as stream,
    ):
        command.run_command(
            ["true"],
            lab,
            tmp_path,
            work=tmp_path,
            writable=[],
            seed=1,
            cpu=0,
            wall_limit_s=1,
            stdout=stream,
            stderr=stream,
        )
    assert "--without-jail" in (caught.value.hint or "")


@pytest.mark.usefixtures("bare_host")
def test_a_scenario_has_the_other_half(ground: Ground) -> None:
    """It is data: its lab runs, and the host answers it no more calls than elsewhere."""
    run = ground.folder / "run"
    (run / "plan").mkdir(parents=True)
    with Machine(ground.kernel, ground.root, run, seed=1, cpu=min(os.sched_getaffinity(0))) as lab:
        lab.wait(20)
    answers = (run / "results" / "answers").read_text().splitlines()
    assert {"socket-inet 1", "mount 1", "attach 1", "kill-child 0"} <= set(answers)


@pytest.mark.usefixtures("bare_host")
def test_whoever_insists_is_refused(ground: Ground) -> None:
    """Half a jail is none for who asked for a whole one."""
    with pytest.raises(LabError, match="the lab could not be confined: Function not implemented"):
        ground.answers([])
