"""`wirelab exec`: a command in a lab behaves like a command, and leaves nothing behind."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.lab.processes import children
from wirelab.errors import LabError

if TYPE_CHECKING:
    from tests.lab.rig import Rig

WIRELAB = (sys.executable, "-m", "wirelab")

WRITE = """
import os, sys, time
begun_ns = time.monotonic_ns()
for _ in range(23_000):
    os.write(1, bytes(1000))
print(time.monotonic_ns() - begun_ns, file=sys.stderr)
"""


def wirelab(*argv: str, cwd: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    """The command line as a user has it."""
    return subprocess.run(
        [*WIRELAB, *argv], cwd=cwd, capture_output=True, text=True, check=False, env={**os.environ, **environ}
    )


def lab_processes(mark: str) -> list[str]:
    """Processes of this machine whose current folder or command line names ``mark``."""
    processes = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                argv = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                words = f"{argv} {(folder / 'cwd').readlink()}"
            except OSError:
                continue
            if mark in words and int(folder.name) != os.getpid():
                processes.append(f"{folder.name} {words}")
    return processes


def test_output_and_exit_code_are_the_commands(tmp_path: Path) -> None:
    """What the command writes to each stream comes out of that stream, and its exit code is ours."""
    done = wirelab("exec", "--", "sh", "-c", "echo out; echo err >&2; exit 7", cwd=tmp_path)
    assert (done.stdout, done.stderr, done.returncode) == ("out\n", "err\n", 7)


def test_each_output_has_its_name(rig: Rig) -> None:
    """What is written to /dev/stdout comes out of that stream, and likewise /dev/stderr, whoever writes."""
    output = rig.execute(
        "sh", "-c", "echo a; echo b >/dev/stdout; echo c >/dev/stderr; echo d | tee /dev/stderr"
    )
    assert (output.stdout, output.stderr) == ("a\nb\nd\n", "c\nd\n")
    other = rig.execute("su", "nobody", "-s", "/bin/sh", "-c", "echo a >/dev/stdout; echo b >/dev/stderr")
    assert (other.stdout, other.stderr) == ("a\n", "b\n")


def test_nobody_waits_for_what_holds_the_output(rig: Rig) -> None:
    """The lab ends with its command, and all that was printed by then is there."""
    output = rig.execute("sh", "-c", "(sleep 1000; echo late) & echo soon; exit 3")
    assert (output.stdout, output.code) == ("soon\n", 3)


def test_a_long_output_is_whole_and_takes_no_more_time(rig: Rig) -> None:
    """It goes at the pace of its CPU, which may be 10 ms ahead, and waits for no reader."""
    output = rig.execute("python3", "-c", WRITE)
    assert len(output.stdout) == 23_000_000
    assert int(output.stderr) < 23_000 * 500 + 23_000_000 * 0.19 - 10_000_000 + 1_000_000


def test_current_folder_is_there_and_read_only(tmp_path: Path) -> None:
    """The command starts in the caller's folder and cannot change it."""
    (tmp_path / "notes.txt").write_text("hello\n")
    done = wirelab("exec", "--", "sh", "-c", "cat notes.txt; touch mine", cwd=tmp_path)
    assert done.stdout == "hello\n"
    assert done.returncode != 0
    assert "Read-only file system" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["notes.txt"]


def test_a_writable_folder_does_not_take_the_place_of_the_working_folder(tmp_path: Path) -> None:
    """One that is called ``work`` would be where that is."""
    (tmp_path / "here").mkdir()
    (tmp_path / "work").mkdir()
    done = wirelab("exec", "--writable", "../work", "--", "true", cwd=tmp_path / "here")
    assert done.returncode == 2
    assert "another folder is already at /mnt/work in the lab" in done.stderr


def test_writable_folder_keeps_results(tmp_path: Path) -> None:
    """A folder named with --writable can be written to, at the place where the caller has it."""
    (tmp_path / "out").mkdir()
    done = wirelab("exec", "--writable", "out", "--", "sh", "-c", "echo 42 > out/answer", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "answer").read_text() == "42\n"


def test_command_that_is_not_there(tmp_path: Path) -> None:
    """As in a shell: 127 and one line, no traceback."""
    done = wirelab("exec", "--", "no-such-program", cwd=tmp_path)
    assert done.returncode == 127
    assert done.stderr == "wirelab exec: no-such-program: not found in the lab\n"


def test_command_is_root_and_open_vswitch_answers(rig: Rig) -> None:
    """The command is root in its own machine, and Open vSwitch is up when it starts."""
    output = rig.execute("sh", "-c", "id -u && ovs-vsctl add-br br0 && ovs-vsctl list-br")
    assert (output.stdout, output.code) == ("0\nbr0\n", 0)


def test_unmodified_mininet_runs(rig: Rig) -> None:
    """Mininet's own command line builds its network and its pings arrive."""
    output = rig.execute("mn", "--topo", "single,3", "--test", "pingall")
    assert output.code == 0
    assert "0% dropped (6/6 received)" in output.stdout + output.stderr


