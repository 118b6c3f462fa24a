"""Inside the lab: what a read() gives a task that has told of its block, and one that has not.

A sender writes pieces of 10 000 bytes over TCP, one every millisecond. Prints what each read gave.
"""

import ctypes
import json
import mmap
import socket
import sys
import threading
import time
from pathlib import Path

from inside import run

BLOCK_BYTES = 128 << 10
PIECE_BYTES = 10_000
PIECES = 20

# The guest's own code, which is in every lab.
sys.path.insert(0, "/run/wirelab/lib")
from wirelab.guest.shortcuts import Shortcuts  # noqa: E402 - found there alone

libc = ctypes.CDLL(None)


def send(address: tuple[str, int]) -> None:
    """All pieces, then the end."""
    with socket.create_connection(address) as sender:
        sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for number in range(PIECES):
            sender.sendall(bytes([1 + number]) * PIECE_BYTES)
            time.sleep(0.001)


def read_to_the_end(file: int, size_bytes: int, offset_bytes: int = 0) -> dict[str, object]:
    """What each read() of ``size_bytes`` into memory of our own gave, and whether it put something there."""
    memory = mmap.mmap(-1, BLOCK_BYTES + mmap.PAGESIZE)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory)) + offset_bytes
    got = []
    while (count := libc.read(file, ctypes.c_void_p(address), size_bytes)) > 0:
        got.append(count)
    return {"got": got, "copied": any(memory[:])}


def over_tcp(size_bytes: int, offset_bytes: int = 0) -> dict[str, object]:
    """The pieces, read by so much at once."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        sender = threading.Thread(target=send, args=(server.getsockname(),))
        sender.start()
        with server.accept()[0] as receiver:
            # So that there is a piece, and one only, at the first read.
            time.sleep(0.0005)
            told = read_to_the_end(receiver.fileno(), size_bytes, offset_bytes)
        sender.join()
        return told


def main() -> None:
    """See above."""
    run("ip", "link", "set", "lo", "up")
    told = {"plain": over_tcp(BLOCK_BYTES)}
    with Shortcuts().read_whole(BLOCK_BYTES):
        told["whole"] = over_tcp(BLOCK_BYTES)
        told["another_size"] = over_tcp(BLOCK_BYTES // 2)
        told["within_a_page"] = over_tcp(BLOCK_BYTES, 16)
        with Path("/bin/true").open("rb", buffering=0) as file:
            told["file"] = read_to_the_end(file.fileno(), BLOCK_BYTES)
    told["off"] = over_tcp(BLOCK_BYTES)
    print(json.dumps(told))


main()
