"""A program that copies: reads, processes and sends a block, and its peer, which takes and writes it.

``python3 -m wirelab.guest.copier send|take`` with JSON as its one argument. The storage is as fast as it
is said to be: each stage is a serial server in virtual time. What is between them is the real network.
Interrupted, both ends say how far they came.
"""

import contextlib
import json
import socket
import struct
import sys
from collections import Counter, deque
from typing import Any, NamedTuple

from wirelab.guest import clock
from wirelab.plan.traffic.item import NO_CONNECTION

_HEADER = struct.Struct("!QQBIQ")
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


class Task(NamedTuple):
    """What is copied and how: the header of a connection.

    ``begin_ns`` is when there was a connection, by the clock that both ends have. The end that takes is woken
    late, by as much as its interrupts wait: a line would have carried what came meanwhile in no time.
    """

    size_bytes: int
    block_bytes: int
    sequential: bool
    requests: int
    begin_ns: int

    @property
    def blocks(self) -> list[int]:
        """The sizes of the blocks, the last one may be short."""
        whole, rest = divmod(self.size_bytes, self.block_bytes)
        return [self.block_bytes] * whole + ([rest] if rest else [])


def send(task: Task, peer: socket.socket, read: Stage, process: Stage) -> None:
    """Read, process and send every block."""
    peer.sendall(_HEADER.pack(*task))
    payload = memoryview(bytes(task.block_bytes))
    sent_ns: deque[int] = deque([clock.now_ns()] * _DEPTH, maxlen=_DEPTH)
    for size_bytes in task.blocks:
        for _ in range(task.requests):
            peer.sendall(bytes(_MESSAGE_BYTES))
            _receive(peer, _MESSAGE_BYTES)
        # A stage may be _DEPTH blocks ahead of what has been sent; in a sequential program it is not ahead.
        begin_ns = clock.now_ns() if task.sequential else sent_ns[0]
        clock.sleep_until(process.serve(size_bytes, read.serve(size_bytes, begin_ns)))
        peer.sendall(payload[:size_bytes])
        if task.sequential:
            _receive(peer, 1)
        sent_ns.append(clock.now_ns())
    # The peer says when all is written.
    _receive(peer, 1)


class Taken:
    """What has come so far, in each second since ``begin_ns``: until a header says when, since now."""

    def __init__(self) -> None:
        self.begin_ns = clock.now_ns()
        self._bytes_of_second: Counter[int] = Counter()

    def add(self, size_bytes: int, written_ns: int) -> None:
        """Count a block that is written at an instant."""
        self._bytes_of_second[(written_ns - self.begin_ns) // clock.NS_PER_S] += size_bytes

    def figures(self) -> dict[str, Any]:
        """What came, how long it took, and how much in each second of it."""
        elapsed_ns = clock.now_ns() - self.begin_ns
        whole = range(elapsed_ns // clock.NS_PER_S)
        return {
            "bytes": self._bytes_of_second.total(),
            "seconds": elapsed_ns / clock.NS_PER_S,
            "bytes_of_second": [self._bytes_of_second[second] for second in whole],
        }


def take(peer: socket.socket, write: Stage, taken: Taken) -> None:
    """Take and write every block, and say so when all are written."""
    task = Task(*_HEADER.unpack(_receive(peer, _HEADER.size)))
    taken.begin_ns = task.begin_ns
    written_ns: deque[int] = deque([taken.begin_ns] * _DEPTH, maxlen=_DEPTH)
    for size_bytes in task.blocks:
        for _ in range(task.requests):
            _receive(peer, _MESSAGE_BYTES)
            peer.sendall(bytes(_MESSAGE_BYTES))
        clock.sleep_until(written_ns[0])
        _receive(peer, size_bytes)
        written_ns.append(write.serve(size_bytes, clock.now_ns()))
        if task.sequential:
            clock.sleep_until(written_ns[-1])
            peer.sendall(b"\0")
        taken.add(size_bytes, written_ns[-1])
    clock.sleep_until(written_ns[-1])


def main(argv: list[str]) -> int:
    """Be one end of a copy. Returns its exit code: 1 where nobody was reached."""
    end, text = argv
    orders = json.loads(text)
    said = _take(orders) if end == "take" else _send(orders)
    print(json.dumps(said))  # noqa: T201 - its standard output is the raw file
    return 1 if "error" in said else 0


def _take(orders: dict[str, Any]) -> dict[str, Any]:
    with socket.create_server(("", orders["port"])) as server:
        peer, _ = server.accept()
        taken = Taken()
        # Interrupted, or the other end is: what has come has come.
        with peer, contextlib.suppress(KeyboardInterrupt, EOFError, ConnectionError):
            take(peer, Stage(orders["write_ps"]), taken)
            figures = taken.figures()
            peer.sendall(b"\0")
            return figures
    return taken.figures()


def _send(orders: dict[str, Any]) -> dict[str, Any]:
    with socket.socket() as peer:
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if orders["congestion"]:
            peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, orders["congestion"].encode())
        if orders["dscp"] is not None:
            peer.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, orders["dscp"] << 2)
        peer.bind(("", orders["client_port"]))
        try:
            peer.connect((orders["address"], orders["port"]))
        except (OSError, KeyboardInterrupt) as error:
            return {"error": f"{NO_CONNECTION}: {error}"}
        known = {**orders, "begin_ns": clock.now_ns()}
        task = Task(*(known[name] for name in Task._fields))
        finished = False
        with contextlib.suppress(KeyboardInterrupt):
            send(task, peer, Stage(orders["read_ps"]), Stage(orders["process_ps"]))
            finished = True
        info = peer.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _TCP_INFO_BYTES)
    (retransmits,) = struct.unpack_from("=I", info, _TOTAL_RETRANS_OFFSET)
    said = {"bytes": task.size_bytes, "retransmits": retransmits}
    return said if finished else {**said, "finished": False}


def _receive(peer: socket.socket, size_bytes: int) -> bytes:
    """Exactly that many bytes. Raises EOFError when the other end stops before."""
    pieces = []
    while size_bytes:
        piece = peer.recv(min(size_bytes, 1 << 20))
        if not piece:
            raise EOFError("the other end has gone")
        pieces.append(piece)
        size_bytes -= len(piece)
    return b"".join(pieces)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
