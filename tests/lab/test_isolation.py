"""What SECURITY.md says of a lab, looked at from the host while one is running, and from inside."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.jail.attempts import DENIED, Attempt, of_another_run, of_the_host, of_what_a_lab_is, words
from tests.jail.programs import answers
from tests.lab.processes import children, processes_in
from wirelab.errors import InputError, LabError
from wirelab.lab import host

if TYPE_CHECKING:
    from tests.lab.rig import Rig

needs_landlock = pytest.mark.skipif(not host.landlock_abi(), reason="this host has no Landlock")

INTERFACES = Path("/sys/class/net")
# More processes than any lab has by itself.
BOMBS = 200
OF_MININET = "mn --topo single,3 --test none >/dev/null 2>&1; ip link add p1 type etherport; echo up; "


def namespaces(process: str) -> dict[str, str]:
    """The namespaces a process of the host lives in, by kind."""
    folder = Path("/proc", process, "ns")
    return {kind.name: str(kind.readlink()) for kind in folder.iterdir()}


def test_the_host_gets_no_interface_and_no_namespace(tmp_path: Path) -> None:
    """While switches, ports and nodes are made in a lab, the host has the interfaces it had before.

    Every process of the lab lives in the namespaces of whoever started it, and is the same user.
    """
    before = sorted(path.name for path in INTERFACES.iterdir())
    script = OF_MININET + "while :; do :; done"
    argv = [sys.executable, "-m", "wirelab", "exec", "--limit", "60", "--", "sh", "-c", script]
    with subprocess.Popen(argv, cwd=tmp_path, stdout=subprocess.PIPE) as wirelab:
        try:
            assert wirelab.stdout is not None
            assert wirelab.stdout.readline() == b"up\n"
            labs = [process for child in children(wirelab.pid) for process in processes_in(child)]
            assert len(labs) > 1
            for process in labs:
                assert namespaces(str(process)) == namespaces("self")
                status = Path("/proc", str(process), "status").read_text()
                # Filters of system calls: the jail's, and that of the lab's kernel for its own processes.
                assert "NoNewPrivs:\t1\n" in status
                assert "Seccomp:\t2\n" in status
                assert Path("/proc", str(process)).stat().st_uid == os.getuid()
            assert sorted(path.name for path in INTERFACES.iterdir()) == before
        finally:
            wirelab.terminate()


def test_a_lab_has_no_way_to_the_hosts_network(rig: Rig) -> None:
    """None of its interfaces leads out, it has no default route, and its first process is its own."""
    link = rig.execute("ip", "-json", "link")
    assert {interface["ifname"] for interface in json.loads(link.stdout)} == {"lo", "dummy0", "ifb0", "ifb1"}
    assert rig.execute("ip", "route", "show", "table", "all").stdout.count("default") == 0
    assert rig.execute("sh", "-c", "cat /proc/1/cmdline").stdout.startswith("python3\0-B\0-m\0wirelab.guest")


def test_a_lab_has_the_memory_it_was_given(rig: Rig) -> None:
    """Less than 768 MiB, whatever the host has: asking for more fails inside and costs nothing outside."""
    output = rig.execute("sh", "-c", "grep MemTotal /proc/meminfo")
    assert 700_000 < int(output.stdout.split()[1]) < 768 * 1024


def reach(rig: Rig, *attempts: Attempt, is_jailed: bool = True) -> dict[Attempt, int]:
    """The errno, or 0, that root of a lab gets who mounts a folder of the host and does something in it."""
    output = rig.execute("python3", "-B", "escape.py", *words(attempts), is_jailed=is_jailed)
    assert output.code == 0, output.stderr
    told = answers(output.stdout)
    return {attempt: told[line] for attempt, line in zip(attempts, words(attempts), strict=True)}


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """A file of the user's that nobody named."""
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "notes.txt").write_text("mine\n")
    return tmp_path / "private" / "notes.txt"


