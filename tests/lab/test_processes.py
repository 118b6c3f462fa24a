"""What makes programs start fast shows nowhere: a root that is kept, and forks that copy."""

from __future__ import annotations

import resource
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.lab.rig import Rig

# The most descriptors that a lab of these tests may have on the host: fewer than there are files in its root.
DESCRIPTORS = 256

READ_AND_ASK = """
import ctypes, mmap, sys
with open(sys.argv[1], "rb") as file:
    file.read()
with open(sys.argv[1], "rb") as file:
    pages = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
resident = (ctypes.c_ubyte * -(-len(pages) // mmap.PAGESIZE))()
address = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(pages)))
if ctypes.CDLL(None).mincore(address, ctypes.c_size_t(len(pages)), resident):
    sys.exit("mincore failed")
print(sum(page & 1 for page in resident), len(resident))
"""

# Pages of a parent that a fork copies, and of one that is too large for that: it shares them.
PAGES = {"copied": 1000, "shared": 6000}
WRITES_APART = """
import os, sys
pages = int(sys.argv[1])
ours = bytearray(b"ours" * (pages << 10))
child = os.fork()
for at in range(0, len(ours), 4096):
    ours[at] = ord("c" if child == 0 else "p")
    if ours[at + 1] != ord("u"):
        sys.exit(f"page {at >> 12} was not copied")
if child == 0:
    os._exit(0 if ours[::4096] == b"c" * pages else 1)
print(os.waitpid(child, 0)[1], ours[::4096] == b"p" * pages)
"""

# How many faults it takes a parent, and then its child, to read a file that is mapped.
READS_ON = """
import mmap, os, resource, sys
with open(sys.executable, "rb") as file:
    pages = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
def read():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    pages[::mmap.PAGESIZE]
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
ours = read()
if not os.fork():
    os._exit(min(read(), 255))
print(ours, os.waitstatus_to_exitcode(os.wait()[1]))
"""

# So many children of a parent with 12 MiB take more memory than a lab has, if each has a copy.
CHILDREN = 100
HOLDS_MANY = """
import os, sys
held = b"held" * (3 << 20)
here, there = os.pipe()
children = []
for _ in range(int(sys.argv[1])):
    children.append(os.fork())
    if not children[-1]:
        os.close(there)
        os.read(here, 1)
        os._exit(held[::4096] != b"h" * 3072)
os.close(there)
print({os.waitpid(child, 0)[1] for child in children})
"""

# Another process of the same program reads what the one before wrote: it is to have nothing there.
LOOKS_BACK = """
import subprocess, sys
WRITE = '''
import ctypes, mmap
memory = mmap.mmap(-1, 1 << 20)
memory[:6] = b"secret"
print(ctypes.addressof(ctypes.c_char.from_buffer(memory)))
'''
READ = "import ctypes, sys; print(ctypes.string_at(int(sys.argv[1]), 6))"
def run(*argv):
    return subprocess.run([sys.executable, "-c", *argv], capture_output=True, text=True)
ends = set()
for _ in range(40):
    seen = run(READ, str(int(run(WRITE).stdout)))
    if "secret" in seen.stdout:
        sys.exit(seen.stdout)
    ends.add(seen.returncode)
print(*ends)
"""

# Fifty at once, each with other memory.
AT_ONCE = """
import os, signal, sys
children = []
for number in range(50):
    child = os.fork()
    if child == 0:
        mine = bytes([number]) * (number << 14)
        os.kill(os.getpid(), signal.SIGKILL) if number % 3 == 0 else os._exit(mine.count(number) != len(mine))
    children.append(child)
print(all(os.waitpid(child, 0)[1] == (9 if number % 3 == 0 else 0) for number, child in enumerate(children)))
"""


@pytest.fixture
def few_descriptors() -> Iterator[None]:
    """The host gives a lab few descriptors."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_what_was_read_of_the_root_is_not_read_again(rig: Rig) -> None:
    """The pages of a file that nobody uses any more are kept, as those of a file on a disk are."""
    file = "/usr/lib/python3/dist-packages/mininet/net.py"
    resident, pages = kept_of(rig, file)
    assert resident == pages > 1


@pytest.mark.usefixtures("few_descriptors")
def test_a_whole_root_can_be_read(rig: Rig) -> None:
    """What is kept of a file needs no descriptor of the host, or there would soon be none left."""
    read = rig.execute("bash", "-c", "find / -xdev -type f -print0 | xargs --null cat | wc --bytes")
    assert read.code == 0, read.stderr
    assert int(read.stdout) > 50 << 20


def test_the_root_stays_read_only(rig: Rig) -> None:
    """It is kept because nobody changes it, so nobody may ask to."""
    refused = rig.execute("env", "LIBMOUNT_FORCE_MOUNT2=always", "mount", "-o", "remount,rw", "/")
    assert (refused.code, "is write-protected" in refused.stderr) == (32, True), refused.stderr


def test_another_mount_of_the_host_is_not_kept(rig: Rig) -> None:
    """The host may change what it lends a lab: what is there is what is seen, each time."""
    assert kept_of(rig, "inside.py")[0] == 0


def test_a_child_has_what_its_parent_read_of_a_file(rig: Rig) -> None:
    """A fault costs as much where a page need not be copied, so that a fork leaves none of those either."""
    faults = rig.execute("python3", "-c", READS_ON)
    assert faults.code == 0, faults.stderr
    parent, child = map(int, faults.stdout.split())
    assert (parent > 50, child) == (True, 0)


@pytest.mark.parametrize("pages", PAGES.values(), ids=list(PAGES))
def test_parent_and_child_write_apart(rig: Rig, pages: int) -> None:
    """What one of them writes after a fork the other does not read, whether pages were copied or shared."""
    apart = rig.execute("python3", "-c", WRITES_APART, str(pages))
    assert apart.code == 0, apart.stderr
    assert apart.stdout.split() == ["0", "True"]


def test_copies_leave_room_for_more_children(rig: Rig) -> None:
    """Where memory gets short a fork shares what there is: a parent may have as many as ever."""
    held = rig.execute("python3", "-c", HOLDS_MANY, str(CHILDREN), wall_limit_s=60)
    assert held.code == 0, held.stderr
    assert held.stdout.split() == ["{0}"]


def test_a_process_finds_nothing_of_the_one_before(rig: Rig) -> None:
    """Its memory is new, whoever had the pages before."""
    found = rig.execute("python3", "-c", LOOKS_BACK)
    assert found.code == 0, found.stderr
    # What it asks for is not there (SIGSEGV), or is its own.
    assert set(found.stdout.split()) <= {"-11", "0"}


def test_many_processes_end_as_they_do_anywhere(rig: Rig) -> None:
    """Some by themselves, some killed, fifty of them at once."""
    ended = rig.execute("python3", "-c", AT_ONCE)
    assert ended.code == 0, ended.stderr
    assert ended.stdout == "True\n"


def kept_of(rig: Rig, file: str) -> tuple[int, int]:
    """Of a file that was read to its end and closed: its pages in the lab's memory, and all that it has."""
    output = rig.execute("python3", "-c", READ_AND_ASK, file)
    assert output.code == 0, output.stderr
    resident, pages = map(int, output.stdout.split())
    return resident, pages