def test_machine_has_a_name_that_is_an_address(rig: Rig) -> None:
    """Whoever looks the machine's own name up finds it."""
    asks = "import socket; print(socket.gethostbyname(socket.gethostname()))"
    assert rig.execute("python3", "-c", asks).stdout == "127.0.0.1\n"


def test_localhost_is_an_address_that_can_be_used(rig: Rig) -> None:
    """IPv4 counts as configured, as on a machine with a network card: localhost is found."""
    found = rig.execute("getent", "ahostsv4", "localhost")
    assert found.stdout.startswith("127.0.0.1 "), found.stdout


def test_memory_is_what_was_asked_for(tmp_path: Path) -> None:
    """Of more the kernel has more: all but what it needs for itself."""
    done = wirelab("exec", "--memory", "1536", "--", "grep", "MemTotal", "/proc/meminfo", cwd=tmp_path)
    assert 1400 << 10 < int(done.stdout.split()[1]) < 1536 << 10, done.stderr


def test_etc_can_be_written_and_is_anew_the_next_time(rig: Rig) -> None:
    """Mininet's NAT adds to a file there, which no other lab sees."""
    adds = ("sh", "-c", "echo '# more' >>/etc/network/interfaces && grep -c more /etc/network/interfaces")
    assert rig.execute(*adds).stdout == rig.execute(*adds).stdout == "1\n"


def test_loopback_device_is_up(rig: Rig) -> None:
    """Both addresses of the loopback device answer, as on any machine."""
    output = rig.execute("sh", "-c", "ping -c 1 127.0.0.1 && ping -c 1 ::1")
    assert output.code == 0, output.stdout + output.stderr


def test_cgroups_are_where_scripts_look(rig: Rig) -> None:
    """Version 1 with the controllers of a CPU limit, by each name, and version 2 with the others."""
    made = "mkdir /sys/fs/cgroup/cpu/h1 && echo 20000 >/sys/fs/cgroup/cpu,cpuacct/h1/cpu.cfs_quota_us"
    files = "cpu/h1/cpu.cfs_quota_us cpuacct/h1/cpuacct.usage unified/cgroup.controllers"
    output = rig.execute("sh", "-c", f"{made} && cd /sys/fs/cgroup && cat {files}")
    assert output.stdout.split() == ["20000", "0", "pids"], output.stderr


def test_cgroups_of_version_2_alone(rig: Rig) -> None:
    """Whoever wants no other takes version 1 away; a moment later version 2 has every controller."""
    other = "umount -R /sys/fs/cgroup && sleep 1 && mount -t cgroup2 none /sys/fs/cgroup"
    output = rig.execute("sh", "-c", f"{other} && cat /sys/fs/cgroup/cgroup.controllers")
    assert {"cpu", "pids"} <= set(output.stdout.split()), output.stdout + output.stderr


@pytest.mark.parametrize("controller", ["default", "ovsc"])
def test_a_controller_has_room_for_every_switch(rig: Rig, controller: str) -> None:
    """Open vSwitch's own takes sixteen, by either of the names that Mininet starts it by."""
    ask = f"(echo h1 ping -c 1 h17; sleep 9) | mn --controller {controller} --topo linear,17"
    output = rig.execute("sh", "-c", ask)
    assert "1 packets transmitted, 1 received" in output.stdout + output.stderr, output.stderr
    assert output.code == 0


def test_few_switches_are_open_vswitchs_own(rig: Rig) -> None:
    """Nobody stands between them and its controller, so that the first ping is as quick as it was."""
    output = rig.execute("sh", "-c", "(echo h1 ping -c 1 h2; sleep 9) | mn --topo linear,2")
    assert re.search(r"time=0\.\d+ ms", output.stdout + output.stderr), output.stdout + output.stderr


def test_a_controller_ends_with_all_that_it_started(rig: Rig) -> None:
    """SIGTERM to it alone, or to all of its job, leaves neither a process nor a socket behind."""
    wait = "for _ in $(seq 17); do exec {switch}<>/dev/tcp/127.0.0.1/6653; done; sleep 0.5"
    look = "ls /run | grep -c testcontroller; pgrep -fc 'usr/(bin/ovs-testc|local/libexec/more-)'"
    for end in ("kill $!", "kill -- -$!"):
        begin = f"set -m; controller ptcp:6653 & sleep 1; {wait}; {look}"
        output = rig.execute("bash", "-c", f"{begin}; {end}; wait $!; sleep 0.5; {look}")
        assert output.stdout.split() == ["1", "3", "0", "0"], output.stderr
        assert "Traceback" not in output.stderr


def test_a_controller_that_listens_otherwise_is_open_vswitchs_own(rig: Rig) -> None:
    """Its help, and whatever else it understands."""
    output = rig.execute("controller", "--help")
    assert output.stdout.startswith("ovs-testcontroller: OpenFlow controller"), output.stderr


def test_virtual_time_passes_without_wall_time(rig: Rig) -> None:
    """A thousand seconds of sleep are over at once, and the lab's clock has moved by them."""
    output = rig.execute("sh", "-c", "cat /proc/uptime; sleep 1000; cat /proc/uptime")
    before, after = (float(line.split()[0]) for line in output.stdout.splitlines())
    assert 1000 <= after - before < 1001