@needs_landlock
def test_root_of_a_lab_reaches_no_other_folder_of_the_host(rig: Rig, secret: Path) -> None:
    """Whatever it mounts, by whichever way there: it can neither be listed nor read, changed nor added to."""
    answered = reach(rig, *of_the_host(Path.home(), secret, rig.lab.kernel))
    assert {attempt: answer for attempt, answer in answered.items() if answer not in DENIED} == {}
    assert (secret.read_text(), sorted(path.name for path in secret.parent.iterdir())) == (
        "mine\n",
        [secret.name],
    )


def test_without_jail_it_reaches_what_its_user_may(rig: Rig, secret: Path) -> None:
    """Which is what the jail is for, and what the option says."""
    attempt: Attempt = (secret.parent, secret.name, "read")
    assert reach(rig, attempt, is_jailed=False) == {attempt: 0}


@needs_landlock
def test_another_run_is_closed_to_a_lab(rig: Rig) -> None:
    """Its results, its plan and its memory; also while both are of one matrix, side by side."""
    rig.execute("true")
    other = rig.folder / "lab-1"
    assert (other / "results" / "status.json").is_file()
    attempts = [
        *of_another_run(other / "results" / "status.json"),
        ("/proc/self/cwd/..", f"{other.name}/results/status.json", "read"),
    ]
    assert set(reach(rig, *attempts).values()) == {errno.EACCES}


@needs_landlock
def test_kernel_and_root_image_cannot_be_rewritten(rig: Rig) -> None:
    """The root image is mounted read-only, and root of the lab may mount it once more; the host says no."""
    root, kernel = rig.lab.root, rig.lab.kernel
    files = [root / "etc" / "fstab", root / "usr" / "sbin" / "wirelab-init", kernel]
    before = [(path.stat().st_mode, path.stat().st_mtime_ns, path.stat().st_ctime_ns) for path in files]
    modes: list[Attempt] = [
        ("/proc/self/cwd/root", "etc/fstab", "chmod"),
        (kernel.parent, kernel.name, "chmod"),
    ]
    assert set(reach(rig, *of_what_a_lab_is(kernel)).values()) == {errno.EACCES}
    # A mode is said to be changed, and is not.
    assert set(reach(rig, *modes).values()) == {0}
    assert [
        (path.stat().st_mode, path.stat().st_mtime_ns, path.stat().st_ctime_ns) for path in files
    ] == before
    read: Attempt = ("/proc/self/cwd/root", "etc/fstab", "read")
    assert reach(rig, read) == {read: 0}


def test_what_labs_are_made_of_cannot_be_named_writable(rig: Rig) -> None:
    """Nor a folder that it is in: the next lab would be another one. Nor one with the lab's results in it."""
    for folder in (rig.lab.root, rig.lab.root / "etc", rig.lab.kernel.parent, rig.folder):
        with pytest.raises(InputError, match=r"the lab's own (kernel|root image|folder .*) is there"):
            rig.execute("true", writable=[folder])


@needs_landlock
def test_a_writable_folder_takes_all_but_devices_and_modes(rig: Rig, tmp_path: Path) -> None:
    """Programs that copy, pack and rename are content; no program becomes another user's, no disk a file."""
    (tmp_path / "out").mkdir()
    script = """
    set -e
    cd /mnt/out
    echo one >a; cp -p a b; mv b c; ln c d; ln -s c e; mkdir -p f/g; mv a f/g/; tar -cf x.tar c e; mkfifo p
    mkdir t; tar -xf x.tar -C t; rm -r f; chown daemon c; chmod u+s c; touch -d 2001-01-01 c
    python3 -c 'import shutil; shutil.copy2("c", "copied"); shutil.copytree("t", "u", symlinks=True)'
    sed -i s/one/two/ copied; truncate -s 10 d; install -m 755 c i
    ! mknod disk b 8 0; ! mknod null c 1 3
    """
    output = rig.execute("sh", "-c", script, writable=[tmp_path / "out"])
    assert output.code == 0, output.stderr
    made = {path.name: path for path in (tmp_path / "out").iterdir()}
    assert sorted(made) == ["c", "copied", "d", "e", "i", "p", "t", "u", "x.tar"]
    assert made["copied"].read_text() == "two\n"
    assert (made["c"].stat().st_uid, made["c"].stat().st_mode & 0o7000) == (os.getuid(), 0)


