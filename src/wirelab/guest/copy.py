"""A program that copies: reads, processes and sends a block, and its peer, which takes and writes it.

``python3 -m wirelab.guest.copy send|take`` with JSON as its one argument. The storage is as fast as it
is said to be: each stage is a serial server in virtual time. What is between them is the real network.
"""

from __future__ import annotations

import json
import socket
import struct
import sys
from collections import deque
from dataclasses import dataclass
from typing import Any

from wirelab.guest import clock

_HEADER = struct.Struct("!QQBI")
_MESSAGE_BYTES = 64
_PS_PER_NS = 1000
# Blocks that wait between two stages: as many as a program with two buffers has.
_DEPTH = 2
# linux/tcp.h, struct tcp_info: tcpi_total_retrans.
_TCP_INFO_BYTES = 104
_TOTAL_RETRANS_OFFSET = 100


class Stage:
    """A serial server: what it begins when it is busy waits; at most _DEPTH blocks are ahead of the next."""

    def __init__(self, byte_ps: int) -> None:
        self._byte_ps = byte_ps
        self._free_ns = 0

    def serve(self, size_bytes: int, from_ns: int) -> int:
        """When a block that is there at ``from_ns`` is done."""
        self._free_ns = max(self._free_ns, from_ns) + size_bytes * self._byte_ps // _PS_PER_NS
        return self._free_ns


@dataclass(frozen=True)
class Job:
    """What is copied and how."""

    size_bytes: int
    block_bytes: int
    sequential: bool
    requests: int

    @property
    def blocks(self) -> list[int]:
        """The sizes of the blocks, the last one may be short."""
        whole, rest = divmod(self.size_bytes, self.block_bytes)
        return [self.block_bytes] * whole + ([rest] if rest else [])


def send(job: Job, peer: socket.socket, read: Stage, process: Stage) -> None:
    """Read, process and send every block."""
    peer.sendall(_HEADER.pack(job.size_bytes, job.block_bytes, job.sequential, job.requests))
    payload = memoryview(bytes(job.block_bytes))
    sent_ns: deque[int] = deque([clock.now_ns()] * _DEPTH, maxlen=_DEPTH)
    for size in job.blocks:
        for _ in range(job.requests):
            peer.sendall(bytes(_MESSAGE_BYTES))
            _receive(peer, _MESSAGE_BYTES)
        # A stage may be _DEPTH blocks ahead of what has been sent; in a sequential program it is not ahead.
        begin_ns = clock.now_ns() if job.sequential else sent_ns[0]
        clock.sleep_until(process.serve(size, read.serve(size, begin_ns)))
        peer.sendall(payload[:size])
        if job.sequential:
            _receive(peer, 1)
        sent_ns.append(clock.now_ns())
    # The peer says when all is written.
    _receive(peer, 1)


def take(peer: socket.socket, write: Stage) -> dict[str, Any]:
    """Take and write every block; what came, how long it took, and how much in each second of it."""
    begin_ns = clock.now_ns()
    size, block, sequential, requests = _HEADER.unpack(_receive(peer, _HEADER.size))
    job = Job(size, block, bool(sequential), requests)
    written_ns: deque[int] = deque([begin_ns] * _DEPTH, maxlen=_DEPTH)
    seconds: dict[int, int] = {}
    for each in job.blocks:
        for _ in range(job.requests):
            _receive(peer, _MESSAGE_BYTES)
            peer.sendall(bytes(_MESSAGE_BYTES))
        clock.sleep_until(written_ns[0])
        _receive(peer, each)
        written_ns.append(write.serve(each, clock.now_ns()))
        if job.sequential:
            clock.sleep_until(written_ns[-1])
            peer.sendall(b"\0")
        second = (written_ns[-1] - begin_ns) // clock.NS_PER_S
        seconds[second] = seconds.get(second, 0) + each
    clock.sleep_until(written_ns[-1])
    end_ns = clock.now_ns()
    peer.sendall(b"\0")
    whole = range((end_ns - begin_ns) // clock.NS_PER_S)
    return {
        "bytes": size,
        "seconds": (end_ns - begin_ns) / clock.NS_PER_S,
        "bytes_of_second": [seconds.get(second, 0) for second in whole],
    }


def main(argv: list[str]) -> None:
    """Be one end of a copy."""
    end, text = argv
    asked = json.loads(text)
    if end == "take":
        with socket.create_server(("", asked["port"])) as server:
            peer, _ = server.accept()
            with peer:
                found = take(peer, Stage(asked["write_ps"]))
        print(json.dumps(found))  # noqa: T201 - its standard output is the raw file
        return
    job = Job(asked["size_bytes"], asked["block_bytes"], asked["sequential"], asked["requests"])
    with socket.socket() as peer:
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if asked["congestion"]:
            peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, asked["congestion"].encode())
        if asked["dscp"] is not None:
            peer.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, asked["dscp"] << 2)
        peer.bind(("", asked["client_port"]))
        peer.connect((asked["address"], asked["port"]))
        send(job, peer, Stage(asked["read_ps"]), Stage(asked["process_ps"]))
        info = peer.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _TCP_INFO_BYTES)
    (retransmits,) = struct.unpack_from("=I", info, _TOTAL_RETRANS_OFFSET)
    print(json.dumps({"bytes": job.size_bytes, "retransmits": retransmits}))  # noqa: T201 - as above


def _receive(peer: socket.socket, size_bytes: int) -> bytes:
    """Exactly that many bytes. Raises EOFError when the other end stops before."""
    pieces = []
    while size_bytes:
        piece = peer.recv(min(size_bytes, 1 << 20))
        if not piece:
            msg = "the other end has gone"
            raise EOFError(msg)
        pieces.append(piece)
        size_bytes -= len(piece)
    return b"".join(pieces)


if __name__ == "__main__":
    main(sys.argv[1:])