def test_same_seed_same_randomness(rig: Rig) -> None:
    """Random numbers grow from the seed: the same from the same, others from another."""
    argv = ("sh", "-c", "head -c 64 /dev/urandom | od -An -tx1; cat /proc/sys/kernel/random/uuid")
    first, again, other = rig.execute(*argv), rig.execute(*argv), rig.execute(*argv, seed=2)
    assert first.stdout == again.stdout
    assert first.stdout != other.stdout


def test_environment_does_not_leak_in(tmp_path: Path) -> None:
    """The command sees the lab's environment and nothing of the caller's."""
    plain = wirelab("exec", "--", "env", cwd=tmp_path)
    dressed = wirelab("exec", "--", "env", cwd=tmp_path, LANG="de_DE.UTF-8", WIRELAB_TEST_MARK="x")
    assert plain.stdout == dressed.stdout


def test_hanging_guest_is_ended_at_its_wall_limit(tmp_path: Path) -> None:
    """A loop that never reads the clock stops virtual time: it is killed, exit code 4, and nothing stays."""
    argv = ("exec", "--limit", "3", "--", "sh", "-c", "while :; do :; done")
    done = wirelab(*argv, cwd=tmp_path, TMPDIR=str(tmp_path))
    assert done.returncode == 4
    assert "wall limit of 3 s" in done.stderr
    assert "Traceback" not in done.stderr
    assert lab_processes(str(tmp_path)) == []


def test_nothing_that_a_command_says_moves_its_wall_limit(rig: Rig) -> None:
    """Root of the lab can write that it gets on, as a scenario's lab does: it is ended all the same."""
    with pytest.raises(LabError, match="wall limit of 8 s"):
        rig.execute("python3", "-B", "gets_on.py", wall_limit_s=8)


def test_who_reads_slowly_moves_no_limit(tmp_path: Path) -> None:
    """Nor who reads nothing: of a lab that prints for ever the end comes, and what it printed with it."""
    argv = [*WIRELAB, "exec", "--limit", "5", "--", "yes"]
    environ = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(argv, cwd=tmp_path, stdout=subprocess.PIPE, env=environ) as process:
        deadline_s = time.monotonic() + 60
        while not children(process.pid):
            assert time.monotonic() < deadline_s, "no lab"
            time.sleep(0.1)
        while children(process.pid):
            assert time.monotonic() < deadline_s, "the lab goes on"
            time.sleep(0.1)
        process.kill()


def test_death_of_the_caller_ends_the_lab(tmp_path: Path) -> None:
    """After SIGKILL to wirelab itself no process of the lab is left."""
    argv = [*WIRELAB, "exec", "--limit", "60", "--", "sh", "-c", "echo up; while :; do :; done"]
    environ = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(argv, cwd=tmp_path, stdout=subprocess.PIPE, env=environ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"up\n"
        assert len(lab_processes(str(tmp_path))) > 1
        process.kill()
    deadline_looks = 200
    for _ in range(deadline_looks):
        if not lab_processes(str(tmp_path)):
            return
    pytest.fail("\n".join(lab_processes(str(tmp_path))))


def test_a_lab_whose_parent_has_ended_already_does_not_begin(rig: Rig, tmp_path: Path) -> None:
    """Its end cannot be signalled any more: the kernel looks for itself, and says nothing."""
    argv = [str(rig.lab.kernel), f"parent={os.getpid() + 1}", "root=/nowhere"]
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, check=False, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (1, b"", b"")


def test_lab_that_goes_down_by_itself_is_broken(rig: Rig) -> None:
    """A lab that ends without a status is an error, with the last that was seen on its console."""
    power_off = "import ctypes; ctypes.CDLL(None).reboot(0x4321fedc)"
    with pytest.raises(LabError, match="the lab ended without a status") as caught:
        rig.execute("python3", "-c", power_off)
    assert caught.value.hint
    # The second is what Linux 6.1 says of it.
    assert caught.value.hint.endswith(("reboot: Power down", "reboot: System halted"))


def test_mnexec_closes_what_it_says(rig: Rig) -> None:
    """`mnexec -c`, as Mininet starts its nodes, passes on three descriptors and the exit code."""
    leaky = "exec 5</dev/null 8</dev/null; mnexec -cd sh -c 'echo /proc/self/fd/*; exit 4'"
    output = rig.execute("sh", "-c", leaky)
    assert output.stdout.split() == [f"/proc/self/fd/{number}" for number in (0, 1, 2, 3)]
    assert output.code == 4


def test_mnexec_is_otherwise_mininets_own(rig: Rig) -> None:
    """Without ``-c`` it hands on what is open, and does what it is told."""
    output = rig.execute("sh", "-c", "exec 5</dev/null; mnexec -p sh -c 'echo /proc/self/fd/5'")
    pid, file = output.stdout.split()
    assert pid.lstrip("\1").isdigit()
    assert file == "/proc/self/fd/5"