def test_no_channel_leads_out_of_a_lab(rig: Rig) -> None:
    """No management console; no disk, network, sound or device of the host; no terminal, port or xterm."""
    absent = (
        "MCONSOLE BLK_DEV_UBD UML_NET_VECTOR PORT_CHAN PTY_CHAN TTY_CHAN XTERM_CHAN UML_SOUND UML_RANDOM "
    )
    absent += "VIRTIO_UML UML_PCI UML_RTC UML_WATCHDOG MODULES DEVMEM DEVKMEM"
    script = "gzip -dc /proc/config.gz; ls /proc/mconsole /dev/mem /dev/kmem /dev/ubda 2>/dev/null || true"
    lines = rig.execute("sh", "-c", script).stdout.splitlines()
    assert {name for name in absent.split() if f"CONFIG_{name}=y" in lines} == set()
    assert [line for line in lines if line.startswith("/")] == []


def test_a_fork_bomb_ends_with_its_lab(tmp_path: Path) -> None:
    """Its processes are the host's, as many as fit into the lab's memory; at its limit all are ended."""
    # A shell's would end by itself: a shell that cannot fork gives up.
    bomb = "import os\nwhile True:\n try: os.fork()\n except OSError: pass"
    script = f'echo up; python3 -c "{bomb}" & exec sleep infinity'
    argv = [sys.executable, "-m", "wirelab", "exec", "--limit", "15", "--", "sh", "-c", script]
    with subprocess.Popen(argv, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as wirelab:
        assert wirelab.stdout is not None
        assert wirelab.stdout.readline() == b"up\n"
        (lab,) = {child for child in children(wirelab.pid) if processes_in(child)}
        while len(processes_in(lab)) < BOMBS and wirelab.poll() is None:
            os.sched_yield()
        assert wirelab.poll() is None
        wirelab.communicate(timeout=120)
    assert wirelab.returncode == LabError.exit_code
    # Killed, each goes when the host comes to it.
    for _ in range(2000):
        if not processes_in(lab):
            break
        os.sched_yield()
    assert processes_in(lab) == []


def test_no_file_is_longer_than_its_disk_has_room(rig: Rig) -> None:
    """With holes it could be, and whoever reads it, as `wirelab exec` its output, had no end of it."""
    free_bytes = shutil.disk_usage(rig.folder).free
    stretch = "cd /run/wirelab/results; truncate -s 10T stdout; truncate -s 10G new && echo one"
    output = rig.execute("sh", "-c", stretch if free_bytes > 10 << 30 else stretch.replace("10G", "1M"))
    assert (output.code, output.stdout) == (0, "one\n"), output.stderr
    assert "failed to truncate 'stdout' at 10995116277760 bytes: File too large" in output.stderr


def test_a_full_disk_is_told_inside_and_ends_nothing(tmp_path: Path) -> None:
    """Whoever fills a writable folder hears of it from its own program; the lab ends as it should."""
    (tmp_path / "out").mkdir()
    fill = "cd out; dd if=/dev/zero of=big bs=64k count=400 2>&1 | grep -o 'No space left on device'; rm big"
    (tmp_path / "fill.sh").write_text(f"{fill}; echo room >small\n")
    script = """
    mount -t tmpfs -o size=8m none out
    "$1" -m wirelab exec --writable out -- sh fill.sh
    cat out/small
    """
    alone = ("unshare", "--user", "--map-root-user", "--mount")
    if subprocess.run([*alone, "true"], check=False, capture_output=True).returncode != 0:
        pytest.skip("this host lets nobody mount a disk of 8 MiB to fill")
    done = subprocess.run(
        [*alone, "sh", "-ec", script, "sh", sys.executable],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert (done.returncode, done.stdout) == (0, "No space left on device\nroom\n"), done.stderr
